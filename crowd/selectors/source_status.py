"""How each source of a stage stands: its part of the work, answers, money, and what an hour pays."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import Count, F, Sum
from django.db.models.functions import Coalesce

from crowd.models import Assignment, Endpoint, LedgerEntry, Stage, StageSource
from crowd.selectors.wage import Wage, wage
from crowd.services.quotes import places_by_source
from crowd.sources import SourcePlaces, places_of, source_rows, stage_at

_Kind = LedgerEntry.Kind


@dataclass(frozen=True, slots=True)
class SourceMoney:
    """What a source has cost and what is set aside for it, in cents."""

    spent_cents: int = 0
    fee_cents: int = 0
    reserved_cents: int = 0

    @property
    def total_cents(self) -> int:
        """Spent with fees."""
        return self.spent_cents + self.fee_cents


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """A source with what became of its part; `states` counts its assignments."""

    row: StageSource
    here: Stage
    places: SourcePlaces
    money: SourceMoney
    pay: Wage
    states: dict[str, int] = field(default_factory=dict)

    @property
    def endpoint(self) -> Endpoint:
        """Where its people are."""
        return self.row.endpoint

    @property
    def is_panel(self) -> bool:
        """Whether it has a study at a panel."""
        return self.row.endpoint.is_panel

    @property
    def undecided(self) -> int:
        """Submitted work that waits for a decision."""
        return self.states.get(Assignment.State.SUBMITTED, 0)

    @property
    def at_work(self) -> int:
        """Begun, and not sent yet."""
        return self.states.get(Assignment.State.WORKING, 0)

    @property
    def share_of_answers(self) -> float | None:
        """Its answers of those that were asked of it so far; None before any."""
        asked = self.places.answers + self.places.on_offer
        return self.places.answers / asked if asked else None


def source_status(stage: Stage) -> Sequence[SourceStatus]:
    """All sources of a stage that has several, in their order; a fixed number of queries for each."""
    rows = source_rows(stage)
    if not rows:
        return ()
    places, money = places_by_source(stage), money_by_endpoint(stage)
    counts = Assignment.objects.filter(stage=stage).order_by().values_list("worker__endpoint", "state")
    states: dict[int, dict[str, int]] = {}
    for endpoint, state, count in counts.annotate(n=Count("pk")):
        states.setdefault(endpoint, {})[state] = count
    return [
        SourceStatus(
            row=row,
            here=stage_at(stage, row.endpoint),
            places=places_of(row, places),
            money=money.get(row.endpoint_id, SourceMoney()),
            pay=wage(stage_at(stage, row.endpoint)),
            states=states.get(row.endpoint_id, {}),
        )
        for row in rows
    ]


def money_by_endpoint(stage: Stage) -> dict[int, SourceMoney]:
    """The stage's ledger by endpoint: of the operation, else of the worker, else of the HIT."""
    where = Coalesce(
        "operation__endpoint", "assignment__worker__endpoint", "hit__source__endpoint", F("stage__endpoint")
    )
    rows = (
        LedgerEntry.objects.filter(stage=stage).annotate(where=where).order_by().values_list("where", "kind")
    )
    sums: dict[int, dict[str, tuple[int, int]]] = {}
    for endpoint, kind, cents, fees in rows.annotate(cents_sum=Sum("cents"), fees_sum=Sum("fee_cents")):
        sums.setdefault(endpoint, {})[kind] = (cents, fees)
    found = {}
    for endpoint, by_kind in sums.items():
        spent, fee = by_kind.get(_Kind.SPEND, (0, 0))
        reserved = sum(by_kind.get(_Kind.RESERVE, (0, 0))) - sum(by_kind.get(_Kind.RELEASE, (0, 0)))
        found[endpoint] = SourceMoney(spent, fee, reserved - spent - fee)
    return found
