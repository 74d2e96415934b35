"""What the marketplace has to tell the people who run it, as rules of notices."""

from collections.abc import Iterator
from datetime import datetime

from django.urls import reverse

from core.notices.conditions import Condition
from core.notices.models import Notice
from marketplace.services import formerids

#: Notices of one look; a flood of claims is one matter.
_MOST = 100


def contested_former_ids(now: datetime) -> Iterator[Condition]:
    """MTurk ids that several workers state, until staff decide whose each is."""
    for row in formerids.unsettled(_MOST):
        yield Condition(
            None,
            "former_id",
            f"former_id:{row.former_id}",
            Notice.Level.WARNING,
            f"The MTurk id {row.former_id} is stated by {row.people} workers: decide whose it is"
            + ("." if row.kept_by else f", with `marketplace former-ids settle {row.former_id} WORKER`."),
            reverse("requester:former_id_conflicts", args=[row.kept_by]) if row.kept_by else "",
        )
