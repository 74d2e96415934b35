"""Tables with a row for each rating: which rows are of the same answer, what they say of it together, and
which of them are there twice."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from evaluations.answer_table import UNFILTERED, Row

#: Fields in which all rows of an answer agree.
_SHARED = ("references", "labels", "label", "type", "entities", "external")
#: Rows, each with its cells, from the start; and what is told of a line that cannot be taken, and why.
Rows = Callable[[], Iterable[tuple[Row, Any]]]
Refuse = Callable[[int, str], NoReturn]


@dataclass(slots=True)
class RatedAnswer:
    """An answer by the line and the id of its first row, and what its rows say together.

    `lines` are those of its rows by a hash of their cells; `shared` is one of what they have in common.
    """

    line: int
    id: str
    shared: int
    lines: dict[int, int] = field(default_factory=dict)
    ratings: list[tuple[str, float]] = field(default_factory=list)
    response_filter: str = ""
    simulated: bool = False

    def add(self, row: Row) -> None:
        """What one more row says."""
        self.ratings += ratings_of_row(row, len(self.ratings) + 1)
        self.simulated |= row.simulated
        if row.response_filter.casefold() not in UNFILTERED:
            self.response_filter = row.response_filter


@dataclass(slots=True)
class SingleRatings:
    """Answers with several rows by the line of the first one; `merged` are lines of their other rows with
    the first, and `repeats` lines that are the same as an earlier one, with that."""

    answers: dict[int, RatedAnswer] = field(default_factory=dict)
    merged: dict[int, int] = field(default_factory=dict)
    repeats: dict[int, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def complete(self, row: Row) -> None:
        """Give the first row of an answer all of its ratings."""
        if not self.merged:
            return
        answer = self.answers.get(row.line)
        if answer is None:
            row.ratings = ratings_of_row(row, 1)
            return
        row.ratings, row.simulated = answer.ratings, answer.simulated
        row.response_filter = answer.response_filter or row.response_filter


def ratings_of_row(row: Row, number: int) -> list[tuple[str, float]]:
    """The ratings in a row; the one of a row with a single score is its worker's, or has the number."""
    if row.ratings or row.human != row.human:
        return row.ratings
    return [(row.worker or str(number), row.human)]


def find_single_ratings(rows: Rows, has: Collection[str], refuse: Refuse) -> SingleRatings:
    """Finds the rows of each answer: question, system and text agree, and a column names raters or systems.

    `rows` need not have those whose question, system and text occur once. Without raters, rows with other ids
    are of other answers. It refuses a row that contradicts an earlier one, a rater's second rating of an
    answer, and what may be a rating as well as a repeated row.
    """
    rated, single = "worker" in has, SingleRatings()
    told_apart = rated or "system" in has
    answers: dict[tuple[int, str], RatedAnswer] = {}
    firsts: dict[int, int] = {}
    apart: list[int] = []
    numbered: tuple[int, int] | None = None
    ids_agree = False
    for row, cells in rows():
        key = _key(row, has)
        first = firsts.setdefault(key, row.line)
        if not told_apart:
            apart += [row.line] * (first != row.line)
            continue
        answer = answers.get((key, "" if rated else row.id))
        row_hash = hash(repr(cells))
        if answer is None:
            answer = RatedAnswer(row.line, row.id, hash(repr(_shared(row))))
            answers[key, "" if rated else row.id] = answer
            if first != row.line:
                apart.append(row.line)
        elif row_hash in answer.lines:
            single.repeats[row.line] = answer.lines[row_hash]
            continue
        else:
            if row.id != answer.id:
                numbered = numbered or (row.line, answer.line)
            ids_agree |= bool(row.id) and row.id == answer.id
            _refuse_contradiction(rows, row, answer, refuse)
            single.merged[row.line] = answer.line
            single.answers[answer.line] = answer
        answer.lines[row_hash] = row.line
        answer.add(row)
    if numbered and ids_agree:
        refuse(
            numbered[0],
            f"question, system and answer are those of line {numbered[1]}, and the id is another. If ids "
            "number the ratings, turn them off: --column id=. If they are of answers, name the system: "
            "--column system=NAME.",
        )
    if single.merged and single.repeats and not rated:
        line, same = next(iter(single.repeats.items()))
        refuse(
            line,
            f"the row is the same as line {same}, and other rows are single ratings of one answer: it may be "
            "another rater's rating, or a mistake. Name the column of the raters: --column worker=NAME; or "
            "take the row out.",
        )
    why = "their ids differ" if told_apart else "no column names the system"
    single.notes = [*_merged(single), *_apart(apart, why)]
    return single


def _merged(single: SingleRatings) -> list[str]:
    notes = []
    if single.merged:
        notes.append(
            f"{len(single.merged) + len(single.answers):,} rows are single ratings of "
            f"{len(single.answers):,} answers: question, system and answer are the same."
            + " The human score of an answer is their mean."
            * any(each.ratings for each in single.answers.values())
        )
    if single.repeats:
        line, same = next(iter(single.repeats.items()))
        notes.append(
            f"Rows that are the same as an earlier one in every cell count once: {len(single.repeats):,}, "
            f"the first in line {line}, as in line {same}."
        )
    return notes


def _apart(lines: list[int], why: str) -> list[str]:
    if not lines:
        return []
    return [
        f"Rows with the question and the answer of an earlier one: {len(lines):,}, the first in line "
        f"{lines[0]}. They count as separate answers, because {why}. If they are single ratings of one "
        "answer, name the column of the raters: --column worker=NAME."
    ]


def _refuse_contradiction(rows: Rows, row: Row, answer: RatedAnswer, refuse: Refuse) -> None:
    apart = (
        "if the answers are of different questions or systems, name what tells them apart: --column "
        "question_id=NAME or --column system=NAME; if no column names raters: --column worker=."
    )
    if hash(repr(_shared(row))) != answer.shared:
        earlier = _shared(next(each for each, _cells in rows() if each.line == answer.line))
        others = " and ".join(
            name for name, value in _shared(row).items() if repr(value) != repr(earlier[name])
        )
        refuse(
            row.line,
            f"question, system and answer are those of line {answer.line}, and {others} are not. Correct one "
            f"of the lines; or, {apart}",
        )
    if row.worker and any(rater == row.worker for rater, _score in answer.ratings):
        refuse(
            row.line,
            f"{row.worker!r} has rated the answer of line {answer.line} before. Keep one of the ratings; or, "
            f"{apart}",
        )


def _key(row: Row, has: Collection[str]) -> int:
    """What tells answers apart, but for their white space. Without ids and raters one text with other
    references is another question."""
    question = row.question_id if "question_id" in has else " ".join(row.question.split())
    others = () if {"worker", "question_id"} & set(has) else tuple(sorted(row.references))
    return hash((question, row.system, " ".join(row.answer.split()), others))


def _shared(row: Row) -> dict[str, Any]:
    return {name: getattr(row, name) for name in _SHARED}
