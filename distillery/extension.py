"""What the installation itself adds to apps."""

from core.extensions import Extension
from core.notices.conditions import Rule
from core.projects.services import EventActions
from distillery.watch import ledger_faults

EXTENSION = Extension(
    Rule("ledger_audit", ledger_faults, kinds=("ledger_audit",)),
    EventActions({"demo.made": "made this campaign for the demonstration"}),
)
