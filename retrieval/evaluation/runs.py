"""Runs of rankers, what they search, and TREC run files: QUERY Q0 PASSAGE RANK SCORE TAG.

What is written reads back in the same order, that of trec_eval: by score in single precision, highest first,
equal scores by id of the passage, last of the alphabet first; the column RANK is not looked at.
"""

import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np

from core.files.reading import Reading
from core.files.refusals import RowCounts
from retrieval.errors import EmptyQueryError, EvaluationError
from retrieval.evaluation.questions import (
    Faults,
    Question,
    cells,
    is_comment,
    line_reading,
    lines,
    quote_beginning,
)
from retrieval.ranking.base import Collection, Ranker, Ranking
from retrieval.ranking.folder import FolderCollection

#: Passages of a query, best first, with their scores.
Rankings = Mapping[str, Sequence[tuple[str, float]]]
_FORM = "A line is QUERY Q0 PASSAGE RANK SCORE TAG, or QUERY PASSAGE RANK."
_RANK = re.compile(r"[0-9]{1,9}")
_BLANK = re.compile(r"\s")


@dataclass(frozen=True)
class Run:
    """What a system found, by query, and what it calls itself.

    `contradicted` are queries of a file whose ranks put a passage before one with a higher score.
    """

    name: str
    rankings: Rankings
    contradicted: int = 0
    reading: Reading | None = None


def read_run(path: Path, name: str = "") -> Run:
    """A run of a file; its name is the one given, or the file's. FileRefusedError lists its faults.

    The order is that of the scores, as trec_eval has it, whatever the ranks of six columns say.

    Three columns are MS MARCO's QUERY PASSAGE RANK. A file has one run, so its lines have one tag.
    """
    faults = Faults(path)
    scores: dict[str, dict[str, float]] = {}
    ranks: dict[str, list[tuple[int, float]]] = {}
    first, comments, width = "", 0, 0
    tags: dict[str, int] = {}
    for number, line in lines(path, faults):
        row = cells(line)
        if len(row) not in (3, 6) and "\t" in line:
            row = line.split()
        if is_comment(row, (3, 6)):
            comments += 1
            continue
        first, width = first or line, len(row)
        if len(row) == 6:
            tags.setdefault(row[5], number)
            query, passage, score = row[0], row[2], _score(row[4])
            field, what, remedy = "score", quote_beginning(row[4]), "Scores are numbers such as 12.5."
        elif len(row) == 3:
            query, passage = row[0], row[1]
            score = -float(row[2]) if _RANK.fullmatch(row[2]) else None
            field, what, remedy = "rank", quote_beginning(row[2]), "Ranks are whole numbers from 1."
        else:
            faults.add(number, "", f"there are {len(row)} columns", _FORM)
            continue
        if score is None:
            faults.add(number, field, f"{what} is no {field}", remedy)
        elif not query or not passage:
            faults.add(number, "passage" if query else "query", "it is empty", _FORM)
        elif passage in scores.setdefault(query, {}):
            what = f"{quote_beginning(passage)} occurs twice in the list of {quote_beginning(query)}"
            faults.add(number, "passage", what, "Keep the better one.")
        else:
            scores[query][passage] = score
            if len(row) == 6 and _RANK.fullmatch(row[3]):
                ranks.setdefault(query, []).append((int(row[3]), -score))
    _check_tags(faults, tags)
    faults.check()
    if not scores:
        raise faults.stop(1, "there is no line in the file", _FORM)
    rankings = {query: _ordered(ranking) for query, ranking in scores.items()}
    ranking = sum(map(len, scores.values()))
    reading = line_reading(
        first,
        (),
        {"query": 0, "passage": 2, "score": 4} if width == 6 else {"query": 0, "passage": 1, "rank": 2},
        0,
        RowCounts(ranking + comments, used=ranking, refused=comments),
    )
    return Run(name or _stem(path), rankings, sum(map(_contradict, ranks.values())), reading)


