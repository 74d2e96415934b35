"""A table of judged pairs: which column holds what, and each row as a comparison (docs/preferences.md)."""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core.files.reading import NAMES, Reading, plain_name
from core.files.refusals import RowCounts
from core.files.sheets import Sheet, open_sheet
from core.files.text_source import TextSource
from judgments.rating_source import means_yes, number, short
from judgments.table_columns import find_column, refuse_unknown_fields
from metrics.preferences.comparisons import FIRST, SECOND, TIE, Comparisons, Floats

#: What a table may tell of a pair.
FIELDS = ("item", "left", "right", "winner", "worker", "simulated")
_ITEM = (("item", "item_id"), NAMES["question_id"], ("topic", "topic_id"), NAMES["question"])
_WINNER = (("winner",), ("preference", "preferred", "choice", "outcome", "verdict", "label"))
_SIDES = {"left": ("a", "1", "left", "first"), "right": ("b", "2", "right", "second")}
_SYSTEM, _ANSWER = ("system", "model", "method"), ("response", "answer", "output", "completion", "text")
#: What the winner is called, but by its name.
WINNER_WORDS = {
    FIRST: {"left", "a", "first", "l", "1", "response_a", "answer_a", "system_a", "model_a", "assistant_a"},
    SECOND: {
        "right",
        "b",
        "second",
        "r",
        "2",
        "response_b",
        "answer_b",
        "system_b",
        "model_b",
        "assistant_b",
    },
    TIE: {
        "tie",
        "n",
        "neither",
        "none",
        "equal",
        "same",
        "draw",
        "no_preference",
        "both",
        "both_good",
        "tied",
    },
}
BOTH_BAD = {"both_bad", "bothbad", "tie_bothbad", "tie_both_bad", "both_are_bad"}
#: What a cell may be beside the outcomes of comparisons.
_BOTH_BAD, _UNANSWERED, _UNKNOWN, _CONTRADICTION = 3, 4, 5, 6
Codes = npt.NDArray[np.int64]
_REMEDY = "Write left, right, tie or both_bad, or the name of one of the two."


@dataclass(frozen=True, slots=True, eq=False)
class PairTable:
    """What a file of judged pairs holds: for each question that was asked, its comparisons.

    `items` are by question the names of what its comparisons have as codes. `counts` has by question how many
    judgments there are, and how many of them say nothing about two systems.
    """

    comparisons: Mapping[str, Comparisons]
    items: Mapping[str, Sequence[str]]
    counts: Mapping[str, Mapping[str, Any]]
    reading: Reading
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Question:
    """The answers to one question about pairs, row by row; `_UNANSWERED` for an empty cell."""

    column: str
    place: int
    outcomes: "array[int]" = field(default_factory=lambda: array("b"))
    both_bad: int = 0


def read_pairs(
    path: Path,
    *,
    columns: Mapping[str, str],
    winners: Sequence[str] = (),
    systems: Path | None = None,
    styles: Sequence[str] = (),
    encoding: str = "",
    sheet: str = "",
    header_row: int = 0,
) -> PairTable:
    """Reads a file of judged pairs. `columns` says which column holds what, `winners` the questions asked.

    `systems` is a table with the columns `response` and `system`: which answer is of which system. `styles`
    name columns of it with a number for each answer, or pairs of columns of the file, such as `length_left`
    and `length_right`. FileRefusedError, with file, line, field and remedy, for what cannot be read.
    """
    refuse_unknown_fields(columns, FIELDS)
    usual_names = {plain_name(name) for name in (*columns.values(), *winners)}
    for roles in (_ITEM, _WINNER, _side_names("left"), _side_names("right"), (NAMES["worker"],)):
        usual_names |= {name for names in roles for name in names}
    source = TextSource(path, name=str(path), encoding=encoding, sheet=sheet)
    table = open_sheet(source, column_names=usual_names, header_row=header_row)
    answers = _Answers.read(systems, styles) if systems else None
    return _Reader(table, columns, winners, answers, styles).read()


def _side_names(side: str) -> tuple[tuple[str, ...], ...]:
    """Names of the column of a side: its own, that of a system there, that of an answer there."""
    places = _SIDES[side]

    def of(things: Sequence[str]) -> tuple[str, ...]:
        return tuple(
            name for thing in things for place in places for name in (f"{thing}_{place}", f"{place}_{thing}")
        )

    return (side,), of(_SYSTEM), of(_ANSWER), (places[0],)


