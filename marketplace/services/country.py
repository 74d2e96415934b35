"""The country that a worker states: once at sign-up, then changed seldom, with a reason, and written down."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from core.accounts import security
from marketplace import clock
from marketplace.errors import Refusal
from marketplace.models import CountryChange, Worker
from marketplace.services.holds import lock_worker


def place_of(worker: Worker) -> str:
    """As a Locale requirement names it: `US-PA`, `DE`, or nothing."""
    return "-".join(filter(None, (worker.country, worker.subdivision)))


def next_change_at(worker: Worker) -> datetime | None:
    """When the worker may state another country again; None: now."""
    last = CountryChange.objects.filter(worker=worker).order_by("-at").first()
    if last is None:
        return None
    at = last.at + timedelta(days=settings.MARKETPLACE_COUNTRY_DAYS)
    return at if at > clock.now() else None


@transaction.atomic
def change_country(*, worker: Worker, country: str, subdivision: str, reason: str) -> CountryChange:
    """State another country; staff see what it was and why. Raises Refusal with a sentence for the worker."""
    worker = lock_worker(worker.pk)
    before, after = place_of(worker), "-".join(filter(None, (country, subdivision)))
    if after == before:
        raise Refusal("SameCountry", "This is what you have stated already.")
    if at := next_change_at(worker):
        raise Refusal("TooSoon", f"You can state another country again on {at:%-d %b %Y}.")
    reason = " ".join(reason.split())
    if not 0 < len(reason) <= 300:
        raise Refusal("InvalidParameterValue", "Say why in at most 300 characters.")
    Worker.objects.filter(pk=worker.pk).update(country=country, subdivision=subdivision)
    security.log("country.changed", worker=worker.worker_id, before=before, after=after)
    return CountryChange.objects.create(
        worker=worker, before=before, after=after, reason=reason, at=clock.now()
    )