def write_run(file: IO[bytes], run: Run) -> None:
    """A run as TREC's six columns; scores fall strictly, so that every reader sees our order."""
    tag = _BLANK.sub("-", run.name)
    for query, ranking in run.rankings.items():
        _written(query, "query")
        last = np.float32(np.inf)
        for rank, (passage, score) in enumerate(ranking, 1):
            _written(passage, "passage")
            last = min(np.float32(score), np.nextafter(last, np.float32(-np.inf)))
            file.write(f"{query} Q0 {passage} {rank} {last!s} {tag}\n".encode())


def check_ids(ids: Iterable[str], what: str) -> None:
    """EvaluationError for an id that a run file cannot hold."""
    for one in ids:
        _written(one, what)


def _written(one: str, what: str) -> None:
    if _BLANK.search(one):
        raise EvaluationError(
            f"The id {quote_beginning(one)} of a {what} has a blank in it, which a TREC run file cannot "
            "hold. Leave out --run-out, or rename it."
        )


def _score(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _ordered(scores: Mapping[str, float]) -> list[tuple[str, float]]:
    by_id = sorted(scores.items(), reverse=True)
    return sorted(by_id, key=lambda pair: -float(np.float32(pair[1])))


def _contradict(ranks: list[tuple[int, float]]) -> bool:
    """Whether one of these (rank, -score) comes before one with a higher score; equal ranks say nothing."""
    worst_before = -math.inf
    for _, same_rank in groupby(sorted(ranks), key=itemgetter(0)):
        negated = [score for _, score in same_rank]
        if min(negated) < worst_before:
            return True
        worst_before = max(worst_before, *negated)
    return False


def _check_tags(faults: Faults, tags: Mapping[str, int]) -> None:
    """A tag by which a system calls itself in one line, and another in the next: two runs in one file."""
    first, *others = tags or ("",)
    for tag in others:
        what = f"{quote_beginning(tag)} is another run than {quote_beginning(first)}, which comes first"
        faults.add(tags[tag], "tag", what, "Give each run a file of its own.")


def _stem(path: Path) -> str:
    name = path.name.removesuffix(".gz")
    for ending in (".run", ".trec", ".txt", ".tsv", ".res"):
        name = name.removesuffix(ending)
    return name or path.name


# Rankers asked one question after the other.

#: Questions after which ids of passages are looked up.
_AT_ONCE = 200


class Haystack(Protocol):
    """What is searched, and how the passages of it are called in judgments."""

    @property
    def collections(self) -> Sequence[Collection]:
        """Fresh or not: asked for once for every question."""

    def keys(self, collection: str, pks: Sequence[int]) -> Mapping[int, str]:
        """Own ids of passages of a collection."""

    def find_keys(self, keys: Iterable[str]) -> set[str]:
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
    keys_wanted: dict[str, set[int]] = {}
    for _, ranking in rankings:
        for hit in ranking.results:
            keys_wanted.setdefault(hit.collection, set()).add(hit.pk)
    keys = {name: haystack.keys(name, sorted(pks)) for name, pks in keys_wanted.items()}
    by_query: dict[str, list[tuple[str, float]]] = {}
    for query, ranking in rankings:
        best: dict[str, float] = {}
        for hit in ranking.results:
            key = keys[hit.collection].get(hit.pk)
            if key is not None:
                best.setdefault(key, hit.score)
        by_query[query] = list(best.items())
    return by_query


class FileHaystack:
    """Passages of a file, indexed for this evaluation; a `Haystack`."""

    def __init__(self, passages: Path, collection: FolderCollection) -> None:
        self._passages = passages
        self._collection = collection
        self.collections: Sequence[Collection] = [collection]

    def keys(self, collection: str, pks: Sequence[int]) -> Mapping[int, str]:
        """Own ids of passages."""
        return {pk: self._collection.key(pk) for pk in pks}

    def find_keys(self, keys: Iterable[str]) -> set[str]:
        """Those of the ids that are in the file."""
        return self._ids & set(keys)

    def as_json(self) -> dict[str, Any]:
        """The file, and how many passages it has."""
        return {"file": self._passages.name, "passages": len(self._collection.keys)}

    @cached_property
    def _ids(self) -> set[str]:
        return set(self._collection.keys)
