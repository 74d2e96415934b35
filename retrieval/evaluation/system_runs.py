"""Rankers asked one question after the other."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from retrieval.errors import EmptyQueryError
from retrieval.evaluation.questions import Question
from retrieval.evaluation.runs import Run
from retrieval.ranking.base import Collection, Ranker, Ranking

#: Questions after which ids of passages are looked up.
_AT_ONCE = 200


class Haystack(Protocol):
    """What is searched, and how the passages of it are called in judgments."""

    @property
    def collections(self) -> Sequence[Collection]:
        """Fresh or not: asked for once for every question."""

    def keys(self, collection: str, pks: Sequence[int]) -> Mapping[int, str]:
        """Own ids of passages of a collection."""

    def known(self, keys: Iterable[str]) -> set[str]:
        """Those of the ids that some passage has."""

    def as_json(self) -> dict[str, Any]:
        """What it is, for a report: JSON."""


@dataclass(frozen=True)
class SystemRun:
    """A system's run, and how it came about.

    `milliseconds` of each question, in their order; `notes` with the number of questions that they concern;
    `wordless` questions had no word to search for.
    """

    run: Run
    ranker: str = ""
    parameters: Mapping[str, Any] | None = None
    generations: Mapping[str, Any] | None = None
    milliseconds: Sequence[float] = ()
    notes: Mapping[str, int] | None = None
    wordless: int = 0


def ask(
    ranker: Ranker,
    haystack: Haystack,
    questions: Sequence[Question],
    depth: int,
    *,
    name: str = "",
    progress: Callable[[int], None] = lambda done: None,
) -> SystemRun:
    """The best `depth` passages for each question. An id that several collections have counts once."""
    rankings: dict[str, list[tuple[str, float]]] = {}
    times: list[float] = []
    notes: Counter[str] = Counter()
    last: Ranking | None = None
    wordless = 0
    for start in range(0, len(questions), _AT_ONCE):
        waiting: list[tuple[str, Ranking]] = []
        for question in questions[start : start + _AT_ONCE]:
            at = time.perf_counter()
            try:
                last = ranker.rank(haystack.collections, question.turns, depth)
            except EmptyQueryError:
                wordless += 1
                rankings[question.id] = []
                continue
            finally:
                times.append((time.perf_counter() - at) * 1000)
            notes.update(set(last.notes))
            waiting.append((question.id, last))
        rankings.update(_keyed(haystack, waiting))
        progress(len(times))
    return SystemRun(
        Run(name or ranker.name, rankings),
        last.ranker if last else ranker.name,
        last.parameters if last else None,
        last.generations if last else None,
        times,
        dict(notes),
        wordless,
    )


def _keyed(haystack: Haystack, rankings: Sequence[tuple[str, Ranking]]) -> dict[str, list[tuple[str, float]]]:
    wanted: dict[str, set[int]] = {}
    for _, ranking in rankings:
        for hit in ranking.results:
            wanted.setdefault(hit.collection, set()).add(hit.pk)
    keys = {name: haystack.keys(name, sorted(pks)) for name, pks in wanted.items()}
    found: dict[str, list[tuple[str, float]]] = {}
    for query, ranking in rankings:
        best: dict[str, float] = {}
        for hit in ranking.results:
            key = keys[hit.collection].get(hit.pk)
            if key is not None:
                best.setdefault(key, hit.score)
        found[query] = list(best.items())
    return found
