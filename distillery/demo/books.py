"""The books of a study over several sources: our ledger beside what each other side says; money in cents."""

from dataclasses import dataclass

from distillery.demo.publication import ReleaseSummary


@dataclass(frozen=True)
class SourceBooks:
    """What one source was asked for, paid and charged: by our ledger, and by the other side; in cents.

    A study link has no other side that plans or charges; what was paid follows there from the list of its
    people, for as many tasks as each has finished.
    """

    source: str
    people: int
    answers: int
    planned_cents: int
    their_planned_cents: int | None
    paid_cents: int
    their_paid_cents: int
    fee_cents: int
    their_fee_cents: int | None

    @property
    def agree(self) -> bool:
        """Both sides say the same, to the cent."""
        pairs = (
            (self.planned_cents, self.their_planned_cents),
            (self.paid_cents, self.their_paid_cents),
            (self.fee_cents, self.their_fee_cents),
        )
        return all(theirs in (None, ours) for ours, theirs in pairs)


@dataclass(frozen=True)
class SourcesSummary:
    """The study over three sources, with the address of its link, which stays open."""

    project: str
    stages: list[str]
    answers: int
    judgments: int
    books: list[SourceBooks]
    agree: bool
    release: ReleaseSummary
    link: str
    link_page: str
    wall_seconds: float

    @property
    def paid_here(self) -> tuple[int, int]:
        """Rewards and fees of this marketplace."""
        here = self.books[0]
        return here.paid_cents, here.fee_cents
