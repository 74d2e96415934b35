"""The first pass over a table: human scores, questions, systems and references as numbers."""

import ast
import io
import json
import math
import re
import tokenize
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from core.files.cells import MISSING, parse_flag
from evaluations.errors import EvaluationError
from evaluations.tables import NO_SYSTEM, AnswerTable, Row, simulated_rows, simulation_of
from metrics.metaeval.data import NO_RATINGS, Raters, ScoredAnswers
from metrics.tokens import is_unspaced

#: What a table says of ratings that no filter of single responses has been over.
UNFILTERED = frozenset({"", "none", "no", "0", "false"})
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_BETWEEN = re.compile(r"\s*[|;]\s*|\s+")
_TEXT = ("text", "answer", "value")
_OPINION = ("opinion", "label")
_DEEPEST = 8
_SHOWN = 40


class ValueRefusedError(ValueError):
    """Why a cell cannot be taken, in words: what it is, and what it should be."""


def text_of(value: Any) -> str:
    """A text as it is there; numbers as they are written."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    raise ValueRefusedError(f"{shown(value)} is no text")


def flag_of(value: Any) -> bool:
    """Whether something is so; nothing is no."""
    flag = parse_flag(value)
    if flag is None:
        raise ValueRefusedError(f"{shown(value)} is neither true nor false")
    return flag


def texts_of(value: Any) -> list[tuple[str, str]]:
    """Texts with their opinions, which may be empty: of a text, a list, nested lists, or objects with a text.

    A text that is a JSON list, or a list as Python prints it, is the list.
    """
    if isinstance(value, str):
        listed = list_in(value)
        value = value if listed is None else listed
    return list(_flat(value, 0))


def opinions_of(value: Any) -> list[str]:
    """Opinions, of which some may be empty: a list of them, or a single one."""
    return [text.strip() for text, _ in texts_of(value)]


def _flat(value: Any, depth: int) -> Iterator[tuple[str, str]]:
    if depth > _DEEPEST:
        raise ValueRefusedError("the list is nested too deeply")
    if isinstance(value, list | tuple):
        for each in value:
            yield from _flat(each, depth + 1)
    elif isinstance(value, dict):
        name = next((name for name in _TEXT if name in value), None)
        if name is None:
            raise ValueRefusedError(f"{shown(value)} has no member 'text'")
        opinion = next((value[name] for name in _OPINION if isinstance(value.get(name), str)), "")
        yield from ((text, own or opinion) for text, own in _flat(value[name], depth + 1))
    else:
        yield text_of(value), ""


def list_in(text: str) -> list[Any] | None:
    """The list that a text is, as JSON or as Python prints it; None for any other text."""
    bare = text.strip()
    if not (bare.startswith("[") and bare.endswith("]")):
        return None
    try:
        value = json.loads(bare)
    except (ValueError, RecursionError):
        return _python_list(bare)
    return value if isinstance(value, list) else None


def _python_list(text: str) -> list[Any] | None:
    """As pandas writes lists into a CSV file, not as numpy does: without commas."""
    try:
        value = ast.literal_eval(text)
        strings = sum(
            token.type == tokenize.STRING for token in tokenize.generate_tokens(io.StringIO(text).readline)
        )
    except (ValueError, SyntaxError, RecursionError, MemoryError, tokenize.TokenError):
        return None
    if not isinstance(value, list) or strings != sum(isinstance(each, str) for each in _leaves(value)):
        return None
    return value


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each)
    else:
        yield value


def number_of(value: Any, *, comma: bool = False) -> float | None:
    """The finite number that a cell is, None where it is empty; `comma` reads 2,5 as two and a half."""
    if isinstance(value, str):
        bare = value.strip()
        if bare.casefold() in MISSING:
            return None
        if _DECIMAL_COMMA.fullmatch(bare):
            if not comma:
                raise ValueRefusedError(
                    f"{shown(bare)} may have a decimal comma, or be two numbers. Write 2.5, or [2, 5]"
                )
            bare = bare.replace(",", ".")
        try:
            number = float(bare) if "_" not in bare else math.nan
        except ValueError:
            raise ValueRefusedError(f"{shown(value)} is no number") from None
        if math.isnan(number):
            raise ValueRefusedError(f"{shown(value)} is no number")
    elif value is None:
        return None
    elif isinstance(value, bool):
        return float(value)
    elif isinstance(value, int | float):
        number = float(value)
        if math.isnan(number):
            return None
    else:
        raise ValueRefusedError(f"{shown(value)} is no number")
    if math.isinf(number):
        raise ValueRefusedError(f"{shown(value)} is not finite")
    return number


def ratings_of(value: Any, *, comma: bool = False) -> list[tuple[str, float]] | None:
    """Single ratings with their raters, where a cell holds several; None where it is one number or empty.

    A list, a text that is a list, or numbers with white space, a bar or a semicolon between them.
    Ratings without a rater's name are those of the first, the second … rater. A list may hold objects
    `{"worker": …, "score": …}`.
    """
    if isinstance(value, str):
        listed = list_in(value)
        if listed is None:
            parts = _BETWEEN.split(value.strip())
            if len(parts) < 2 or not all(_is_number(part, comma=comma) for part in parts):
                return None
            listed = parts
    elif isinstance(value, list | tuple):
        listed = list(value)
    else:
        return None
    found = []
    for place, each in enumerate(listed, 1):
        rater, score = str(place), each
        if isinstance(each, dict):
            score = next((each[name] for name in ("score", "rating", "value") if name in each), None)
            given = next(
                (each[name] for name in ("worker", "rater", "annotator", "judge") if each.get(name)), ""
            )
            rater = text_of(given) or rater
        number = number_of(score, comma=comma)
        if number is not None:
            found.append((rater, number))
    return found


def _is_number(text: str, *, comma: bool) -> bool:
    try:
        number_of(text, comma=comma)
    except ValueRefusedError:
        return False
    return True


def shown(value: Any) -> str:
    """A value for a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
