"""Relevance judgments: TREC's four columns, or three with a header as in BEIR."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from retrieval.evaluation.lines import Faults, cells, lines, shown

_GRADE = re.compile(r"[+-]?[0-9]{1,6}")
_HEADERS = {"score", "relevance", "rel", "grade", "label", "relevancy"}
_FORM = "A line is QUERY 0 PASSAGE GRADE, with tabs or blanks between."


@dataclass(frozen=True)
class Qrels:
    """Grades by query and passage, as given; 0 and below mean not relevant."""

    grades: dict[str, dict[str, int]]
    repeated: int = 0

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
    repeated, first = 0, True
    for number, line in lines(path, faults):
        row = cells(line)
        if len(row) not in (3, 4) and "\t" in line:
            row = line.split()
        header, first = first and _is_header(row), False
        if header:
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
            what = f"{shown(passage)} has grade {grade} for {shown(query)}, and had {before} before"
            faults.add(number, "grade", what, "Keep one of the two lines.")
    faults.check()
    if not grades:
        raise faults.stop(1, "there is no judgment in the file", _FORM)
    return Qrels(grades, repeated)


def _is_header(row: Sequence[str]) -> bool:
    return len(row) in (3, 4) and row[-1].lower() in _HEADERS


def _sound(faults: Faults, number: int, query: str, passage: str, grade: str) -> bool:
    before = len(faults.found)
    if not query:
        faults.add(number, "query", "it is empty", _FORM)
    if not passage:
        faults.add(number, "passage", "it is empty", _FORM)
    if not _GRADE.fullmatch(grade):
        faults.add(number, "grade", f"{shown(grade)} is no whole number", "Grades are 0, 1, 2 and so on.")
    return len(faults.found) == before
