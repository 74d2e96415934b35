"""Receipts of closed accounts: by one, whoever was the worker can prove it when money is still to be paid."""

from django.core import signing

from marketplace.models import Worker

_signer = signing.Signer(salt="marketplace.closed-account", sep=".")


def receipt(worker_id: str) -> str:
    """What the person is given when they close the account; only this installation can make it."""
    return _signer.sign(worker_id)


def worker_of(shown: str) -> Worker | None:
    """The closed account that a receipt belongs to; None for what is no receipt of ours."""
    try:
        worker_id = _signer.unsign(shown.strip())
    except signing.BadSignature:
        return None
    return Worker.objects.filter(worker_id=worker_id, closed_at__isnull=False).first()
