"""Tables of scored answers to train on, with scores of metrics that need no training, split into parts."""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from core.files.reading import Reading
from distillery_learned.metrics.adem_examples import REFERENCE, RatedResponse, turns
from evaluations.answer_table import AnswerColumns, AnswerTable, Row, gather
from evaluations.choices import MetricChoice, choose, scoring_processes
from evaluations.errors import EvaluationError
from evaluations.scores import Progress, scored
from metrics.errors import MetricError
from metrics.metaeval.data import Codes, ScoredAnswers
from metrics.texts import Places

NO_SCORE, NO_REFERENCE, NO_ANSWER = "no human score", "no reference", "no answer"
ALL = "all answers"
#: Fields that a table of many has only if every one of them has it.
_EVERYWHERE = ("label", "labels", "entities", "question")
FEWEST = 10
Open = Callable[[str], AbstractContextManager[AnswerTable]]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row is: the number of its source, its line there, its id, and whether it is used."""

    source: int
    line: int
    id: str
    used: bool


@dataclass(frozen=True, slots=True)
class Source:
    """What was read: `files` are its files with their SHA-256."""

    title: str
    description: str
    unit: str
    rows: int
    used: int
    left_out: Mapping[str, int]
    files: Mapping[str, str]

    def card(self) -> dict[str, object]:
        """As a model's card has it."""
        return {
            "title": self.title,
            "rows": self.rows,
            "used": self.used,
            "left_out": dict(self.left_out),
            "files": dict(self.files),
        }


@dataclass(slots=True, eq=False)
class MemoryTable:
    """Rows in memory as a table (`evaluations.answer_table.AnswerTable`)."""

    title: str
    description: str
    stored_rows: Sequence[Row]
    has: frozenset[str]
    scale: tuple[float, float] | None
    notes: list[str]
    unit: str = ""
    external: Sequence[str] = ()
    alpha: tuple[float | None, float | None] | None = None
    no_ratings: str = ""
    reading: Reading | None = None

    def rows(self) -> Iterator[Row]:
        """All rows in their order."""
        return iter(self.stored_rows)


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """Scored answers: `examples` are parallel to the rows of `table`, `contexts` (n) to both.

    Answers to one question have one context, and so have answers to questions of the same text: what is
    trained reads nothing else of a question.
    """

    table: MemoryTable
    examples: Sequence[RatedResponse]
    contexts: Codes
    places: Sequence[Place]
    sources: Sequence[Source]

    def __len__(self) -> int:
        return len(self.examples)

    @property
    def has_systems(self) -> bool:
        """Whether the tables say which system gave an answer."""
        return "system" in self.table.has

    @property
    def left_out(self) -> dict[str, int]:
        """How many rows are not used, by reason."""
        counts: Counter[str] = Counter()
        for source in self.sources:
            counts.update(source.left_out)
        return dict(counts)


def read(names: Sequence[str], open_: Open, *, which: Sequence[str] = (REFERENCE,)) -> Material:
    """Everything that the named tables have, one after another, for the forms of `which`.

    EvaluationError where a table cannot be read, where too few contexts or a single score are left, or where
    a form compares with the question and there is none.
    """
    reading = _SourceReader(many=len(names) > 1)
    for name in names:
        with open_(name) as table:
            reading.add(name, table)
    material = reading.material()
    _check_questions(material, [form for form in which if form != REFERENCE])
    return material


def _check_questions(material: Material, forms: Sequence[str]) -> None:
    """EvaluationError without any question for these forms; a note where some answers have none."""
    lacking = sum(not example.context for example in material.examples)
    if not forms or not lacking:
        return
    names = " and ".join(form.upper() for form in forms)
    verb = "learns" if len(forms) == 1 else "learn"
    if lacking == len(material):
        raise EvaluationError(
            f"{names} {verb} from the question, and {material.table.title} has none. Name its column: "
            "--column question=NAME; or train the form that needs no question: --which r-adem."
        )
    material.table.notes.append(
        f"{lacking:,} of {len(material):,} answers have no question: {names} {verb} nothing from them."
    )


