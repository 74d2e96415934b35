"""Locks of rows; `marketplace.lifecycle.holds` says in which order they are taken."""

from marketplace.models import Worker


def lock_worker(pk: int) -> Worker:
    """The worker as they are now, locked until the transaction ends."""
    return Worker.objects.select_for_update(no_key=True).get(pk=pk)
