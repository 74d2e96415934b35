"""What the marketplace has and we do not know, and the reverse: read at the end of a run."""

from dataclasses import dataclass

from crowd.adapters import registry
from crowd.models import Endpoint, Hit


@dataclass(frozen=True, slots=True)
class Comparison:
    """References of listings that only the marketplace has, and of HITs that only we have."""

    only_there: list[str]
    only_here: list[str]
    open_there_closed_here: list[str]


def compare(endpoint: Endpoint) -> Comparison:
    """All listings of the account against all our HITs at this endpoint.

    Raises MarketplaceDownError where the marketplace cannot be asked.
    """
    ours = dict(
        Hit.objects.filter(stage__endpoint=endpoint)
        .exclude(external_id="")
        .values_list("external_id", "state")
    )
    there = {listing.ref: listing.state for listing in registry.adapter(endpoint).iter_listings()}
    return Comparison(
        only_there=sorted(set(there).difference(ours)),
        only_here=sorted(set(ours).difference(there)),
        open_there_closed_here=sorted(
            ref for ref, state in there.items() if state == "open" and ours.get(ref) == Hit.State.CLOSED
        ),
    )
