"""By what workers of this marketplace may be known elsewhere: their address, and where they are paid."""

from collections import defaultdict
from collections.abc import Collection

from marketplace.models import PayeeDetails, Worker
from marketplace.services.payees import opened
from people.identities import MarkKind, Marks, mark_of_email


def marks_of_workers(worker_ids: Collection[str]) -> Marks:
    """Digests of confirmed addresses and of accounts for payments that are in effect."""
    found = defaultdict(set)
    workers = Worker.objects.filter(worker_id__in=worker_ids)
    for worker_id, own, confirmed in workers.values_list("worker_id", "user__email", "contact__email"):
        for address in filter(None, (own, confirmed)):
            found[worker_id].add(mark_of_email(address))
    rows = PayeeDetails.objects.filter(worker__worker_id__in=worker_ids).exclude(method="")
    for worker_id, digest, details in rows.values_list("worker__worker_id", "digest", "details_sealed"):
        if digest:
            found[worker_id].add((MarkKind.PAYEE, digest))
        if email := (opened(details) or {}).get("email"):
            found[worker_id].add(mark_of_email(email))
    return found
