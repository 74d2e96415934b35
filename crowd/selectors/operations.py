"""Operations, outages and balances of endpoints, and how our books compare with the marketplace's."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, QuerySet
from django.db.models.functions import Now

from crowd.adapters import registry
from crowd.models import Endpoint, EndpointRound, Hit, MarketOperation, Stage
from crowd.sources import hits_at

# Endpoints that do not answer as they should.


def list_outages() -> "QuerySet[EndpointRound, Any]":
    """Rounds of endpoints that are down, the longest outage first; `span` is how long each has lasted."""
    down = EndpointRound.objects.exclude(down_since=None).select_related("endpoint")
    return down.annotate(span=Now() - F("down_since")).order_by("down_since")


# What the marketplace has and we do not know, and the reverse: read at the end of a run.


@dataclass(frozen=True, slots=True)
class Comparison:
    """References of listings that only the marketplace has, and of HITs that only we have."""

    only_there: list[str]
    only_here: list[str]
    open_there_closed_here: list[str]


def compare_books(endpoint: Endpoint) -> Comparison:
    """All listings of the account against all our HITs at this endpoint.

    Raises MarketplaceDownError where the marketplace cannot be asked.
    """
    ours = dict(
        Hit.objects.filter(hits_at(endpoint)).exclude(external_id="").values_list("external_id", "state")
    )
    listing_states = {listing.ref: listing.state for listing in registry.adapter(endpoint).iter_listings()}
    return Comparison(
        only_there=sorted(set(listing_states).difference(ours)),
        only_here=sorted(set(ours).difference(listing_states)),
        open_there_closed_here=sorted(
            ref
            for ref, state in listing_states.items()
            if state == "open" and ours.get(ref) == Hit.State.CLOSED
        ),
    )


State = MarketOperation.State


def operations_for_people(stage: Stage | None = None) -> QuerySet[MarketOperation]:
    """Operations that a person must decide about: nobody answered, and the list does not tell."""
    operations = MarketOperation.objects.filter(needs_person=True, state=State.UNKNOWN).select_related(
        "stage__project", "endpoint", "hit", "assignment__worker"
    )
    return (operations.filter(stage=stage) if stage else operations).order_by("planned_at", "pk")


def recent_operations(stage: Stage) -> QuerySet[MarketOperation]:
    """The stage's operations, newest first."""
    return (
        MarketOperation.objects.filter(stage=stage)
        .select_related("hit", "assignment__worker")
        .order_by("-planned_at", "-pk")
    )


def count_waiting_operations(stage: Stage) -> int:
    """How many operations are not finished."""
    return MarketOperation.objects.filter(stage=stage).exclude(state__in=MarketOperation.FINAL).count()


@dataclass(frozen=True, slots=True)
class KnownBalance:
    """A balance and when it was told; `held_cents` where the panel says how much is locked."""

    available_cents: int
    held_cents: int | None
    at: datetime


def latest_balance(endpoint: Endpoint) -> KnownBalance | None:
    """The balance that was read last; None where none was."""
    if endpoint.balance_at is None or endpoint.balance_cents is None:
        return None
    return KnownBalance(endpoint.balance_cents, endpoint.balance_held_cents, endpoint.balance_at)
