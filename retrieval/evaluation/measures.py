"""Relevance judgments, and measures per query by their names in ir-measures.

nDCG gains what the grade says, as in trec_eval.
"""

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.files.reading import Reading
from core.files.refusals import RowCounts
from retrieval.errors import EvaluationError
from retrieval.evaluation.questions import Faults, cells, is_comment, line_reading, lines, quote_beginning
from retrieval.evaluation.runs import Rankings

# Relevance judgments: TREC's four columns, or three with a header as in BEIR.

_GRADE = re.compile(r"[+-]?[0-9]{1,6}")
_HEADERS = {"score", "relevance", "rel", "grade", "label", "relevancy"}
_FORM = "A line is QUERY 0 PASSAGE GRADE, with tabs or blanks between."


@dataclass(frozen=True)
class Qrels:
    """Grades by query and passage, as given; 0 and below mean not relevant."""

    grades: dict[str, dict[str, int]]
    repeated: int = 0
    reading: Reading | None = None

    @property
    def judgments(self) -> int:
        """How many (query, passage) pairs are judged."""
        return sum(map(len, self.grades.values()))

    def relevant(self, query: str) -> int:
        """How many passages are relevant for a query."""
        return sum(grade > 0 for grade in self.grades.get(query, {}).values())

    def passages(self) -> set[str]:
        """Ids of all judged passages."""
        return {passage for grades in self.grades.values() for passage in grades}


def read_qrels(path: Path) -> Qrels:
    """Judgments of a file. FileRefusedError lists what is wrong with it, a contradiction included."""
    faults = Faults(path)
    grades: dict[str, dict[str, int]] = {}
    repeated = comments = header_row = 0
    first = ""
    names: list[str] = []
    for number, line in lines(path, faults):
        row = cells(line)
        if len(row) not in (3, 4) and "\t" in line:
            row = line.split()
        if is_comment(row, (3, 4)):
            comments += 1
            continue
        is_header, first = not first and _is_header(row), first or line
        width = len(row)
        if is_header:
            header_row, names = number, row
            continue
        if len(row) not in (3, 4):
            faults.add(number, "", f"there are {len(row)} columns", _FORM)
            continue
        query, passage, grade = row[0], row[-2], row[-1]
        if not _sound(faults, number, query, passage, grade):
            continue
        of = grades.setdefault(query, {})
        before = of.get(passage)
        if before is None:
            of[passage] = int(grade)
        elif before == int(grade):
            repeated += 1
        else:
            has = f"{quote_beginning(passage)} has grade {grade} for {quote_beginning(query)}"
            what = f"{has}, and had {before} before"
            faults.add(number, "grade", what, "Keep one of the two lines.")
    faults.check()
    if not grades:
        raise faults.stop(1, "there is no judgment in the file", _FORM)
    grade_count = sum(map(len, grades.values()))
    rows = RowCounts(grade_count + repeated + comments, used=grade_count, repeats=repeated, refused=comments)
    places = {"query": 0, "passage": width - 2, "grade": width - 1}
    return Qrels(grades, repeated, line_reading(first, names, places, header_row, rows))


def _is_header(row: Sequence[str]) -> bool:
    return len(row) in (3, 4) and row[-1].lower() in _HEADERS


def _sound(faults: Faults, number: int, query: str, passage: str, grade: str) -> bool:
    before = len(faults.found)
    if not query:
        faults.add(number, "query", "it is empty", _FORM)
    if not passage:
        faults.add(number, "passage", "it is empty", _FORM)
    if not _GRADE.fullmatch(grade):
        faults.add(
            number, "grade", f"{quote_beginning(grade)} is no whole number", "Grades are 0, 1, 2 and so on."
        )
    return len(faults.found) == before


DEFAULT = "nDCG@10,MRR@10,R@100"
#: Best passages of a query that are fetched at least.
DEPTH = 100
_SEPARATORS = re.compile(r"[,;\s]+(?![^()]*\))")

#: (systems or measures by name) -> (queries,) values in the order of the queries.
Values = dict[str, NDArray[np.float64]]


@dataclass(frozen=True)
class NamedMeasure:
    """A measure under the name that was asked for."""

    name: str
    measure: Any  # ir_measures has no types

    @property
    def cutoff(self) -> int:
        """How many passages it looks at; 0: all."""
        return int(self.measure.params.get("cutoff", 0))


def parse_measures(text: str) -> list[NamedMeasure]:
    """Measures of a list such as `nDCG@10,MRR@10,R(rel=2)@100`; EvaluationError for one that there is not."""
    import ir_measures  # only where something is measured

    by_name: dict[str, NamedMeasure] = {}
    for name in filter(None, _SEPARATORS.split(text.strip())):
        try:
            measure = ir_measures.parse_measure(_spelled(name, ir_measures.measures.registry))
            pipeline: Any = ir_measures.DefaultPipeline  # it has no types
            able = pipeline.supports(measure)
        except (NameError, ValueError, TypeError, AssertionError, KeyError, SyntaxError) as error:
            raise EvaluationError(
                f"There is no measure {name!r}. Known are those of ir-measures, such as nDCG@10, MRR@10, "
                "R@100, AP, P@5, Success@1, Judged@10."
            ) from error
        if not able or ("@" in name and not NamedMeasure(name, measure).cutoff):
            raise EvaluationError(
                f"The measure {name!r} needs a part of ir-measures that is not installed, or a number of "
                f"passages behind an @. Leave it out."
            )
        by_name[name] = NamedMeasure(name, measure)
    if not by_name:
        raise EvaluationError("Name at least one measure, such as nDCG@10.")
    return list(by_name.values())


def _spelled(name: str, registry: Mapping[str, Any]) -> str:
    """The name as ir-measures writes it, whatever the case."""
    head = re.match(r"\w*", name)[0]  # type: ignore[index]  # it always matches
    spellings = {each.lower(): each for each in registry}
    return spellings.get(head.lower(), head) + name[len(head) :]


def values(
    measures: Sequence[NamedMeasure], qrels: Qrels, rankings: Rankings, queries: Sequence[str]
) -> Values:
    """Values of each measure, in the order of `queries`; a query for which nothing was found has 0."""
    import ir_measures  # only where something is measured

    place = {query: number for number, query in enumerate(queries)}
    grades = {query: qrels.grades[query] for query in queries}
    # Strictly falling whatever the scores, so that no provider orders equal ones in its own way.
    run = {query: _falling(rankings[query]) for query in queries if rankings.get(query)}
    columns = {each.name: np.zeros(len(queries)) for each in measures}
    for each in measures if run else ():
        try:
            for metric in ir_measures.iter_calc([each.measure], grades, run):
                columns[each.name][place[metric.query_id]] = metric.value
        except (subprocess.CalledProcessError, OSError, ValueError, RuntimeError) as error:
            raise EvaluationError(f"The measure {each.name} cannot be computed: {error}") from error
    return columns


def _falling(ranking: Sequence[tuple[str, float]]) -> dict[str, float]:
    return {passage: float(len(ranking) - rank) for rank, (passage, _) in enumerate(ranking)}
