"""The results file, uploaded again with an x under Approve or a reason under Reject; or one x for all.

A file is read whole before anything of it is done: one line that is not right refuses all. The decisions are
then made one by one, each in a transaction of the review's own, by a job that any worker can go on with.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q

from core.accounts.actors import Actor, acting_as, actor
from core.jobs import services as jobs
from core.jobs.context import JobContext
from core.jobs.models import Job
from marketplace import clock
from marketplace.batches.placeholders import listed
from marketplace.batches.sheets import Sheet
from marketplace.errors import Refusal
from marketplace.models import Batch, Holding
from marketplace.services import review
from marketplace.sweep import settle

REVIEW = "marketplace.review-batch"
NEEDED = ("AssignmentId", "Approve", "Reject")
MAX_FEEDBACK = 1024
#: Decisions of one file, which its job carries with it.
MOST = 20_000
State = Holding.State
_WANTED = {True: State.APPROVED, False: State.REJECTED}
#: What became of a line.
OUTCOMES = {
    "approved": "Approved",
    "rejected": "Rejected",
    "already": "Already decided",
    "unknown": "Unknown",
    "refused": "Refused",
}


@dataclass(frozen=True, slots=True)
class Decision:
    """What a line of the file says about one assignment; `reason` is empty where it is approved.

    Without a file, `line` counts the assignments.
    """

    line: int
    assignment_id: str
    reason: str = ""

    @property
    def approves(self) -> bool:
        """To be approved, not rejected."""
        return not self.reason


def read(sheet: Sheet) -> tuple[list[Decision], int]:
    """Decisions of a file, and how many of its lines have none. Raises SheetError at any fault."""
    if missing := [name for name in NEEDED if name not in sheet.columns]:
        raise sheet.error(
            f"it has no column {missing[0]}; its columns are {listed(sheet.columns)}. Download the results "
            "of the batch and write into that file.",
            line=1,
        )
    places = [sheet.columns.index(name) for name in NEEDED]
    decisions: dict[str, Decision] = {}
    left = 0
    for row in sheet.rows():
        found = _decision(sheet, row.line, *(row.cells[place].strip() for place in places))
        if found is None:
            left += 1
            continue
        if (before := decisions.setdefault(found.assignment_id, found)) is not found:
            raise sheet.error(
                f"line {before.line} decides about the same assignment. Keep one of the two.",
                line=found.line,
                column="AssignmentId",
            )
        if len(decisions) > MOST:
            raise sheet.error(f"it decides about more than {MOST:,} assignments. Split it.", line=row.line)
    if not decisions:
        raise sheet.error(
            "no line has an x under Approve or a reason under Reject, so there is nothing to do."
        )
    return list(decisions.values()), left


def _decision(sheet: Sheet, line: int, assignment_id: str, approve: str, reason: str) -> Decision | None:
    if not approve and not reason:
        return None
    if not (assignment_id.isascii() and assignment_id.isalnum() and len(assignment_id) <= 64):
        raise sheet.error(
            "there is a decision and no assignment's id beside it. Take the ids as the results have them.",
            line=line,
            column="AssignmentId",
        )
    if approve and reason:
        raise sheet.error(
            "the assignment is both approved and rejected. Empty one of the two cells.",
            line=line,
            column="Reject",
        )
    if approve and approve.casefold() != "x":
        raise sheet.error(
            f"it says {approve[:40]!r}. Write x to approve, or leave it empty.", line=line, column="Approve"
        )
    if len(reason) > MAX_FEEDBACK:
        raise sheet.error(
            f"the reason has {len(reason):,} characters; workers are shown at most {MAX_FEEDBACK:,}.",
            line=line,
            column="Reject",
        )
    return Decision(line, assignment_id, reason)


def all_waiting(batch: Batch, *, seen: datetime) -> list[Decision]:
    """Approvals of what waited when somebody looked, the oldest first; at most `MOST`, for one job."""
    there = Q(submitted_at__lte=seen) & (Q(visible_at=None) | Q(visible_at__lte=seen))
    rows = Holding.objects.filter(there, hit__batch=batch, state=State.SUBMITTED)
    ids = rows.order_by("submitted_at", "pk").values_list("assignment_id", flat=True)[:MOST]
    return [Decision(number, assignment_id) for number, assignment_id in enumerate(ids, start=1)]


def start(
    *, batch: Batch, decisions: list[Decision], file_name: str, override: bool, once: str, left: int = 0
) -> Job:
    """Make these decisions by a job. With `override`, an x turns a rejection into an approval.

    `left` lines of the file have no decision; the report counts them.
    """
    who = actor()
    return jobs.enqueue(
        kind=REVIEW,
        payload={
            "batch": batch.pk,
            "file": file_name,
            "override": override,
            "left": left,
            "at": clock.now().isoformat(),
            "by": who.user.pk if who.user else None,
            "address": who.address,
            "decisions": [[each.line, each.assignment_id, each.reason] for each in decisions],
        },
        effect=f"{REVIEW}:{batch.pk}:{once}",
    )


def count_outcomes(job: Job) -> dict[str, int]:
    """Lines of the file by what became of them; they add up to all that the file has."""
    lines: list[Any] = job.result or []
    counts = {name: sum(line[2] == name for line in lines) for name in OUTCOMES}
    return counts | {"left": job.payload.get("left", 0)}


def decide_all(context: JobContext) -> None:
    """The job. Its result says of every line what became of it."""
    payload = context.payload
    since = datetime.fromisoformat(payload["at"])
    report: list[list[Any]] = []
    user = User.objects.filter(pk=payload.get("by") or 0).first()
    with acting_as(lambda: Actor(user=user, address=payload.get("address", ""))):
        for decision in _decisions(payload):
            context.progress(len(report), len(payload["decisions"]), "Deciding")
            outcome, sentence = _decide(payload["batch"], decision, override=payload["override"], since=since)
            report.append([decision.line, decision.assignment_id, outcome, sentence])
    context.commit(lambda: report)


def _decisions(payload: dict[str, Any]) -> Iterator[Decision]:
    for line, assignment_id, reason in payload["decisions"]:
        yield Decision(line, assignment_id, reason)


def _decide(batch_id: int, decision: Decision, *, override: bool, since: datetime) -> tuple[str, str]:
    """Make one decision; what became of it, and why if not what was wanted.

    After a crash the same decisions are made again: what this file has decided counts as decided by it.
    """
    holding = _find(batch_id, decision.assignment_id)
    if holding is None:
        return "unknown", "No answered assignment of this batch has this id."
    settle(hits=[holding.hit])
    now = clock.now()
    try:
        if decision.approves:
            review.approve(holding=holding, feedback=None, override=override, now=now)
            return "approved", ""
        review.reject(holding=holding, feedback=decision.reason, now=now)
        return "rejected", ""
    except Refusal as refusal:
        holding.refresh_from_db()
        if holding.state == State.SUBMITTED:
            return "refused", refusal.message
        return _as_it_was(holding, decision, since)


def _find(batch_id: int, assignment_id: str) -> Holding | None:
    found = Holding.objects.select_related("hit").filter(
        assignment_id=assignment_id, hit__batch=batch_id, state__in=Holding.ANSWERED
    )
    return found.first()


def _as_it_was(holding: Holding, decision: Decision, since: datetime) -> tuple[str, str]:
    decided_at = holding.approved_at or holding.rejected_at
    by_this_file = holding.state == _WANTED[decision.approves] and not holding.auto_approved
    if by_this_file and decided_at and decided_at >= since:
        return str(holding.state), ""
    if holding.auto_approved:
        return "already", "It was approved by itself when its time was over."
    remedy = " Tick “also turn rejections into approvals” to approve it." if decision.approves else ""
    return "already", f"It was {holding.state} before." + (remedy if holding.state == State.REJECTED else "")