@dataclass(eq=False)
class _SourceReader:
    """Takes tables one after another."""

    many: bool
    rows: list[Row] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    tables: list[frozenset[str]] = field(default_factory=list)
    scales: list[tuple[float, float] | None] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, name: str, table: AnswerTable) -> None:
        number = len(self.sources)
        left: Counter[str] = Counter()
        count = 0
        for row in table.rows():
            count += 1
            why = _unusable(row)
            self.places.append(Place(number, row.line, row.id, not why))
            if why:
                left[why] += 1
            else:
                self.rows.append(self._named(row, number))
        if not count:
            raise EvaluationError(f"{table.title} has no answers.")
        used = count - sum(left.values())
        if left[NO_SCORE] == count:
            raise EvaluationError(
                f"{table.title}: no answer has a human score, so there is nothing to learn from. Is another "
                "column the right one? --column scores=NAME."
            )
        if not used:
            raise EvaluationError(
                f"{table.title}: no answer has both a human score and a reference. Is another column the "
                "right one? --column reference1=NAME."
            )
        self.sources.append(
            Source(table.title, table.description, table.unit, count, used, dict(left), digests(Path(name)))
        )
        self.tables.append(table.has)
        self.scales.append(table.scale)
        self.notes += table.notes

    def _named(self, row: Row, number: int) -> Row:
        """The row with ids that no other table has."""
        if not self.many:
            return row
        return replace(
            row,
            id=f"{number + 1}: {row.id}" if row.id else "",
            question_id=f"{number + 1}: {row.question_id}" if row.question_id else "",
        )

    def material(self) -> Material:
        has = frozenset[str]().union(*self.tables)
        has -= {each for each in _EVERYWHERE if not all(each in table for table in self.tables)}
        rows = self.rows
        contexts, names = contexts_of(rows, has)
        count = len(names)
        if count < FEWEST:
            raise EvaluationError(
                f"There are scored answers to {count} questions, and at least {FEWEST} are needed: "
                "some to train on, others to test."
            )
        if len({row.human for row in rows}) == 1:
            raise EvaluationError(
                f"All human scores are {rows[0].human:g}: there is nothing to learn from them."
            )
        title = self.sources[0].title
        if self.many:
            title = f"{title} and {len(self.sources) - 1} more"
        table = MemoryTable(
            title,
            "; ".join(each.description for each in self.sources),
            rows,
            has,
            _scale(self.scales),
            self.notes,
        )
        systems = "system" in has
        examples = [
            RatedResponse(
                key=names[context],
                context=turns(row.question),
                references=tuple(row.references),
                response=row.answer,
                system=row.system if systems else ALL,
                score=row.human,
            )
            for row, context in zip(rows, contexts.tolist(), strict=True)
        ]
        return Material(table, examples, contexts, self.places, self.sources)


def contexts_of(rows: Sequence[Row], has: Iterable[str]) -> tuple[Codes, list[str]]:
    """The context of each row (n), and a name of each context: one id, or one text, is one context.

    A name is the first text, or id, of its context by the alphabet, so that it does not depend on the order
    of the rows; contexts are numbered by their names.
    """
    named = "question_id" in has
    owners: dict[tuple[str, str], int] = {}
    parents: list[int] = []

    def root(of: int) -> int:
        while parents[of] != of:
            parents[of] = parents[parents[of]]
            of = parents[of]
        return of

    owner_of_row = []
    for row in rows:
        text = " ".join(row.question.split()).casefold()
        keys = [("text", text)] if text else []
        if named and row.question_id:
            keys.append(("id", row.question_id))
        keys = keys or [("references", "\0".join(sorted(row.references)))]
        roots = sorted({root(owners[key]) for key in keys if key in owners})
        if not roots:
            roots = [len(parents)]
            parents.append(len(parents))
        for other in roots:
            parents[other] = roots[0]
        owners.update(dict.fromkeys(keys, roots[0]))
        owner_of_row.append(roots[0])
    names: dict[int, str] = {}
    for (kind, text), owner in sorted(owners.items(), key=lambda each: (each[0][0] != "text", each[0])):
        names.setdefault(root(owner), text or kind)
    ordered_names = sorted(names, key=names.__getitem__)
    numbers = {owner: number for number, owner in enumerate(ordered_names)}
    codes = np.array([numbers[root(each)] for each in owner_of_row], dtype=np.int32)
    return codes, [names[owner] for owner in ordered_names]


def digests(path: Path) -> dict[str, str]:
    """The SHA-256 of a file, or of the manifest of a release's folder, which names all its files."""
    files = [path] if path.is_file() else [path / "manifest.json"] if path.is_dir() else []
    by_name = {}
    for file in files:
        if file.is_file():
            with file.open("rb") as opened:
                by_name[file.name] = hashlib.file_digest(opened, "sha256").hexdigest()
    return by_name


def _unusable(row: Row) -> str:
    """Why nothing can be learned from a row; empty if something can."""
    if math.isnan(row.human):
        return NO_SCORE
    if not row.answer.strip():
        return NO_ANSWER
    if not any(each.strip() for each in row.references):
        return NO_REFERENCE
    return ""


def _scale(scales: Sequence[tuple[float, float] | None]) -> tuple[float, float] | None:
    """The scale that all tables share; None where one has none. EvaluationError where they differ."""
    distinct = {each for each in scales if each is not None}
    if len(distinct) > 1:
        texts = " and ".join(f"{low:g}-{high:g}" for low, high in sorted(distinct))
        raise EvaluationError(f"The tables have different scales, {texts}. Train on tables of one scale.")
    return distinct.pop() if distinct and None not in scales else None


