"""Indexes, aliases, documents and BM25, as OpenSearch has them. What it does not know it refuses."""

import fnmatch
import itertools
import math
import re
from collections import Counter
from dataclasses import dataclass, field


class RefusedError(Exception):
    """An error answer: HTTP status, OpenSearch's name for it, and words."""

    def __init__(self, status: int, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.status, self.kind, self.reason = status, kind, reason

    def body(self) -> dict:
        cause = {"type": self.kind, "reason": self.reason}
        return {"error": {"root_cause": [cause], **cause}, "status": self.status}


@dataclass
class Kept:
    source: dict
    seq_no: int
    version: int = 1


@dataclass
class StoredIndex:
    """One index: what is written, and what a refresh has shown to searches so far."""

    settings: dict = field(default_factory=dict)
    mappings: dict = field(default_factory=dict)
    written: dict[str, Kept] = field(default_factory=dict)
    shown: dict[str, dict] = field(default_factory=dict)
    seq_no: itertools.count = field(default_factory=itertools.count)
    blocked: bool = False

    def keep(self, key: str, source: dict) -> Kept:
        before = self.written.get(key)
        self.written[key] = kept = Kept(source, next(self.seq_no), before.version + 1 if before else 1)
        return kept

    def forget(self, key: str) -> Kept | None:
        next(self.seq_no)
        return self.written.pop(key, None)

    def refresh(self) -> None:
        self.shown = {key: kept.source for key, kept in self.written.items()}

    @property
    def source_kept(self) -> bool:
        return self.mappings.get("_source", {}).get("enabled", True)


_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]*")
_INDEX_SETTINGS = {"number_of_shards", "auto_expand_replicas", "similarity"}
_TYPES = {"long", "text", "keyword"}


