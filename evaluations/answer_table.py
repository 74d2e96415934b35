"""Answers with references and human scores: as rows, a chunk at a time, and in one pass as numbers."""

import math
from array import array
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from math import nan
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from core.files.reading import Reading
from evaluations.errors import EvaluationError
from metrics.metaeval.data import NO_RATINGS, JudgedPairs, Raters, ScoredAnswers
from metrics.texts import Answers
from metrics.tokens import is_unspaced

#: Answers that are in memory at a time.
CHUNK = 4096
#: What rows are named that have no system, in a table that names systems.
NO_SYSTEM = "(no system)"


#: Answer, rater, overall score, and scores of the aspects that the rater was asked about, by their names.
AspectRating = tuple[str, str, float, dict[str, float]]


@dataclass(slots=True)
class Row:
    """An answer as its table has it; `line` is its line there.

    `human` is the mean human score, nan where there is none; `ratings` are the single ratings behind it as
    far as they are known, each with its rater. `labels` are opinions of the references, parallel to them.
    `external` are scores that other tools gave, in the order in which they were asked for. `response_filter`
    names the filter that has taken single ratings out of `ratings` for being far from the others.
    `simulated`: a program gave its human score, or wrote it, in place of a person. `worker` is the rater of a
    row with a single rating.
    """

    line: int
    answer: str
    references: list[str]
    question: str = ""
    question_id: str = ""
    id: str = ""
    system: str = ""
    type: str = ""
    label: str = ""
    labels: list[str] = field(default_factory=list)
    entities: list[str] = field(default_factory=list)
    human: float = nan
    ratings: list[tuple[str, float]] = field(default_factory=list)
    external: tuple[float, ...] = ()
    response_filter: str = ""
    simulated: bool = False
    worker: str = ""


def simulation_of(table: "AnswerTable") -> Mapping[str, Any] | None:
    """What programs did in place of people in a table (`tables.simulation`); None where it does not say."""
    simulation: Mapping[str, Any] | None = getattr(table, "simulated", None)
    return simulation


def pairs_of(table: "AnswerTable") -> JudgedPairs | None:
    """The pairs of answers that people judged (`judged_pairs.PairedTable`), by the places of their rows."""
    pairs: JudgedPairs | None = getattr(table, "pairs", None)
    return pairs


class AnswerTable(Protocol):
    """A table of answers that can be read from its start any number of times.

    `title` says what was read, `description` how, `unit` what the numbers of its rows count. `has` are the
    fields that it has, by the names of docs/evaluate.md, `external` the names of scores of other tools.
    `scale` is the lowest and highest score that people could give, and `alpha` their agreement before and
    after filters, where known. `no_ratings` says why there are no single ratings to take a ceiling from,
    where that is known. `notes` are sentences for the reader about what was chosen.
    """

    title: str
    description: str
    unit: str
    has: frozenset[str]
    external: Sequence[str]
    scale: tuple[float, float] | None
    alpha: tuple[float | None, float | None] | None
    no_ratings: str
    notes: list[str]

    @property
    def reading(self) -> Reading | None:
        """What a file was read as; None for a release."""
        ...

    def rows(self) -> Iterator[Row]:
        """All rows in their order; EvaluationError where one cannot be read."""
        ...


@runtime_checkable
class AspectTable(Protocol):
    """A table that may know what raters said of aspects beside the overall score."""

    def aspect_ratings(self) -> Iterator[AspectRating]:
        """Single ratings with their aspects, in their order; none where no rater was asked about any."""
        ...


def chunks_of(
    table: AnswerTable, systems: Callable[[int, int], Sequence[str]] | None = None, size: int = CHUNK
) -> Iterator[Answers]:
    """All rows as answers to be scored, some thousands at a time.

    `systems` gives the names of the systems of the rows between two numbers, where they are known better than
    from the rows themselves.
    """
    done = 0
    for chunk in batches(table.rows(), size):
        yield answers_of(table.has, chunk, systems(done, done + len(chunk)) if systems else None)
        done += len(chunk)


def answers_of(has: Container[str], chunk: Sequence[Row], systems: Sequence[str] | None = None) -> Answers:
    """Rows of a table that `has` these fields as answers to be scored."""

    labels = "label" in has or "labels" in has
    if systems is None and "system" in has:
        systems = [row.system or NO_SYSTEM for row in chunk]
    return Answers(
        candidates=[row.answer for row in chunk],
        references=[row.references for row in chunk],
        questions=[row.question for row in chunk] if "question" in has else None,
        labels=[row.label for row in chunk] if labels else None,
        reference_labels=[row.labels for row in chunk] if labels else None,
        entities=[row.entities for row in chunk] if "entities" in has else None,
        systems=systems,
    )