@dataclass(frozen=True, slots=True)
class _Answers:
    """Of which system each answer is, and its numbers of style."""

    file: str
    systems: Mapping[str, str]
    styles: Mapping[str, Mapping[str, float]]

    @classmethod
    def read(cls, path: Path, styles: Sequence[str]) -> "_Answers":
        table = open_sheet(TextSource(path, name=str(path)), column_names={"response", "system"})
        response = find_column(table, "response", (("response",), NAMES["id"], _ANSWER), {})
        system = find_column(table, "system", (NAMES["system"],), {})
        names = [plain_name(name) for name in table.columns]
        places = {style: names.index(plain_name(style)) for style in styles if plain_name(style) in names}
        systems: dict[str, str] = {}
        numbers: dict[str, dict[str, float]] = {style: {} for style in places}
        for line, cells in table.rows():
            answer, name = cells[response].strip(), cells[system].strip()
            if not answer or not name:
                raise table.error("an answer and its system are needed, and one is empty.", line=line)
            if systems.setdefault(answer, name) != name:
                raise table.error(
                    f"the answer {short(answer)} is of {short(systems[answer])} above, and here of "
                    f"{short(name)}. Leave one line.",
                    line=line,
                )
            for style, place in places.items():
                numbers[style][answer] = _number(table, cells[place], style, line)
        return cls(str(path), systems, numbers)


def _number(table: Sheet, text: str, style: str, line: int) -> float:
    value = number(text.strip())
    if value is None or value < 0:
        raise table.error(
            f"{style} is {short(text)}. Write a number from 0, such as a length or a count.", line=line
        )
    return value


