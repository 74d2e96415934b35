"""TREC run files: QUERY Q0 PASSAGE RANK SCORE TAG. What is written reads back in the same order.

The order of a run is that of trec_eval: by score in single precision, highest first, equal scores by id of
the passage, last of the alphabet first; the column RANK is not looked at.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from retrieval.errors import EvaluationError
from retrieval.evaluation.lines import Faults, cells, lines, shown

#: Passages of a query, best first, with their scores.
Rankings = Mapping[str, Sequence[tuple[str, float]]]
_FORM = "A line is QUERY Q0 PASSAGE RANK SCORE TAG, or QUERY PASSAGE RANK."
_RANK = re.compile(r"[0-9]{1,9}")
_BLANK = re.compile(r"\s")


@dataclass(frozen=True)
class Run:
    """What a system found, by query, and what it calls itself."""

    name: str
    rankings: Rankings


def read_run(path: Path, name: str = "") -> Run:
    """A run of a file; its name is the one given, or the file's. FileRefusedError lists its faults.

    Three columns are MS MARCO's QUERY PASSAGE RANK.
    """
    faults = Faults(path)
    scores: dict[str, dict[str, float]] = {}
    for number, line in lines(path, faults):
        row = cells(line)
        if len(row) not in (3, 6) and "\t" in line:
            row = line.split()
        if len(row) == 6:
            query, passage, score = row[0], row[2], _score(row[4])
            field, what, remedy = "score", shown(row[4]), "Scores are numbers such as 12.5."
        elif len(row) == 3:
            query, passage = row[0], row[1]
            score = -float(row[2]) if _RANK.fullmatch(row[2]) else None
            field, what, remedy = "rank", shown(row[2]), "Ranks are whole numbers from 1."
        else:
            faults.add(number, "", f"there are {len(row)} columns", _FORM)
            continue
        if score is None:
            faults.add(number, field, f"{what} is no {field}", remedy)
        elif not query or not passage:
            faults.add(number, "passage" if query else "query", "it is empty", _FORM)
        elif passage in scores.setdefault(query, {}):
            what = f"{shown(passage)} stands twice in the list of {shown(query)}"
            faults.add(number, "passage", what, "Keep the better one.")
        else:
            scores[query][passage] = score
    faults.check()
    if not scores:
        raise faults.stop(1, "there is no line in the file", _FORM)
    return Run(name or _stem(path), {query: _ordered(found) for query, found in scores.items()})


def write_run(file: IO[bytes], run: Run) -> None:
    """A run as TREC's six columns; scores fall strictly, so that every reader sees our order."""
    tag = _BLANK.sub("-", run.name)
    for query, found in run.rankings.items():
        _written(query, "query")
        last = np.float32(np.inf)
        for rank, (passage, score) in enumerate(found, 1):
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
            f"The id {shown(one)} of a {what} has a blank in it, which a TREC run file cannot hold. "
            "Leave out --run-out, or rename it."
        )


def _score(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _ordered(found: Mapping[str, float]) -> list[tuple[str, float]]:
    by_id = sorted(found.items(), reverse=True)
    return sorted(by_id, key=lambda pair: -float(np.float32(pair[1])))


def _stem(path: Path) -> str:
    name = path.name.removesuffix(".gz")
    for ending in (".run", ".trec", ".txt", ".tsv", ".res"):
        name = name.removesuffix(ending)
    return name or path.name
