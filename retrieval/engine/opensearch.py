"""The engine beyond one machine: OpenSearch, an index per generation and an alias to the one that answers.

NAME        alias of the generation that answers; swapped in one step
NAME-g3     documents {pk, body}: the number of a passage, and its words as `analysis` cuts them, with spaces
            between; the server cuts at spaces only, so both engines know the same words
PREFIX-locks   one document per index that is being written: see `lease`

Texts are not kept there (`_source` is off). BM25 has k1 1.2 and b 0.75. From version 3 on Lucene leaves the
constant factor k1 + 1 out of it; it is put back, so that scores of both engines are on one scale.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Any

from core.failures import on_failure
from retrieval.engine import analysis, bulk, cluster
from retrieval.engine.base import ScoredPassage
from retrieval.engine.cluster import Cluster, kind_of
from retrieval.engine.lease import Lease
from retrieval.engine.tokenisation import cut
from retrieval.errors import EngineError, IndexBrokenError, NotIndexedError, RetrievalError

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

    def search(self, weights: Mapping[str, float], k: int) -> list[ScoredPassage]:
        """Best passages for weighted terms, by falling score, then number."""
        clauses = [
            {"term": {"body": {"value": term, "boost": weight}}}
            for term, weight in sorted(weights.items(), key=lambda item: -item[1])
            if math.isfinite(weight) and weight > 0
        ]
        if not clauses or k < 1:
            self._current()
            return []
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
                    "request_timeout": cluster.ANSWER_READING,
                },
            )
        )
        hits = answer.get("hits", {}).get("hits", [])
        scale = self._facts(hits[0]["_index"]).scale if hits else 1.0
        return [ScoredPassage(int(hit["_id"]), float(hit["_score"]) * scale) for hit in hits]

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
            bulk.send(self._cluster, index, bulk.deleted(ids), lease.check)
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
        return Lease(self._cluster, self._locks, self._name, self._what).held()

    def _write(self, index: str, passages: Iterable[tuple[int, str]], lease: Lease) -> int:
        written = bulk.send(self._cluster, index, bulk.added(cut(passages, self._language)), lease.check)
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