#: Longer texts are named by their beginning and a digest, so that memory does not grow with them.
_LONGEST_NAME = 80
_DIGEST = 8


class Keys:
    """Codes from 0 for texts as they come, and a name for each."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self.of_rows = array("i")

    def add(self, text: str) -> None:
        """The code of one more row."""
        self.of_rows.append(self._codes.setdefault(text, len(self._codes)))

    def __len__(self) -> int:
        return len(self._codes)

    @property
    def codes(self) -> Codes:
        """The codes of all rows (n)."""
        return np.array(self.of_rows, dtype=np.int32)

    @property
    def names(self) -> list[str]:
        """What the codes stand for."""
        return list(self._codes)

    def in_order(self) -> tuple[Codes, list[str]]:
        """Codes in the order of the names, which is the same whatever the order of the rows."""
        return in_order(self.codes, self.names)


def in_order(codes: Codes, names: Sequence[str]) -> tuple[Codes, list[str]]:
    """Codes numbered again in the order of their names."""
    order = sorted(range(len(names)), key=names.__getitem__)
    places = np.empty(len(names), dtype=np.int32)
    places[order] = np.arange(len(names), dtype=np.int32)
    return places[codes], [names[place] for place in order]


@dataclass(frozen=True, slots=True, eq=False)
class QuestionColumns:
    """Questions and systems of n answers, and what must be said about how they were found."""

    questions: Codes
    question_names: list[str]
    systems: Codes
    system_names: list[str]
    inferred: bool
    notes: list[str]


class Teller:
    """Hears of all rows, then says which question and which system each row belongs to."""

    def __init__(self, has: frozenset[str]) -> None:
        self.has = has
        self.ids, self.systems = Keys(), Keys()
        self.texts, self.items = Keys(), Keys()
        self.n = 0

    def add(self, row: Row) -> None:
        """One more row."""
        self.n += 1
        text = " ".join(row.question.split())
        references = blake2b(
            "\0".join(sorted(" ".join(each.split()) for each in row.references)).encode(
                "utf-8", "surrogatepass"
            ),
            digest_size=_DIGEST,
        ).hexdigest()
        self.texts.add(_name(text) if text else f"(no question, references {references})")
        self.items.add(f"{_name(text)} (references {references})")
        if "question_id" in self.has:
            self.ids.add(row.question_id or f"(no id) {_name(text)}")
        elif "id" in self.has:
            self.ids.add(row.id or f"(no id) {_name(text)}")
        if "system" in self.has:
            self.systems.add(row.system or NO_SYSTEM)

    def told(self) -> QuestionColumns:
        """What was found when all rows were heard."""
        notes: list[str] = []
        questions = self._questions(notes)
        if "system" in self.has:
            systems, names = self.systems.in_order()
            return QuestionColumns(*questions.in_order(), systems, names, inferred=False, notes=notes)
        count = uniform(questions.codes, len(questions))
        codes, names = questions.in_order()
        if count > 1:
            width = len(str(count))
            systems = occurrence(questions.codes)
            return QuestionColumns(
                codes, names, systems, [f"system {k:0{width}d}" for k in range(1, count + 1)], True, notes
            )
        notes.append(
            "There is no column for the system, and the order of the rows does not tell systems apart: all "
            "answers are taken to be of one system. If they are not, name the column: --column system=NAME."
        )
        return QuestionColumns(codes, names, np.zeros(self.n, dtype=np.int32), ["all answers"], False, notes)

    def _questions(self, notes: list[str]) -> Keys:
        """The keys that tell questions apart."""
        if "question_id" in self.has:
            if "question" in self.has and self._pairs(self.ids, self.texts) > len(self.ids):
                notes.append(
                    "Some question ids come with several texts; the ids decide which answers belong together."
                )
            return self.ids
        if "id" in self.has and self._ids_are_of_questions():
            return self.ids
        if "question" not in self.has:
            notes.append(
                "There is no column for the question: answers with the same references are taken to be "
                "answers to the same question. If that is wrong, name a column: --column question_id=NAME."
            )
            return self.texts
        if self._texts_fit():
            return self.texts
        shared = len(self.items) - len(self.texts)
        notes.append(
            f"Some questions have the same text but other references ({shared:,} more questions than texts): "
            "they are taken to be different questions. If they are not, or to be sure, give ids: "
            "--column question_id=NAME."
        )
        return self.items

    def _ids_are_of_questions(self) -> bool:
        """Whether a column named id tells questions apart, not rows: it repeats, always with one text."""
        return len(self.ids) < self.n and self._pairs(self.ids, self.texts) == len(self.ids)

    def _pairs(self, a: Keys, b: Keys) -> int:
        return len(np.unique(a.codes.astype(np.int64) * len(b) + b.codes))

    def _texts_fit(self) -> bool:
        """Whether a text is one question: it has the same references, or one answer of each system."""
        if len(self.items) == len(self.texts):
            return True
        if "system" in self.has:
            return self._pairs(self.systems, self.texts) == self.n
        by_text = uniform(self.texts.codes, len(self.texts))
        return by_text > 1 and uniform(self.items.codes, len(self.items)) <= 1


def uniform(codes: Codes, size: int) -> int:
    """How many times every code occurs, 0 if not all occur equally often."""
    counts = np.bincount(codes, minlength=size)
    return int(counts[0]) if len(counts) and (counts == counts[0]).all() else 0


def occurrence(codes: Codes) -> Codes:
    """For each row, how many rows before it have its code (n)."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    found = np.empty(len(codes), dtype=np.int32)
    sizes = np.diff(np.r_[starts, len(codes)])
    found[order] = np.arange(len(codes)) - np.repeat(starts, sizes)
    return found


def _name(text: str) -> str:
    if len(text) <= _LONGEST_NAME:
        return text
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).hexdigest()
    return f"{text[: _LONGEST_NAME - 20]}… {digest}"


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