class Store:
    """All indexes and aliases of a server of this version."""

    def __init__(self, version: str) -> None:
        self.version = version
        self.indexes: dict[str, StoredIndex] = {}
        self.aliases: dict[str, set[str]] = {}

    def resolve(self, target: str) -> list[str]:
        """Names of the indexes that a name, an alias or a pattern stands for."""
        if "*" in target:
            return sorted(name for name in self.indexes if fnmatch.fnmatch(name, target))
        if target in self.indexes:
            return [target]
        if target in self.aliases:
            return sorted(self.aliases[target])
        raise RefusedError(404, "index_not_found_exception", f"no such index [{target}]")

    def create(self, name: str, body: dict) -> None:
        if not _NAME.fullmatch(name):
            raise RefusedError(400, "invalid_index_name_exception", f"Invalid index name [{name}]")
        if name in self.indexes:
            raise RefusedError(400, "resource_already_exists_exception", f"index [{name}] already exists")
        only(body, {"settings", "mappings", "aliases"})
        only(body.get("settings", {}), {"index"})
        only(body.get("settings", {}).get("index", {}), _INDEX_SETTINGS)
        mappings = body.get("mappings", {})
        only(mappings, {"dynamic", "_source", "_meta", "properties"})
        for facts in mappings.get("properties", {}).values():
            only(facts, {"type", "analyzer", "index_options"})
            if facts["type"] not in _TYPES:
                raise RefusedError(400, "mapper_parsing_exception", f"No handler for type [{facts['type']}]")
        self.indexes[name] = StoredIndex(body.get("settings", {}).get("index", {}), mappings)
        for alias in body.get("aliases", {}):
            self.aliases.setdefault(alias, set()).add(name)

    def delete(self, target: str, *, ignore_unavailable: bool) -> None:
        if target in self.aliases:
            raise RefusedError(400, "illegal_argument_exception", f"[{target}] is an alias")
        try:
            names = self.resolve(target)
        except RefusedError:
            if ignore_unavailable:
                return
            raise
        for name in names:
            del self.indexes[name]
            self.aliases = {alias: left for alias, held in self.aliases.items() if (left := held - {name})}

    def update_aliases(self, actions: list[dict]) -> None:
        """All or nothing."""
        made = {alias: set(names) for alias, names in self.aliases.items()}
        for action in actions:
            [(verb, facts)] = action.items()
            index, alias = facts["index"], facts["alias"]
            if index not in self.indexes:
                raise RefusedError(404, "index_not_found_exception", f"no such index [{index}]")
            if alias in self.indexes:
                raise RefusedError(400, "invalid_alias_name_exception", f"an index [{alias}] exists")
            if verb == "add":
                made.setdefault(alias, set()).add(index)
            elif verb == "remove" and index in made.get(alias, ()):
                made[alias].discard(index)
            else:
                raise RefusedError(404, "aliases_not_found_exception", f"aliases [{alias}] missing")
        self.aliases = {alias: names for alias, names in made.items() if names}

    def check(self, index: StoredIndex, source: dict) -> None:
        """Refuse a document that the mapping does not take."""
        known = index.mappings.get("properties", {})
        for name, value in source.items():
            if name not in known and index.mappings.get("dynamic") == "strict":
                raise RefusedError(
                    400, "strict_dynamic_mapping_exception", f"introduction of [{name}] is not allowed"
                )
            if known.get(name, {}).get("type") == "long" and not isinstance(value, int):
                raise RefusedError(400, "mapper_parsing_exception", f"failed to parse field [{name}]")

    def search(self, target: str, body: dict) -> dict:
        only(body, {"query", "sort", "size", "track_total_hits", "_source", "aggs"})
        names = self.resolve(target)
        size = body.get("size", 10)
        if size > 10_000:
            raise RefusedError(400, "illegal_argument_exception", "Result window is too large")
        answer: dict = {"took": 1, "timed_out": False, "hits": {"max_score": None, "hits": []}}
        if "aggs" in body:
            answer["aggregations"] = {
                name: {"value": self._largest(names, facts["max"]["field"])}
                for name, facts in body["aggs"].items()
            }
        if "query" in body:
            hits = [hit for name in names for hit in self._hits(name, body["query"])]
            if body.get("sort") not in (None, [{"_score": "desc"}, {"pk": "asc"}]):
                raise RefusedError(400, "parsing_exception", "unknown order")
            ties = itertools.count() if "sort" not in body else None
            hits.sort(key=lambda hit: (-hit["_score"], next(ties) if ties else int(hit["_id"])))
            answer["hits"]["hits"] = hits[:size]
        return answer

    def _largest(self, names: list[str], of: str) -> float | None:
        values = [source[of] for name in names for source in self.indexes[name].shown.values()]
        return float(max(values)) if values else None

    def _hits(self, name: str, query: dict) -> list[dict]:
        only(query, {"bool"})
        only(query["bool"], {"should", "minimum_should_match"})
        clauses = query["bool"]["should"]
        if len(clauses) > 1_024:
            raise RefusedError(400, "too_many_clauses", "maxClauseCount is set to 1024")
        index = self.indexes[name]
        words = {key: str(source["body"]).split() for key, source in index.shown.items()}
        scores: Counter[str] = Counter()
        for clause in clauses:
            facts = clause["term"]["body"]
            only(facts, {"value", "boost"})
            for key, score in self._bm25(index, words, facts["value"]).items():
                scores[key] += facts["boost"] * score
        return [
            {"_index": name, "_id": key, "_score": score, "sort": [score, int(key)]}
            for key, score in scores.items()
        ]

    def _bm25(self, index: StoredIndex, words: dict[str, list[str]], term: str) -> dict[str, float]:
        """Lucene's BM25; version 2 keeps the factor k1 + 1, version 3 does not."""
        facts = index.settings["similarity"]["default"]
        k1, b = facts["k1"], facts["b"]
        with_term = {key: held.count(term) for key, held in words.items() if term in held}
        idf = math.log(1 + (len(words) - len(with_term) + 0.5) / (len(with_term) + 0.5))
        mean = sum(map(len, words.values())) / max(len(words), 1)
        factor = 1.0 if int(self.version.split(".")[0]) >= 3 else k1 + 1
        return {
            key: factor * idf * tf / (tf + k1 * (1 - b + b * len(words[key]) / mean))
            for key, tf in with_term.items()
        }


def only(given: dict, known: set[str]) -> None:
    """Refuse keys that the contract does not have, or that this server has never been asked for."""
    if more := set(given) - known:
        raise RefusedError(400, "parsing_exception", f"unknown key {sorted(more)}")
