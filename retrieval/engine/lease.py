"""One writer at a time over many machines: a document that its holder renews while it writes.

The holder renews it every few seconds. Who waits watches its sequence number: when that stands still for
`LEASE` seconds the holder is dead, and whoever names that very number takes over (`if_seq_no`, so only one
can). No clocks of two machines are compared.
"""

import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from retrieval.engine import lock
from retrieval.engine.cluster import Cluster, client_error, kind_of, status_of
from retrieval.errors import BusyError, EngineError, NotIndexedError

#: After how many seconds without a sign the holder counts as dead.
LEASE = 30.0
_BEATS = 5
_PAUSE = 0.2


class Lease:
    """The right to write one index. `check` before each write: somebody else may have taken over."""

    def __init__(self, cluster: Cluster, index: str, name: str, what: str) -> None:
        self._cluster, self._index, self._name, self._what = cluster, index, name, what
        self._token = secrets.token_hex(8)
        self._mark: dict[str, int] = {}
        self._lost = False
        self._done = threading.Event()

    @contextmanager
    def held(self) -> Iterator["Lease"]:
        """Hold it, waiting for `lock.PATIENCE` seconds at most; BusyError after that."""
        self._take()
        beating = threading.Thread(target=self._beat, name=f"lease of {self._name}", daemon=True)
        beating.start()
        try:
            yield self
        finally:
            self._done.set()
            beating.join()
            self._let_go()

    def check(self) -> None:
        """BusyError where it is not ours any more."""
        if self._lost:
            raise BusyError(f"Another process took over writing {self._what}. Try again when it is done.")

    def _take(self) -> None:
        self._cluster.write(_create_index(self._index))
        deadline = time.monotonic() + lock.PATIENCE
        seen, since = -1, time.monotonic()
        while not self._created():
            holder = self._holder()
            if holder is None:
                continue
            if self._is_ours(holder):
                return
            now = time.monotonic()
            if holder["_seq_no"] != seen:
                seen, since = holder["_seq_no"], now
            elif now - since >= LEASE and self._renewed(_mark(holder)):
                return
            if now >= deadline:
                raise BusyError(
                    f"Another process ({holder['_source']['owner']}) writes {self._what}, and still did "
                    f"after {lock.PATIENCE:g} s. Try again when it is done."
                )
            time.sleep(_PAUSE)

    def _created(self) -> bool:
        answer = self._cluster.write(
            _unless(409, lambda client: client.create(index=self._index, id=self._name, body=self._said()))
        )
        if answer is not None:
            self._mark = _mark(answer)
        return answer is not None

    def _holder(self) -> Any:  # JSON; None where it has just let go
        return self._cluster.read(_unless(404, lambda client: client.get(index=self._index, id=self._name)))

    def _renewed(self, mark: dict[str, int]) -> bool:
        answer = self._cluster.read(
            _unless(
                409,
                lambda client: client.index(index=self._index, id=self._name, body=self._said(), params=mark),
            )
        )
        if answer is not None:
            self._mark = _mark(answer)
        return answer is not None

    def _is_ours(self, holder: Any) -> bool:
        """Whether it is ours after all: an answer was lost, and what was then asked twice was refused."""
        if holder is None or holder["_source"].get("token") != self._token:
            return False
        self._mark = _mark(holder)
        return True

    def _said(self) -> dict[str, str]:
        return {"owner": f"number {os.getpid()} on {socket.gethostname()}", "token": self._token}

    def _beat(self) -> None:
        while not self._done.wait(LEASE / _BEATS):
            try:
                if not self._renewed(self._mark) and not self._is_ours(self._holder()):
                    self._lost = True
                    return
            except (EngineError, NotIndexedError):
                continue  # the next beat may come through; if none does, somebody takes over and we see it

    def _let_go(self) -> None:
        """Delete the document if it is still ours; a server that is gone lets it lapse."""
        try:
            self._cluster.read(
                _unless(
                    409,
                    lambda client: client.delete(index=self._index, id=self._name, params=self._mark),
                )
            )
        except (EngineError, NotIndexedError):
            return


def _mark(answer: Any) -> dict[str, int]:
    return {"if_seq_no": answer["_seq_no"], "if_primary_term": answer["_primary_term"]}


def _unless(status: int, call: Any) -> Any:
    """A call that gives None where the answer has this status."""

    def asked(client: Any) -> Any:
        try:
            return call(client)
        except client_error() as error:
            if status_of(error) == status:
                return None
            raise

    return asked


def _create_index(index: str) -> Any:
    """A call that makes the index of leases unless it is there."""

    def asked(client: Any) -> Any:
        if client.indices.exists(index=index):
            return None
        settings = {"number_of_shards": 1, "auto_expand_replicas": "0-1"}
        try:
            return client.indices.create(
                index=index,
                body={
                    "settings": {"index": settings},
                    "mappings": {"properties": {name: {"type": "keyword"} for name in ("owner", "token")}},
                },
            )
        except client_error() as error:
            if kind_of(error) == "resource_already_exists_exception":
                return None
            raise

    return asked