NO_SYSTEMS = (
    "No table says which system gave an answer: all are taken to be of one system, so nothing can be said of "
    "systems. If a column does, name it: --column system=NAME."
)
_SMALL = 2_000


@dataclass(frozen=True, slots=True, eq=False)
class StudyScores:
    """Human scores and scores of untrained metrics, `titles` of these, the scale, notes for the reader."""

    answers: ScoredAnswers
    titles: dict[str, str]
    scale: tuple[float, float]
    profile: str
    notes: list[str]


def measured(
    material: Material,
    metrics: Sequence[str],
    *,
    profile: str = "default",
    tokeniser: str = "",
    processes: int = 0,
    progress: Progress | None = None,
) -> StudyScores:
    """Scores the material; a question of the statistics is a context. Errors as `choose` has them."""
    table = material.table
    choice: MetricChoice = choose(table, metrics=metrics, profile=profile, tokeniser=tokeniser)
    gathered = _by_context(gather(table), material)
    metric_scores = scored(
        table,
        gathered,
        choice.metrics,
        choice.tokeniser,
        processes=scoring_processes(processes, choice, small=len(material) * len(choice.metrics) < _SMALL),
        progress=progress,
    )
    answers = gathered.join_scores(
        metric_scores.values,
        signatures={metric.name: metric.signature for metric in choice.metrics},
        lengths=metric_scores.lengths,
        reference_lengths=metric_scores.reference_lengths,
    )
    titles = {metric.name: metric.title for metric in choice.metrics}
    return StudyScores(answers, titles, gathered.scale, choice.profile, [*gathered.notes, *choice.notes])


def _by_context(gathered: AnswerColumns, material: Material) -> AnswerColumns:
    """What was gathered, with contexts for questions and no systems but those that are named."""
    size = int(material.contexts.max()) + 1
    names = [""] * size
    for context, example in zip(material.contexts.tolist(), material.examples, strict=True):
        names[context] = example.key
    gathered = replace(gathered, questions=material.contexts, question_names=names, raters=None)
    if material.has_systems:
        return gathered
    notes = [*(each for each in gathered.notes if "column for the system" not in each), NO_SYSTEMS]
    return replace(
        gathered,
        systems=np.zeros(len(gathered), dtype=np.int32),
        system_names=[ALL],
        inferred=False,
        notes=notes,
    )


# Parts for training, validation and test that share no context (Lowe et al. 2017, section 5.1).
#
# Contexts are dealt, not examples: all examples of a context stand in one part.

SHARES = (0.7, 0.15, 0.15)


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Rows of each part, in order."""

    train: Places
    validation: Places
    test: Places


def split(keys: Sequence[Hashable], seed: int, shares: tuple[float, float, float] = SHARES) -> Parts:
    """Deal the contexts by their shares; the order of rows has no part in who comes where."""
    if min(shares) < 0 or abs(sum(shares) - 1) > 1e-9:
        raise MetricError("Shares of training, validation and test must not be negative, and add up to 1.")
    numbers, dealt = _dealt(keys, seed)
    ends = np.rint(np.cumsum(shares)[:2] * len(dealt)).astype(int)
    train, validation, test = np.split(dealt, ends)
    return _parts(keys, numbers, train, validation, test)


def folds(keys: Sequence[Hashable], k: int, seed: int, validation: float = 0.15) -> list[Parts]:
    """k parts for test in which each context occurs once; of what is left a share is for validation."""
    numbers, dealt = _dealt(keys, seed)
    if not 2 <= k <= len(dealt):
        raise MetricError(f"{len(dealt)} contexts cannot be dealt into {k} parts.")
    parts = []
    for fold in range(k):
        test = dealt[fold::k]
        left = dealt[np.arange(len(dealt)) % k != fold]
        held_out = np.random.default_rng((seed, fold + 1)).permutation(left)
        cut = max(1, round(validation * len(held_out)))
        parts.append(_parts(keys, numbers, held_out[cut:], held_out[:cut], test))
    return parts


def _dealt(keys: Sequence[Hashable], seed: int) -> tuple[Places, Places]:
    """The number of each row's context, and those numbers in random order.

    Contexts are numbered in the order of their names, so that shuffled rows give the same parts.
    """
    names = {key: number for number, key in enumerate(sorted(set(keys), key=repr))}
    numbers = np.fromiter((names[key] for key in keys), np.intp, len(keys))
    return numbers, np.random.default_rng((seed, 0)).permutation(len(names)).astype(np.intp)


def _parts(
    keys: Sequence[Hashable], numbers: Places, train: Places, validation: Places, test: Places
) -> Parts:
    rows = [np.flatnonzero(np.isin(numbers, part)) for part in (train, validation, test)]
    sides = [{keys[int(row)] for row in part} for part in rows]
    if sides[0] & sides[1] or sides[0] & sides[2] or sides[1] & sides[2]:
        raise AssertionError("a context is in two parts")
    return Parts(*rows)
