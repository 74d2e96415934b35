"""One pass over a table: everything that is no text stays, as numbers and codes."""

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluations.errors import EvaluationError
from evaluations.tables.questions import Codes, Keys, Teller, in_order
from evaluations.tables.rows import AnswerTable, simulation_of
from evaluations.tables.simulation import simulated_rows
from evaluations.tables.values import UNFILTERED
from metrics.metaeval.data import NO_RATINGS, Raters, ScoredAnswers
from metrics.tokens.scripts import is_unspaced

Floats = npt.NDArray[np.float64]
FILTERED = (
    "the single ratings have been through a response filter ({}), which makes raters agree also where they "
    "gave nothing but noise; a ceiling needs the ratings from before it"
)
ASSUMED = (
    "The table does not say whether single ratings were removed for being far from the others. The ceiling "
    "takes them as they were given; if they were filtered, say so: --response-filter NAME (none: they were "
    "not)."
)


@dataclass(frozen=True, slots=True, eq=False)
class AnswerColumns:
    """n answers without their texts. `types` name the class of each question, empty where unknown.

    `scale` is the lowest and highest score: as it was given, or as it was found. `notes` are sentences about
    what was found rather than given. `unspaced` of the answers are in a script without spaces between words.
    `simulated` says what programs did in place of people, None where people did it all.
    """

    human: Floats
    questions: Codes
    question_names: list[str]
    systems: Codes
    system_names: list[str]
    inferred: bool
    types: list[str]
    raters: Raters | None
    no_ratings: str
    rater_names: list[str]
    external: dict[str, Floats]
    scale: tuple[float, float]
    notes: list[str]
    unspaced: int = 0
    simulated: Mapping[str, Any] | None = None

    def __len__(self) -> int:
        return len(self.human)

    def judged(
        self,
        metrics: Mapping[str, Floats],
        *,
        signatures: Mapping[str, str],
        lengths: Floats | None = None,
        reference_lengths: Floats | None = None,
    ) -> ScoredAnswers:
        """With the scores of metrics, as the statistics take it."""
        return ScoredAnswers(
            self.human,
            {**metrics, **self.external},
            self.systems,
            self.questions,
            self.system_names,
            self.question_names,
            self.types,
            lengths,
            reference_lengths,
            self.raters,
            signatures={**signatures, **{name: f"metric:{name}|external" for name in self.external}},
            no_ratings=self.no_ratings,
        )


def gather(table: AnswerTable) -> AnswerColumns:
    """Reads a table once. EvaluationError where it has no row with a human score, or a row is wrong."""
    human = array("d")
    teller, raters, types = Teller(table.has), _Ratings(), Keys()
    external = [array("d") for _ in table.external]
    unspaced = simulated = 0
    for row in table.rows():
        raters.add(len(human), row.ratings, row.response_filter)
        human.append(row.human)
        teller.add(row)
        types.add(row.type)
        unspaced += is_unspaced(row.answer)
        simulated += row.simulated
        for values, value in zip(external, row.external, strict=True):
            values.append(value)
    scores = np.array(human)
    if not len(scores):
        raise EvaluationError(f"{table.title} has no answers.")
    if np.isnan(scores).all():
        raise EvaluationError(
            f"{table.title}: no answer has a human score, so nothing can be compared with people. Is another "
            "column the right one? --column scores=NAME."
        )
    told = teller.told()
    marked = simulation_of(table) or simulated_rows(simulated, len(scores))
    notes = [*table.notes, *told.notes]
    if marked and marked["what"] not in notes:
        notes.insert(0, marked["what"])
    found, rater_names, no_ratings = raters.found()
    if found is not None and "response_filter" not in table.has:
        notes.append(ASSUMED)
    names = _types(types, told.questions, len(told.question_names), notes) if "type" in table.has else []
    return AnswerColumns(
        scores,
        told.questions,
        told.question_names,
        told.systems,
        told.system_names,
        told.inferred,
        names,
        found,
        no_ratings or table.no_ratings or NO_RATINGS,
        rater_names,
        {name: np.array(values) for name, values in zip(table.external, external, strict=True)},
        table.scale or _scale(scores, found, notes),
        notes,
        unspaced,
        marked,
    )


class _Ratings:
    """Single ratings as they come."""

    def __init__(self) -> None:
        self.answers, self.scores, self.workers = array("i"), array("d"), Keys()
        self.filters: dict[str, None] = {}

    def add(self, answer: int, ratings: Sequence[tuple[str, float]], response_filter: str) -> None:
        if ratings and response_filter.casefold() not in UNFILTERED:
            self.filters[response_filter] = None
        for rater, score in ratings:
            if not math.isnan(score):
                self.answers.append(answer)
                self.scores.append(score)
                self.workers.add(rater)

    def found(self) -> tuple[Raters | None, list[str], str]:
        """The ratings, the names of their raters, and why there are none to be used."""
        if self.filters:
            return None, [], FILTERED.format(", ".join(sorted(self.filters)))
        if not len(self.answers):
            return None, [], ""
        workers, names = self.workers.in_order()
        return Raters(np.array(self.answers, dtype=np.int32), workers, np.array(self.scores)), names, ""


def _types(types: Keys, questions: Codes, size: int, notes: list[str]) -> list[str]:
    """The type of each question: the one that most of its rows have, of several the first by name."""
    codes, names = in_order(types.codes, types.names)
    pairs, counts = np.unique(questions.astype(np.int64) * len(names) + codes, return_counts=True)
    owners = pairs // len(names)
    if len(np.unique(owners)) < len(owners):
        notes.append("Some questions have rows of different types; the type of most of their rows counts.")
    best = np.lexsort((pairs, -counts, owners))
    first = np.r_[True, owners[best][1:] != owners[best][:-1]]
    chosen = pairs[best][first]
    found = [""] * size
    for pair in chosen.tolist():
        found[pair // len(names)] = names[pair % len(names)]
    return found


def _scale(scores: Floats, raters: Raters | None, notes: list[str]) -> tuple[float, float]:
    """The lowest and the highest score that somebody gave."""
    low, high = float(np.nanmin(scores)), float(np.nanmax(scores))
    if raters is not None:
        low, high = min(low, float(raters.scores.min())), max(high, float(raters.scores.max()))
    notes.append(
        f"The scale of the human scores was taken from the data: {low:g} to {high:g}. If people could give "
        "lower or higher scores, say so: --scale LOW-HIGH."
    )
    return low, high if low < high else low + 1