def batches(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    """Rows in lists of a size; the last one may be shorter."""
    each = iter(rows)
    while batch := list(islice(each, size)):
        yield batch


#: Tables whose rows people write or give, with the words for them.
_WORDS = {"answers": "answers", "ratings": "ratings", "scores": "human scores", "responses": "responses"}


def simulated_of(manifest: Mapping[str, Any]) -> dict[str, Any] | None:
    """Rows that programs made, by table, with the sentence that warns of them; None where people did it all.

    A release from before rows were counted says only that programs took part.
    """
    if not manifest.get("simulated"):
        return None
    simulated_counts = manifest.get("simulated_rows")
    counted = simulated_counts if isinstance(simulated_counts, Mapping) else {}
    rows = {name: dict(counted[name]) for name in _WORDS if isinstance(counted.get(name), Mapping)}
    return {"what": _sentence(rows), "rows": rows}


def simulated_rows(count: int, total: int) -> dict[str, Any] | None:
    """The same of a plain table, of whose rows a column says so."""
    if not count:
        return None
    rows = {"rows": {"simulated": count, "of": total}}
    return {"what": _sentence(rows), "rows": rows}


def _sentence(rows: Mapping[str, Mapping[str, int]]) -> str:
    parts = [
        f"{each['simulated']:,} of {each['of']:,} {_WORDS.get(name, name)}" for name, each in rows.items()
    ]
    what = f": {', '.join(parts)}" if parts else ""
    return (
        f"SIMULATED DATA: programs took part in place of people{what}. "
        "These figures say nothing about people; do not use them as evidence."
    )


#: What a table says of ratings that no filter of single responses has been over.
UNFILTERED = frozenset({"", "none", "no", "0", "false"})


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
        """The codes of all rows (n), which no row is added to while they are used."""
        return np.frombuffer(self.of_rows, np.int32)

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

    def list_questions(self) -> QuestionColumns:
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
    numbers = np.empty(len(codes), dtype=np.int32)
    sizes = np.diff(np.r_[starts, len(codes)])
    numbers[order] = np.arange(len(codes)) - np.repeat(starts, sizes)
    return numbers


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
    `simulated` says what programs did in place of people, None where people did it all. `pairs` are those
    that people judged, None where they judged answers.
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
    pairs: JudgedPairs | None = None

    def __len__(self) -> int:
        return len(self.human)

    @property
    def scores_differ(self) -> bool:
        """Whether somebody gave another score than the others did."""
        low, high = _ends(self.human, self.raters)
        return low < high

    def join_scores(
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
            pairs=self.pairs,
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
    columns = teller.list_questions()
    marked = simulation_of(table) or simulated_rows(simulated, len(scores))
    notes = [*table.notes, *columns.notes]
    if marked and marked["what"] not in notes:
        notes.insert(0, marked["what"])
    ratings, rater_names, no_ratings = raters.collect_ratings()
    if ratings is not None and "response_filter" not in table.has:
        notes.append(ASSUMED)
    names = (
        _types(types, columns.questions, len(columns.question_names), notes) if "type" in table.has else []
    )
    return AnswerColumns(
        scores,
        columns.questions,
        columns.question_names,
        columns.systems,
        columns.system_names,
        columns.inferred,
        names,
        ratings,
        no_ratings or table.no_ratings or NO_RATINGS,
        rater_names,
        {name: np.array(values) for name, values in zip(table.external, external, strict=True)},
        table.scale or _scale(scores, ratings, notes),
        notes,
        unspaced,
        marked,
        pairs_of(table),
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

    def collect_ratings(self) -> tuple[Raters | None, list[str], str]:
        """The ratings, the names of their raters, and why there are none to be used."""
        if self.filters:
            return None, [], FILTERED.format(", ".join(sorted(self.filters)))
        if not len(self.answers):
            return None, [], ""
        workers, names = self.workers.in_order()
        # Columns of millions are not copied: nothing is added any more.
        answers, scores = np.frombuffer(self.answers, np.int32), np.frombuffer(self.scores, np.float64)
        return Raters(answers, workers, scores), names, ""


def _types(types: Keys, questions: Codes, size: int, notes: list[str]) -> list[str]:
    """The type of each question: the one that most of its rows have, of several the first by name."""
    codes, names = in_order(types.codes, types.names)
    pairs, counts = np.unique(questions.astype(np.int64) * len(names) + codes, return_counts=True)
    owners = pairs // len(names)
    if len(np.unique(owners)) < len(owners):
        notes.append("Some questions have rows of different types; the type of most of their rows counts.")
    best = np.lexsort((pairs, -counts, owners))
    first = np.r_[True, owners[best][1:] != owners[best][:-1]]
    best_pairs = pairs[best][first]
    type_names = [""] * size
    for pair in best_pairs.tolist():
        type_names[pair // len(names)] = names[pair % len(names)]
    return type_names


def _ends(scores: Floats, raters: Raters | None) -> tuple[float, float]:
    """The lowest and the highest score that somebody gave."""
    low, high = float(np.nanmin(scores)), float(np.nanmax(scores))
    if raters is not None:
        low, high = min(low, float(raters.scores.min())), max(high, float(raters.scores.max()))
    return low, high


def _scale(scores: Floats, raters: Raters | None, notes: list[str]) -> tuple[float, float]:
    """From the lowest to the highest score; one more than the only one there is, for what needs a scale."""
    low, high = _ends(scores, raters)
    if low == high:
        notes.append(f"All human scores are {low:g}, so their scale is unknown. Say it: --scale LOW-HIGH.")
        return low, low + 1
    notes.append(
        f"The scale of the human scores was taken from the data: {low:g} to {high:g}. If people could give "
        "lower or higher scores, say so: --scale LOW-HIGH."
    )
    return low, high
