"""The engine beyond one machine: OpenSearch, an index per generation and an alias to the one that answers.

NAME        alias of the generation that answers; swapped in one step
NAME-g3     documents {pk, body}: the number of a passage, and its words as `analysis` cuts them, with spaces
            between; the server cuts at spaces only, so both engines know the same words
PREFIX-locks   one document per index that is being written: see `lease`

Texts are not kept there (`_source` is off). BM25 has k1 1.2 and b 0.75. From version 3 on Lucene leaves the
constant factor k1 + 1 out of it; it is put back, so that scores of both engines are on one scale.
"""

import json
import math
import os
import random
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from core.errors import on_failure
from retrieval.engine import ScoredPassages, analysis, files
from retrieval.engine import cluster as connections
from retrieval.engine.analysis import cut
from retrieval.engine.cluster import Cluster, client_error, kind_of, no_room, status_of
from retrieval.errors import BusyError, EngineError, IndexBrokenError, NotIndexedError, RetrievalError

#: Documents and bytes in one request.
MOST_DOCUMENTS = 2_000
MOST_BYTES = 5_000_000
_FILTER = "errors,items.*.status,items.*.error.type,items.*.error.reason"
_LATER = {429, 503}


def added(passages: Iterable[tuple[int, str]]) -> Iterator[str]:
    """Passages, cut into words, as actions of the bulk interface."""
    for pk, body in passages:
        action, document = json.dumps({"index": {"_id": str(pk)}}), {"pk": pk, "body": body}
        yield f"{action}\n{json.dumps(document, ensure_ascii=False)}\n"


def deleted(ids: Iterable[int]) -> Iterator[str]:
    """Numbers to be forgotten, as actions of the bulk interface."""
    for pk in ids:
        yield f"{json.dumps({'delete': {'_id': str(pk)}})}\n"


def send(cluster: Cluster, index: str, actions: Iterable[str], before: Callable[[], None]) -> int:
    """Send all actions, in their order; how many. `before` each request it is asked whether to go on."""
    sent = 0
    for batch in _batches(actions):
        before()
        _send(cluster, index, batch)
        sent += len(batch)
    return sent


