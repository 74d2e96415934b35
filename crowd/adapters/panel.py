"""What all panels have in common: HITs on offer here, and answers that count once their people came back."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import ClassVar

from crowd.adapters.base import PanelRow, Submission
from crowd.adapters.link import LinkAdapter
from crowd.models import Assignment, PanelSubmission

#: The words for a submission, in which all panels are kept, and what they are to us.
SUBMITTED = {
    "AWAITING REVIEW": "submitted",
    "APPROVED": "approved",
    "PARTIALLY APPROVED": "approved",
    "REJECTED": "rejected",
}


class PanelAdapter(LinkAdapter):
    """A far side that sends people, of whose submissions `PanelSubmission` is the mirror."""

    #: Parameters of the address that name the person, the study and the submission.
    parameters: ClassVar[tuple[str, str, str]]
    #: Where people go on with a code; empty where only the panel's own pages know.
    site: ClassVar[str] = ""
    #: Work that nobody reviewed is paid by itself after so long.
    paid_after: ClassVar[timedelta] = timedelta(days=21)

    def vouch(self, ref: str, participant: str) -> PanelRow | None:
        """Who is at work is listed."""
        return None

    # Submissions

    def iter_submissions(self, ref: str, states: Sequence[str] = ()) -> Iterator[Submission]:
        """Answers of a HIT that came back to the panel with a code."""
        rows = list(self._answered().filter(hit__external_id=ref).order_by("stored_at", "pk"))
        yield from self._known(rows, states)

    def get_submission(self, ref: str) -> Submission | None:
        """One answer that came back with a code."""
        rows = list(self._answered().filter(external_id=ref))
        return next(self._known(rows, ()), None)

    def _known(self, rows: Sequence[Assignment], states: Sequence[str]) -> Iterator[Submission]:
        there = {
            row.external_id: row
            for row in PanelSubmission.objects.filter(
                study__endpoint=self._pk, external_id__in=[row.external_id for row in rows]
            )
        }
        for row in rows:
            said = there.get(row.external_id)
            state = SUBMITTED.get(said.status) if said else None
            unknown = state == "approved" and said and said.status != "APPROVED" and row.paid_cents is None
            if said is None or state is None or unknown or (states and state not in states):
                continue
            assert row.stored_at is not None
            submitted_at = said.completed_at or said.seen_at
            yield Submission(
                ref=row.external_id,
                listing=row.hit.external_id,
                worker=row.worker.external_id,
                state=state,  # type: ignore[arg-type]  # one of the three
                accepted_at=said.started_at or row.arrived_at,
                submitted_at=submitted_at,
                auto_approve_at=submitted_at + self.paid_after,
                decided_at=None if state == "submitted" else said.seen_at,
                answer={"receipt": str(row.receipt)},
            )
