"""Tables whose answers people compared in pairs: the pairs, and of each answer what share it won."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from core.files.refusals import FileRefusedError
from evaluations.answer_table import AnswerTable, Row
from evaluations.errors import EvaluationError
from judgments.pair_table import read_pairs
from metrics.metaeval.data import JudgedPairs
from metrics.preferences.comparisons import FIRST, SECOND

#: The answers of a pair, and 1 where the first was preferred, -1 where the second was, 0 for a tie.
PairJudgment = tuple[Hashable, Hashable, int]
NO_RATINGS = "people judged pairs, so there are no ratings of single answers"
_JUDGED = (
    "People judged {judgments:,} times which of two answers is better, {pairs:,} pairs in all. Figures of "
    "pairs are about these; the human score of an answer is the share of its comparisons that it won, ties "
    "half."
)


class PairedTable:
    """The table with the share of comparisons that each answer won as its human score, and `pairs`.

    `key` tells answers apart, as the judgments name them.
    """

    def __init__(
        self, table: AnswerTable, judgments: Iterable[PairJudgment], key: Callable[[Row], Hashable]
    ) -> None:
        self._table, self._key = table, key
        self.scale: tuple[float, float] | None = (0.0, 1.0)
        self.alpha = None
        self.no_ratings = NO_RATINGS
        leads: dict[tuple[Hashable, Hashable], list[int]] = defaultdict(list)
        won: dict[Hashable, list[float]] = defaultdict(list)
        places = self._places()
        strange = 0
        for first, second, lead in judgments:
            if first not in places or second not in places:
                strange += 1
                continue
            won[first].append((1 + lead) / 2)
            won[second].append((1 - lead) / 2)
            turned = places[first] > places[second]
            leads[(second, first) if turned else (first, second)].append(-lead if turned else lead)
        if not leads:
            raise EvaluationError(
                f"{table.title} has the answers of no pair that people judged. Question and systems of a "
                "pair are named as in the columns question_id and system of the answers."
            )
        self._shares = {answer: sum(shares) / len(shares) for answer, shares in won.items()}
        self.pairs = JudgedPairs(
            np.array([places[first] for first, _ in leads], dtype=np.int64),
            np.array([places[second] for _, second in leads], dtype=np.int64),
            np.array([sum(each) / len(each) for each in leads.values()]),
        )
        count = sum(map(len, leads.values()))
        self.notes = [*table.notes, _JUDGED.format(judgments=count, pairs=len(leads))]
        if strange:
            self.notes.append(f"Judgments of answers that {table.title} does not have: {strange:,}.")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)

    def _places(self) -> dict[Hashable, int]:
        places: dict[Hashable, int] = {}
        for place, row in enumerate(self._table.rows()):
            if places.setdefault(self._key(row), place) != place:
                raise EvaluationError(
                    f"{self._table.title}: the system {row.system} has two answers to the question "
                    f"{row.question_id}, so pairs do not tell which one was judged. Leave one of them."
                )
        return places

    def rows(self) -> Iterator[Row]:
        """All rows in their order."""
        for row in self._table.rows():
            yield replace(row, human=self._shares.get(self._key(row), nan), ratings=[])


def pairs_of_file(table: AnswerTable, path: Path, *, winner: str = "") -> PairedTable:
    """The table with the judged pairs of a file, which the command `preferences` could read as well."""
    for needed in ("question_id", "system"):
        if needed not in table.has:
            raise EvaluationError(
                f"--pairs {path}: {table.title} has no column {needed}, by which pairs name their answers. "
                f"Say which one it is: --column {needed}=NAME."
            )
    try:
        read = read_pairs(path, columns={}, winners=[winner] if winner else [])
    except FileRefusedError as error:
        raise EvaluationError(str(error)) from error
    ((question, comparisons),) = read.comparisons.items()
    items, systems = read.items[question], comparisons.systems
    lead_of = {FIRST: 1, SECOND: -1}
    judgments = (
        ((items[item], systems[first]), (items[item], systems[second]), lead_of.get(outcome, 0))
        for item, first, second, outcome in zip(
            comparisons.questions.tolist(),
            comparisons.first.tolist(),
            comparisons.second.tolist(),
            comparisons.outcomes.tolist(),
            strict=True,
        )
    )
    paired = PairedTable(table, judgments, lambda row: (row.question_id, row.system))
    paired.notes += read.notes
    return paired