def _batches(actions: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for action in actions:
        length = len(action.encode())
        if batch and (len(batch) >= MOST_DOCUMENTS or size + length > MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(action)
        size += length
    if batch:
        yield batch


def _send(cluster: Cluster, index: str, batch: list[str]) -> None:
    """Send a batch, and again those of it that were turned away for the moment."""
    deadline, pause = time.monotonic() + connections.WRITING, connections.PAUSE
    while batch:
        answer = cluster.write(_request(index, "".join(batch)))
        refused = list(_refused(answer, batch))
        for _, status, error in refused:
            if error.get("type") == "cluster_block_exception":
                raise no_room(cluster.where, error.get("reason", ""))
            if status not in _LATER:
                raise _describe_refusal(cluster, len(refused), error)
        batch = [action for action, _, _ in refused]
        if not batch:
            return
        if time.monotonic() + pause > deadline:
            raise EngineError(
                f"OpenSearch at {cluster.where} is too busy: it still turned away {len(batch):,} passages "
                f"after {connections.WRITING:g} s. Try again later, or give it more memory."
            )
        time.sleep(pause * random.uniform(0.5, 1.5))  # so that not all ask again at once
        pause *= 2


def _request(index: str, lines: str) -> Callable[[Any], Any]:
    return lambda client: client.bulk(
        body=lines,
        index=index,
        params={"filter_path": _FILTER, "request_timeout": connections.ANSWER_WRITING},
    )


def _refused(answer: Any, batch: list[str]) -> Iterator[tuple[str, int, dict[str, str]]]:
    """Actions that were not done. To forget what is not there is done."""
    if not answer.get("errors"):
        return
    for action, item in zip(batch, islice(answer["items"], len(batch)), strict=True):
        [(verb, facts)] = item.items()
        if facts["status"] >= 300 and not (verb == "delete" and facts["status"] == 404):
            yield action, facts["status"], facts.get("error", {})


def _describe_refusal(cluster: Cluster, many: int, error: dict[str, str]) -> EngineError:
    return EngineError(
        f"OpenSearch at {cluster.where} refused {many:,} passages: {error.get('type', 'error')}, "
        f"{str(error.get('reason', ''))[:200]}. Nothing of what it had is lost; build the index again."
    )


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
    def hold(self) -> Iterator["Lease"]:
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
        deadline = time.monotonic() + files.PATIENCE
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
                    f"after {files.PATIENCE:g} s. Try again when it is done."
                )
            time.sleep(_PAUSE)

    def _created(self) -> bool:
        answer = self._cluster.write(
            _unless(409, lambda client: client.create(index=self._index, id=self._name, body=self._body()))
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
                lambda client: client.index(index=self._index, id=self._name, body=self._body(), params=mark),
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

    def _body(self) -> dict[str, str]:
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

    def call_unless(client: Any) -> Any:
        try:
            return call(client)
        except client_error() as error:
            if status_of(error) == status:
                return None
            raise

    return call_unless


def _create_index(index: str) -> Any:
    """A call that makes the index of leases unless it is there."""

    def create_missing(client: Any) -> Any:
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

    return create_missing


#: BM25's k1; see above.
K1 = 1.2
#: The heaviest words of a query that are sent (OpenSearch refuses 1,024 clauses), and the most answers.
MOST_CLAUSES = 1_000
MOST_ANSWERS = 10_000
_FIRST_WITHOUT_FACTOR = 3
_FOUND = "hits.hits._id,hits.hits._score,hits.hits._index"


@dataclass(frozen=True)
class _Facts:
    """What a generation was made by, as its mapping keeps it."""

    chain: str
    scale: float


class OpenSearchEngine:
    """The index of one corpus; objects are cheap, the connection is shared by the process."""

    def __init__(
        self,
        connection: Cluster,
        name: str,
        language: str,
        *,
        what: str = "this index",
        locks: str = "distillery-locks",
        shards: int = 1,
    ) -> None:
        """`name`: of the alias, in small letters; `locks`: index of the leases of all writers."""
        self._cluster, self._name, self._language, self._what = connection, name, language, what
        self._locks, self._shards = locks, shards

    # Reading

    def terms(self, text: str) -> list[str]:
        """Words of a query as the index knows them, each once, in their order."""
        return analysis.terms(text, self._language)

    def search(self, weights: Mapping[str, float], k: int) -> ScoredPassages:
        """Best passages for weighted terms, by falling score, then number."""
        clauses = [
            {"term": {"body": {"value": term, "boost": weight}}}
            for term, weight in sorted(weights.items(), key=lambda item: -item[1])
            if math.isfinite(weight) and weight > 0
        ]
        if not clauses or k < 1:
            self._current()
            return ScoredPassages((), ())
        body = {
            "query": {"bool": {"should": clauses[:MOST_CLAUSES], "minimum_should_match": 1}},
            "sort": [{"_score": "desc"}, {"pk": "asc"}],
            "size": min(k, MOST_ANSWERS),
            "track_total_hits": False,
            "_source": False,
        }
        answer = self._cluster.read(
            lambda client: client.search(
                index=self._name,
                body=body,
                params={
                    "search_type": "dfs_query_then_fetch",
                    "allow_partial_search_results": "false",
                    "filter_path": _FOUND,
                    "request_timeout": connections.ANSWER_READING,
                },
            )
        )
        hits = answer.get("hits", {}).get("hits", [])
        scale = self._facts(hits[0]["_index"]).scale if hits else 1.0
        return ScoredPassages(
            [int(hit["_id"]) for hit in hits], [float(hit["_score"]) * scale for hit in hits]
        )

    def count(self) -> int:
        """How many passages it holds."""
        self._current()
        return int(self._cluster.read(lambda client: client.count(index=self._name))["count"])

    def highest(self) -> int:
        """Highest number that it holds, 0 for none."""
        self._current()
        body = {"size": 0, "track_total_hits": False, "aggs": {"highest": {"max": {"field": "pk"}}}}
        answer = self._cluster.read(lambda client: client.search(index=self._name, body=body))
        return int(answer["aggregations"]["highest"]["value"] or 0)

    def generation(self) -> int:
        """How often it was built again; 0 where it never was."""
        try:
            return _number(self._present())
        except NotIndexedError:
            return 0

    # Writing

    def index(self, passages: Iterable[tuple[int, str]]) -> int:
        """Add passages in rising order of number; the first ones make the first generation."""
        with self._writing() as lease:
            return self._write(self._current_or_first(), passages, lease)

    def rebuild(self, passages: Iterable[tuple[int, str]]) -> int:
        """Make a generation of these alone beside the present one, and swap it in when it is complete."""
        with self._writing() as lease:
            others = self._generations()
            try:
                now = self._present()
            except (NotIndexedError, IndexBrokenError):
                now = ""
            for left_behind in set(others) - {now}:
                self._remove(left_behind)
            fresh = f"{self._name}-g{max(map(_number, others), default=0) + 1}"

            def remove_fresh(error: BaseException) -> None:
                with suppress(RetrievalError):
                    self._remove(fresh)

            with on_failure(remove_fresh):
                self._create(fresh)
                written = self._write(fresh, passages, lease)
                lease.check()
                self._swap(now, fresh)
            if now:
                self._remove(now)
            return written

    def delete(self, ids: Sequence[int]) -> None:
        """Forget passages; unknown numbers are no error."""
        with self._writing() as lease:
            index = self._current()
            send(self._cluster, index, deleted(ids), lease.check)
            self._refresh(index)

    def drop(self) -> None:
        """Remove all generations."""
        if not self._generations():
            return
        with self._writing():
            for index in self._generations():
                self._remove(index)

    # Inside

    def _writing(self) -> AbstractContextManager[Lease]:
        return Lease(self._cluster, self._locks, self._name, self._what).hold()

    def _write(self, index: str, passages: Iterable[tuple[int, str]], lease: Lease) -> int:
        written = send(self._cluster, index, added(cut(passages, self._language)), lease.check)
        self._refresh(index)
        return written

    def _refresh(self, index: str) -> None:
        """Let searches see what was written."""
        self._cluster.write(lambda client: client.indices.refresh(index=index))

    def _present(self) -> str:
        """Index that the alias stands for. NotIndexedError where there is none."""
        answer = self._cluster.read(lambda client: client.indices.get_mapping(index=self._name))
        if len(answer) != 1 or self._name in answer:
            raise IndexBrokenError(
                f"{self._name!r} at {self._cluster.where} is no alias of one index, so it was not made by "
                "Distillery alone. Delete it there and run manage.py index build."
            )
        [(index, facts)] = answer.items()
        self._note(index, facts)
        return str(index)

    def _current(self) -> str:
        """The same, if it was made by today's rules for words."""
        index = self._present()
        self._facts(index)
        return index

    def _facts(self, index: str) -> _Facts:
        if index not in self._cluster.known:
            answer = self._cluster.read(lambda client: client.indices.get_mapping(index=index))
            self._note(index, answer[index])
        facts: _Facts = self._cluster.known[index]
        if facts.chain != analysis.chain_name(self._language):
            raise IndexBrokenError(
                f"{self._what} has words by other rules ({facts.chain}). Run manage.py index build."
            )
        return facts

    def _note(self, index: str, answer: Any) -> None:
        meta = answer.get("mappings", {}).get("_meta", {})
        self._cluster.known[index] = _Facts(str(meta.get("chain", "unknown")), float(meta.get("scale", 1.0)))

    def _current_or_first(self) -> str:
        try:
            return self._current()
        except NotIndexedError:
            index = f"{self._name}-g{max(map(_number, self._generations()), default=0) + 1}"
            self._create(index, alias=True)
            return index

    def _create(self, index: str, *, alias: bool = False) -> None:
        version = str(self._cluster.read(lambda client: client.info())["version"]["number"])
        scale = K1 + 1 if int(version.partition(".")[0]) >= _FIRST_WITHOUT_FACTOR else 1.0
        body = mapping(self._shards, analysis.chain_name(self._language), scale)
        if alias:
            body["aliases"] = {self._name: {}}
        self._cluster.known.pop(index, None)
        try:
            self._cluster.write(lambda client: client.indices.create(index=index, body=body))
        except EngineError as error:
            # Asked twice as the first answer was lost: we alone may make it, so it is ours.
            if kind_of(error.__cause__) != "resource_already_exists_exception":
                raise

    def _swap(self, now: str, fresh: str) -> None:
        actions: list[dict[str, Any]] = [{"add": {"index": fresh, "alias": self._name}}]
        if now:
            actions.insert(0, {"remove": {"index": now, "alias": self._name}})
        try:
            self._cluster.write(lambda client: client.indices.update_aliases(body={"actions": actions}))
        except RetrievalError:
            if self._present() != fresh:  # asked twice, as above
                raise

    def _generations(self) -> list[str]:
        answer = self._cluster.read(lambda client: client.indices.get_alias(index=f"{self._name}-g*"))
        return [index for index in answer if _number(index)]

    def _remove(self, index: str) -> None:
        self._cluster.write(
            lambda client: client.indices.delete(index=index, params={"ignore_unavailable": "true"})
        )
        self._cluster.known.pop(index, None)


def mapping(shards: int, chain: str, scale: float) -> dict[str, Any]:
    """How a generation keeps passages: settings and mapping, as the create-index interface takes them."""
    return {
        "settings": {
            "index": {
                "number_of_shards": shards,
                "auto_expand_replicas": "0-1",
                "similarity": {"default": {"type": "BM25", "k1": K1, "b": 0.75}},
            }
        },
        "mappings": {
            "dynamic": "strict",
            "_source": {"enabled": False},
            "_meta": {"chain": chain, "scale": scale},
            "properties": {
                "pk": {"type": "long"},
                "body": {"type": "text", "analyzer": "whitespace", "index_options": "freqs"},
            },
        },
    }


def _number(index: str) -> int:
    """Generation of an index by its name; 0 where it has none."""
    number = index.rpartition("-g")[2]
    return int(number) if number.isdigit() else 0
