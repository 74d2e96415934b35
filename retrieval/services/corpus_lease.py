"""One host at a time changes a corpus: a lease in its row, beside the lock that holds within a host."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import uuid4

from django.db import transaction
from django.db.models import Q
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now

from core.jobs.heartbeats import heartbeats
from core.storage.hosts import host_id
from core.storage.store import shared_store
from retrieval.engine import lock
from retrieval.errors import BusyError
from retrieval.models import Corpus

#: After so many seconds without a sign the other host counts as dead.
LEASE = timedelta(seconds=30)
_PAUSE = 0.2


class CorpusLease:
    """The right of this process to change a corpus. Where nothing is shared, the lock alone is enough."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._token = f"{host_id()}:{uuid4().hex}" if shared_store().is_shared else ""

    def check(self) -> None:
        """BusyError where another host took over; else none can until the transaction around this ends."""
        if self._token and not self.renew():
            raise BusyError(f"Another host took over work on the corpus {self._corpus.slug!r}. Try again.")

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """A transaction that changes nothing once another host took over."""
        if not self._token:
            yield
            return
        with transaction.atomic():
            self.check()
            yield

    def is_ours(self) -> bool:
        """Whether no other host took over."""
        return not self._token or self.renew()

    def renew(self) -> bool:
        """Keep it for longer; False where it is lost."""
        mine = Corpus.objects.filter(pk=self._corpus.pk, held_by=self._token)
        return bool(mine.update(held_until=_until()))

    def take(self) -> None:
        """Wait for `lock.PATIENCE` seconds at most; BusyError after that.

        What this host itself held is free: it has the lock, so the process that held it is gone.
        """
        deadline = time.monotonic() + lock.PATIENCE
        free = Q(held_by="") | Q(held_until__lt=Now()) | Q(held_by__startswith=f"{host_id()}:")
        rows = Corpus.objects.filter(pk=self._corpus.pk)
        while not rows.filter(free).update(held_by=self._token, held_until=_until()):
            if not rows.exists():
                return
            if time.monotonic() >= deadline:
                raise BusyError(
                    f"Another host works on the corpus {self._corpus.slug!r}, and still did after "
                    f"{lock.PATIENCE:g} s. Try again when it is done."
                )
            time.sleep(_PAUSE)

    @contextmanager
    def held(self) -> Iterator["CorpusLease"]:
        """Hold it while the block runs."""
        if not self._token:
            yield self
            return
        self.take()
        try:
            with heartbeats(
                self.renew,
                every=lambda: LEASE.total_seconds() / 5,
                name=f"lease of {self._corpus}",
                after=lambda ended: None,
            ):
                yield self
        finally:
            mine = Corpus.objects.filter(pk=self._corpus.pk, held_by=self._token)
            mine.update(held_by="", held_until=None)


def _until() -> CombinedExpression:
    return Now() + LEASE