class _Reader:
    """From rows to comparisons, once."""

    def __init__(
        self,
        table: Sheet,
        columns: Mapping[str, str],
        winners: Sequence[str],
        answers: _Answers | None,
        styles: Sequence[str],
    ) -> None:
        self.table, self.answers, self.styles = table, answers, styles
        self.item = find_column(table, "item", _ITEM, columns)
        sides = [_side_names(side) for side in ("left", "right")]
        if answers is not None:  # answers are what the table of systems knows
            sides = [(own, by_answer, by_system, letter) for own, by_system, by_answer, letter in sides]
        self.left, self.right = (
            find_column(table, role, groups, columns)
            for role, groups in zip(("left", "right"), sides, strict=True)
        )
        self.worker = find_column(table, "worker", (NAMES["worker"],), columns, needed=False)
        self.simulated = find_column(table, "simulated", (NAMES["simulated"],), columns, needed=False)
        self.questions = [
            _Question(table.columns[place], place)
            for name in (winners or ("",))
            for place in [find_column(table, "winner", _WINNER, {"winner": name} if name else columns)]
        ]
        repeated = [
            name for name, times in Counter(each.column for each in self.questions).items() if times > 1
        ]
        if repeated:
            raise table.error(f"--winner names the column {repeated[0]!r} twice. Name each once.")
        self.style_places = [self._places_of(style) for style in styles]
        self.items, self.workers, self.answers_seen = (_Codes() for _ in range(3))
        #: Of each row the codes of item, worker, and the answers at the left and the right.
        self.rows = array("q")
        self.style_values: list[list[float]] = []
        self.n_rows = self.n_simulated = 0

    def _places_of(self, style: str) -> tuple[int, int] | None:
        """Columns with a number of style for either side; None where the table of systems has it."""
        if self.answers is not None and style in self.answers.styles:
            return None
        names = [plain_name(name) for name in self.table.columns]
        for left, right in zip(*_SIDES.values(), strict=True):
            for form in ("{style}_{side}", "{side}_{style}"):
                pair = [form.format(style=plain_name(style), side=side) for side in (left, right)]
                if all(name in names for name in pair):
                    return names.index(pair[0]), names.index(pair[1])
        elsewhere = f", or in {self.answers.file}" if self.answers else ""
        raise self.table.error(
            f"there are no columns for the style {style!r}. It needs a number for each side, in columns such "
            f"as {style}_left and {style}_right{elsewhere}.",
            line=self.table.header_row,
        )

    def read(self) -> PairTable:
        for line, cells in self.table.rows():
            self._take(line, cells)
        if not self.n_rows:
            raise self.table.error("it has a header but no pairs under it.")
        rows = np.frombuffer(self.rows, dtype=np.int64).reshape(-1, 4)
        comparisons, items = {}, {}
        for each in self.questions:
            comparisons[each.column], items[each.column] = self._comparisons(each, rows)
        counts = {
            each.column: self._counts(each, rows, len(comparisons[each.column])) for each in self.questions
        }
        return PairTable(
            comparisons,
            items,
            counts,
            self.table.reading(dict(self._columns()), RowCounts(rows_read=self.n_rows, used=self.n_rows)),
            tuple(self._notes(rows, counts)),
        )

    def _columns(self) -> Iterator[tuple[str, list[str]]]:
        names = self.table.columns
        for role in ("item", "left", "right", "worker", "simulated"):
            if (place := getattr(self, role)) >= 0:
                yield role, [names[place]]
        yield "winner", [each.column for each in self.questions]
        for style, places in zip(self.styles, self.style_places, strict=True):
            if places is not None:
                yield f"style {style}", [names[place] for place in places]

    def _take(self, line: int, cells: Sequence[str]) -> None:
        item, left, right = (cells[place].strip() for place in (self.item, self.left, self.right))
        for role, text in (("item", item), ("left", left), ("right", right)):
            if not text:
                raise self.table.error(f"the {role} is empty. Every pair needs one.", line=line)
        worker = cells[self.worker].strip() if self.worker >= 0 else ""
        if self.worker >= 0 and not worker:
            raise self.table.error("the worker is empty. Every judgment needs one.", line=line)
        self.n_rows += 1
        if self.simulated >= 0:
            self.n_simulated += means_yes(cells[self.simulated].strip())
        systems = self._system(line, left), self._system(line, right)
        self.rows.extend(
            (self.items[item], self.workers[worker], self.answers_seen[left], self.answers_seen[right])
        )
        if self.styles:
            self.style_values.append(self._styles(line, cells, left, right))
        for question in self.questions:
            text = cells[question.place].strip()
            outcome = _outcome_of(text, (left, right), systems) if text else _UNANSWERED
            if outcome in (_UNKNOWN, _CONTRADICTION):
                raise self._outcome_error(line, question, text, outcome)
            question.both_bad += outcome == _BOTH_BAD
            question.outcomes.append(TIE if outcome == _BOTH_BAD else outcome)

    def _system(self, line: int, answer: str) -> str:
        if self.answers is None:
            return answer
        try:
            return self.answers.systems[answer]
        except KeyError:
            raise self.table.error(
                f"{self.answers.file} does not say of which system the answer {short(answer)} is. Add it.",
                line=line,
            ) from None

    def _styles(self, line: int, cells: Sequence[str], left: str, right: str) -> list[float]:
        """(a - b) / (a + b) of each number of style; 0 where both are 0."""
        values = []
        for style, places in zip(self.styles, self.style_places, strict=True):
            if places is None:
                assert self.answers is not None
                sides = [self.answers.styles[style][answer] for answer in (left, right)]
            else:
                sides = [_number(self.table, cells[place], style, line) for place in places]
            total = sides[0] + sides[1]
            values.append((sides[0] - sides[1]) / total if total else 0.0)
        return values

    def _outcome_error(self, line: int, question: _Question, text: str, outcome: int) -> Exception:
        if outcome == _UNKNOWN:
            why = f"the {question.column} {short(text)} is not known. {_REMEDY}"
        else:
            why = (
                f"the {question.column} {short(text)} may be the side, or the name of the one at the other "
                "side. Write left, right or tie."
            )
        return self.table.error(why, line=line)

    def _comparisons(self, question: _Question, rows: Codes) -> tuple[Comparisons, Sequence[str]]:
        """With codes in the order of names, so that no figure depends on that of rows; names of items."""
        names = sorted({self._system(0, answer) for answer in self.answers_seen})
        place = {name: at for at, name in enumerate(names)}
        system_of = np.array([place[self._system(0, answer)] for answer in self.answers_seen], dtype=np.int64)
        outcomes = np.frombuffer(question.outcomes, dtype=np.int8).astype(np.int64)
        systems = system_of[rows[:, 2:]]
        compared = (outcomes != _UNANSWERED) & (systems[:, 0] != systems[:, 1])
        items, item_names = _ranked(rows[compared, 0], self.items)
        workers, _ = _ranked(rows[compared, 1], self.workers)
        columns = np.column_stack((items, workers, systems[compared], outcomes[compared]))
        return Comparisons.of(names, columns, self._standardised(compared)), item_names

    def _standardised(self, compared: npt.NDArray[np.bool_]) -> Floats:
        if not self.styles:
            return np.zeros((int(compared.sum()), 0))
        styles = np.array(self.style_values, dtype=np.float64)[compared]
        if not len(styles):
            return styles
        spread = styles.std(axis=0)
        if not spread.all():
            style = self.styles[int(np.flatnonzero(spread == 0)[0])]
            raise self.table.error(
                f"the style {style!r} differs between the sides in the same way in every pair, so it has no "
                f"effect to find. Leave out --style {style}."
            )
        standardised: Floats = (styles - styles.mean(axis=0)) / spread
        return standardised

    def _counts(self, question: _Question, rows: Codes, n_compared: int) -> dict[str, Any]:
        outcomes = np.frombuffer(question.outcomes, dtype=np.int8)
        judged = int((outcomes != _UNANSWERED).sum())
        ties = int((outcomes == TIE).sum())
        pairs = _joined(rows[:, 0], rows[:, 2], rows[:, 3])
        return {
            "judgments": judged,
            "pairs": len(np.unique(pairs)),
            "items": len(self.items),
            "unanswered": self.n_rows - judged,
            "ties": ties,
            "both_bad": question.both_bad,
            "ties_share": ties / judged if judged else None,
            "left_of_decided": int((outcomes == FIRST).sum()) / (judged - ties) if judged > ties else None,
            "same_system": judged - n_compared,
            "comparisons_of_different_systems": n_compared,
        }

    def _notes(self, rows: Codes, counts: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
        yield from self.table.notes()
        yield from self.table.doubts("say what it is: --encoding NAME")
        if self.n_simulated:
            yield (
                f"SIMULATED DATA: programs gave {self.n_simulated:,} of {self.n_rows:,} judgments in place "
                "of people. These figures say nothing about people; do not use them as evidence."
            )
        item, worker, left, right = rows.T
        pair = np.minimum(left, right), np.maximum(left, right)
        again = self.n_rows - len(np.unique(_joined(item, worker, *pair)))
        if again and self.worker >= 0:
            yield f"{again:,} rows are a worker's further judgment of the same pair; all of them count."
        if self.worker < 0:
            yield "No column names the judges, so all judgments are taken for one judge's."
        for column, count in counts.items():
            if count["unanswered"]:
                yield f"{column}: {count['unanswered']:,} cells are empty, and left out."
            if count["both_bad"]:
                yield f"{column}: {count['both_bad']:,} answers are “both bad”, and count as ties."
            if count["same_system"]:
                yield (
                    f"{column}: {count['same_system']:,} judgments compare a system with itself, and say "
                    "nothing about strengths."
                )


class _Codes(dict[str, int]):
    """A number for each text, in the order in which they come."""

    def __missing__(self, text: str) -> int:
        self[text] = code = len(self)
        return code


def _ranked(codes: Codes, names: Iterable[str]) -> tuple[Codes, Sequence[str]]:
    """The places of codes among those that are there, in the order of their names, and these names."""
    used, places = np.unique(codes, return_inverse=True)
    of_code = list(names)
    used_names = [of_code[code] for code in used]
    ranks = np.argsort(np.argsort(np.array(used_names)))
    ranked: Codes = ranks[places.reshape(-1)] if len(used) else codes
    return ranked, sorted(used_names)


def _joined(*columns: Codes) -> Codes:
    """One number for each row of codes, equal for equal rows."""
    joined = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        joined = np.unique(joined * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[
            1
        ].reshape(-1)
    return joined


@lru_cache(maxsize=1 << 16)
def _outcome_of(text: str, answers: tuple[str, str], systems: tuple[str, str]) -> int:
    """Who won: by the name of an answer or its system, else by a word for the side or for a tie."""
    word = re.sub(r"[()]", "", plain_name(text)).strip("_")
    by_word = next((outcome for outcome, words in WINNER_WORDS.items() if word in words), None)
    by_name = {
        outcome
        for names in (answers, systems)
        for outcome, name in zip((FIRST, SECOND), names, strict=True)
        if name.casefold() == text.casefold()
    }
    if len(by_name) > 1:  # a system is compared with itself, which says nothing, whatever the winner
        return TIE
    if by_name:
        (outcome,) = by_name
        return outcome if by_word in (None, outcome) else _CONTRADICTION
    if word in BOTH_BAD:
        return _BOTH_BAD
    return _UNKNOWN if by_word is None else by_word
