"""How much arrives from one address where no marketplace proves who it is."""

from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from core.accounts.addresses import address_of, neighbourhood
from core.rates import limits
from crowd.models import Hit

#: Per address, or /64 of IPv6: tasks opened, and bytes of drafts, within so many seconds.
WITHIN_SECONDS = 60
MOST_ARRIVALS = 60
MOST_ARRIVALS_AT_ONE_HIT = 20
MOST_SAVED = 4_000_000


def may_arrive(request: HttpRequest, hit: Hit) -> bool:
    """Whether this address may open one more task."""
    address = neighbourhood(address_of(request.META))
    in_all = _more(f"arrivals:{address}", 1) <= MOST_ARRIVALS
    return _more(f"arrivals:{address}:{hit.pk}", 1) <= MOST_ARRIVALS_AT_ONE_HIT and in_all


def may_save(request: HttpRequest) -> bool:
    """Whether this address may save one more draft."""
    length = int(request.META.get("CONTENT_LENGTH") or 0)
    return _more(f"drafts:{neighbourhood(address_of(request.META))}", length) <= MOST_SAVED


def network_of(request: HttpRequest, hit: Hit) -> str:
    """A digest of where a request comes from: equal within a HIT, never to be compared between HITs."""
    network = neighbourhood(address_of(request.META))
    return salted_hmac("crowd.arrivals", f"{hit.pk} {network}", algorithm="sha256").hexdigest()[:32]


def _more(name: str, amount: int) -> int:
    return limits().count(name, amount, within_s=WITHIN_SECONDS)
