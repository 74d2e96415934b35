"""Makes the rules known when Django starts."""

from core.notices.conditions import Rule, add_rule
from crowd.watch import halted_marketplaces, money, offers, standstill


def everything() -> None:
    """All rules of this app."""
    add_rule(Rule("halted", halted_marketplaces.halted, kinds=("halted",)))
    add_rule(Rule("budget", money.low_or_reached, kinds=("budget_low", "budget_reached")))
    add_rule(Rule("expiring", offers.expiring, kinds=("expiring",)))
    add_rule(Rule("auto_approval", offers.auto_approval, kinds=("auto_approval",)))
    add_rule(Rule("stuck", standstill.stuck, kinds=("stuck",)))
    add_rule(Rule("undecided", standstill.undecided, kinds=("undecided",)))
    add_rule(Rule("finished", standstill.finished, kinds=("finished",)))
