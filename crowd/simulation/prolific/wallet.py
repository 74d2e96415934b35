"""Money of a workspace, in minor units: what studies lock, what is paid, what is left.

The balance is never kept as a number of its own: it is the deposit less the payments listed, and what is
locked follows from the studies. A payment that is listed is a payment that is made.
"""

from dataclasses import dataclass

from crowd.simulation.prolific.answers import RefusalError
from crowd.simulation.prolific.state import State, Thing

#: Who holds a place without being paid yet, and who was paid for one.
HOLDING = ("RESERVED", "ACTIVE", "AWAITING REVIEW")
SETTLED = ("APPROVED", "PARTIALLY APPROVED")
_RECRUITING = ("PUBLISHING", "ACTIVE", "PAUSED")
#: Per hour, in minor units: the least, and what is recommended.
HOURLY = {"USD": (800, 1_200), "GBP": (600, 900)}


@dataclass(frozen=True, slots=True)
class Cost:
    """An amount with the panel's fee and the tax on that."""

    amount: int
    fees: int
    vat: int

    @property
    def total(self) -> int:
        """All three."""
        return self.amount + self.fees + self.vat

    def times(self, count: int) -> "Cost":
        """The same for several."""
        return Cost(self.amount * count, self.fees * count, self.vat * count)


def cost_of(state: State, amount: int) -> Cost:
    """What a payment costs; fee and tax are rounded up for each payment."""
    fees = -(-amount * state.options.fee_percent // 100)
    return Cost(amount, fees, -(-fees * state.options.vat_percent // 100))


def count_places(state: State, study: Thing) -> tuple[int, int]:
    """How many places of a study are held, and how many are paid for."""
    counts = state.count_statuses("submission", study["id"])
    return sum(counts.get(each, 0) for each in HOLDING), sum(counts.get(each, 0) for each in SETTLED)


def locked_by(state: State, study: Thing) -> int:
    """What a study keeps from being spent: its places not yet paid, and its screen-outs.

    A rejected place is not locked any more; whoever takes it has it locked again (`studies.fund_place`).
    """
    held, settled = count_places(state, study)
    if study["status"] in _RECRUITING:
        free = max(0, study["total_available_places"] - held - settled)
        held += max(0, free - study["unfunded"])
        slots = sum(
            cost_of(state, action["fixed_screen_out_reward"]).times(action["slots"]).total
            for code in study["completion_codes"]
            for action in code["actions"]
            if action["action"] == "FIXED_SCREEN_OUT_PAYMENT"
        )
    else:
        slots = 0
    return cost_of(state, study["reward"]).times(held).total + slots


def balance_of(state: State, workspace_id: str) -> tuple[int, int]:
    """The whole balance, and what of it can be spent."""
    workspace = state.get("workspace", workspace_id)
    total = (workspace["deposit"] if workspace else 0) - state.sum_payments(workspace_id)
    locked = sum(
        locked_by(state, study)
        for study in state.find("study", parent=workspace_id)
        if study["status"] not in ("UNPUBLISHED", "SCHEDULED")
    )
    on_the_way = sum(
        each["total"] for each in state.find("bonus run", parent=workspace_id, statuses=["PENDING"])
    )
    return total, total - locked - on_the_way


def need_funds(state: State, workspace_id: str, amount: int) -> None:
    """Refuse what cannot be paid."""
    _, available = balance_of(state, workspace_id)
    if amount > available:
        raise RefusalError(
            f"There are not enough funds in this workspace: {amount} are needed, {available} are available."
        )


def pay(state: State, kind: str, submission: Thing, cost: Cost, *, bulk_id: str | None = None) -> None:
    """Make a payment; who only tests a draft gets none."""
    if submission["is_test"]:
        return
    study = state.get("study", submission["study_id"]) or {}
    state.write_payment(
        {
            "at": state.stamp(),
            "kind": kind,
            "workspace_id": study.get("workspace_id", ""),
            "study_id": submission["study_id"],
            "submission_id": submission["id"],
            "participant_id": submission["participant_id"],
            "amount": cost.amount,
            "fees": cost.fees,
            "vat": cost.vat,
            "currency": state.options.currency,
            "bulk_id": bulk_id,
        }
    )
