"""Answers to be scored, their texts as numbers that all metrics of a run share, and what a metric is.

A metric also says here what several references, or none, mean for the value of a candidate.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import chain, count
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from metrics.errors import MetricError
from metrics.tokens import Tokeniser, cut

T = TypeVar("T")
Ids = npt.NDArray[np.int32]
Places = npt.NDArray[np.intp]
#: Fields of answers that have an entry per candidate.
_PARALLEL = ("references", "questions", "labels", "reference_labels", "entities", "systems")
_LISTS = ("references", "reference_labels", "entities")


@dataclass(frozen=True, slots=True)
class Answers:
    """n candidates with what they are compared with; every sequence that is given has length n.

    `references` may hold empty lists, and any text may be empty. `labels` are the opinions of the candidates
    (Yes, No, Depends, or empty), `reference_labels` those of the references, parallel to them. `entities` are
    the gold entities of each question (Yang et al. 2018, 3.2). `systems` name who gave each candidate; no
    metric looks at them, corpus scores are also given for each.
    """

    candidates: Sequence[str]
    references: Sequence[Sequence[str]]
    questions: Sequence[str] | None = None
    labels: Sequence[str] | None = None
    reference_labels: Sequence[Sequence[str]] | None = None
    entities: Sequence[Sequence[str]] | None = None
    systems: Sequence[str] | None = None

    def __post_init__(self) -> None:
        n = len(self.candidates)
        for name in _PARALLEL:
            column = getattr(self, name)
            if column is not None and len(column) != n:
                raise ValueError(f"{name} has {len(column)} entries for {n} candidates")
        if isinstance(self.candidates, str):
            raise TypeError("candidates is one text; it must be a list of texts, one per answer")
        for name in _LISTS:
            column = getattr(self, name)
            if column is not None and any(isinstance(texts, str) for texts in column):
                raise TypeError(
                    f"{name} is a list of texts; it must hold a list of texts for each candidate, such as "
                    '[["in 1923"], ["yes", "it is"]]'
                )
        self._check_texts("candidates", self.candidates)
        for texts in self.references:
            self._check_texts("references", [None] if texts is None else texts)
        if self.reference_labels is not None and any(
            len(labels) != len(references)
            for labels, references in zip(self.reference_labels, self.references, strict=True)
        ):
            raise ValueError("reference_labels must name one opinion, which may be empty, per reference")

    @staticmethod
    def _check_texts(name: str, texts: Sequence[Any]) -> None:
        """TypeError for what tables have in place of a text: None, nan, numbers."""
        for text in texts:
            if not isinstance(text, str):
                raise TypeError(f"{name} holds {text!r:.60}, which is no text; an empty one is ''")

    def __len__(self) -> int:
        return len(self.candidates)

    def part(self, rows: slice | Sequence[int]) -> "Answers":
        """Some of the answers, with all that belongs to them."""
        which = range(len(self))[rows] if isinstance(rows, slice) else rows
        columns = [getattr(self, name) for name in ("candidates", *_PARALLEL)]
        parts: list[Any] = [None if column is None else [column[row] for row in which] for column in columns]
        return Answers(*parts)


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """Texts as numbers: text k is `ids[starts[k]:starts[k + 1]]`; `vocabulary[id]` is the token of an id."""

    ids: Ids
    starts: Places
    vocabulary: Sequence[str]

    @property
    def lengths(self) -> Places:
        """Number of tokens of each text."""
        return np.diff(self.starts)


@dataclass(eq=False)
class Chunk:
    """Some answers, and what metrics share about them: each distinct text is kept, and tokenised, once.

    `texts` are the distinct texts; `candidates` (n) and `references` (all of them, one candidate's after
    another's) are places in it, and the references of candidate i are
    `references[starts[i]:starts[i + 1]]`.
    """

    answers: Answers
    _shared: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.answers)

    @cached_property
    def starts(self) -> Places:
        """Where each candidate's references begin (n + 1)."""
        counts = np.fromiter(map(len, self.answers.references), np.intp, len(self.answers))
        return np.concatenate(([0], np.cumsum(counts))).astype(np.intp)

    @cached_property
    def _distinct(self) -> tuple[list[str], Places]:
        places: defaultdict[str, int] = defaultdict(count().__next__)
        every = chain(self.answers.candidates, chain.from_iterable(self.answers.references))
        size = len(self.answers) + int(self.starts[-1])
        numbers = np.fromiter(map(places.__getitem__, every), np.intp, size)
        return list(places), numbers

    @property
    def texts(self) -> list[str]:
        """The distinct texts, in the order of their first appearance."""
        return self._distinct[0]

    @property
    def candidates(self) -> Places:
        """Place of each candidate's text in `texts` (n)."""
        return self._distinct[1][: len(self.answers)]

    @property
    def references(self) -> Places:
        """Place of each reference's text in `texts`, all references one after another."""
        return self._distinct[1][len(self.answers) :]

    def tokens(self, tokeniser: Tokeniser) -> Tokens:
        """The distinct texts under a tokeniser, made once."""
        return self.once(("tokens", tokeniser.name), lambda: _tokenised(self.texts, tokeniser))

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What several metrics need, made when it is first asked for."""
        if key not in self._shared:
            self._shared[key] = make()
        cached: T = self._shared[key]
        return cached


def _tokenised(texts: Sequence[str], tokeniser: Tokeniser) -> Tokens:
    if tokeniser.runs is not None:
        return Tokens(*cut(texts, tokeniser.runs))
    split = list(map(tokeniser.split, texts))
    starts = np.zeros(len(split) + 1, np.intp)
    np.cumsum(np.fromiter(map(len, split), np.intp, len(split)), out=starts[1:])
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    ids = np.fromiter(map(numbers.__getitem__, chain.from_iterable(split)), np.int32, int(starts[-1]))
    return Tokens(ids, starts, list(numbers))


Floats = npt.NDArray[np.float64]
NO_REFERENCE = "there is no reference"


@dataclass(frozen=True, slots=True, eq=False)
class ChunkValues:
    """Values of a chunk (n), nan where a metric is not defined, and sums (p) for the corpus score.

    Sums of several chunks add up, whatever the chunks were. `why` says how many values are not defined, by
    reason in words. `rows` (n, p), where a metric has them, are what each candidate adds to the sums, so that
    the corpus score of any choice of candidates can be had.
    """

    values: Floats
    sums: Floats | None = None
    why: Mapping[str, int] = field(default_factory=dict)
    rows: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """What a metric must know of the whole data set before it can score, such as document frequencies.

    `of` looks at a chunk, `merge` joins what two found (it may change and return the first); the order of
    chunks must not matter.
    """

    of: Callable[[Chunk], Any]
    merge: Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """A metric with all its parameters fixed; `signature` names them, as sacrebleu's do.

    `measure` gets a chunk and the survey's finding (None without a survey). `corpus` turns the sums of all
    chunks into the corpus score; without it a metric has none but the mean. `needs` are fields of
    `Answers` that must be given. Values lie between `low` and `high`. `recipe` is the function that made it
    and what that function was given: another process gets these two and makes the metric again.
    `lacks` says in words why it cannot be scored here, such as for want of a model; empty if it can.
    """

    name: str
    title: str
    signature: str
    measure: Callable[[Chunk, Any], ChunkValues]
    low: float = 0.0
    high: float = 1.0
    survey: Survey | None = None
    corpus: Callable[[Floats], float | None] | None = None
    needs: frozenset[str] = frozenset()
    recipe: "tuple[Callable[..., Metric], tuple[Any, ...]] | None" = None
    lacks: str = ""

    def __reduce__(self) -> tuple[Any, ...]:
        if self.recipe is not None:
            return self.recipe
        return Metric, tuple(getattr(self, part.name) for part in fields(self))

    def of(self, chunk: Chunk, survey: Any = None) -> ChunkValues:
        """What it measures on a chunk, given the survey's finding; MetricError if the chunk lacks a need."""
        if self.lacks:
            raise MetricError(f"{self.name} cannot be scored here: {self.lacks}.")
        for need in sorted(self.needs):
            if getattr(chunk.answers, need) is None:
                raise MetricError(
                    f"{self.name} needs {need.replace('_', ' ')}, which are not given; name their column, or "
                    "leave this metric out."
                )
        return self.measure(chunk, survey)

    def score(
        self,
        candidates: Sequence[str],
        references: Sequence[Sequence[str]],
        questions: Sequence[str] | None = None,
        labels: Sequence[str] | None = None,
        entities: Sequence[Sequence[str]] | None = None,
        *,
        reference_labels: Sequence[Sequence[str]] | None = None,
    ) -> Floats:
        """One value per candidate (n), nan where it is not defined; several references per candidate."""
        chunk = Chunk(Answers(candidates, references, questions, labels, reference_labels, entities))
        return self.of(chunk, self.survey.of(chunk) if self.survey else None).values


def signature(name: str, version: int, **parts: object) -> str:
    """`metric:bleu-4|v:1|tok:ptb|n:4|...`: everything that a reader needs to get the same values again."""
    named_parts = {"metric": name, "v": version, **parts}
    return "|".join(f"{key}:{value}" for key, value in named_parts.items())


def owners(starts: Places) -> Places:
    """The candidate of each pair: pairs of candidate i are `starts[i]:starts[i + 1]`."""
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))


def best(values: Floats, starts: Places) -> tuple[Floats, Places]:
    """The highest value of each candidate's pairs, and its pair, the first of equals.

    Values of pairs (P) -> (value of each candidate, nan where it has no reference; its pair, or -1).
    """
    n = len(starts) - 1
    highest = np.full(n, np.nan)
    pairs = np.full(n, -1, np.intp)
    with_references = np.flatnonzero(np.diff(starts))
    if len(with_references) == len(values):
        highest[with_references], pairs[with_references] = values, starts[with_references]
    elif len(with_references):
        highest[with_references] = np.maximum.reduceat(values, starts[with_references])
        reached = np.flatnonzero(values == highest[owners(starts)])
        owner = owners(starts)[reached]
        first = np.concatenate(([True], owner[1:] != owner[:-1]))
        pairs[owner[first]] = reached[first]
    return highest, pairs


def closest(lengths: Places, reference_lengths: Places, starts: Places) -> Places:
    """Length of the reference closest in length to each candidate, of equally close ones the shorter.

    0 for a candidate without references. Papineni et al. 2002, section 2.2.2.
    """
    nearest = np.zeros(len(starts) - 1, np.intp)
    with_references = np.flatnonzero(np.diff(starts))
    if len(with_references):
        width = int(reference_lengths.max()) + 1
        apart = np.abs(reference_lengths - lengths[owners(starts)])
        nearest[with_references] = (
            np.minimum.reduceat(apart * width + reference_lengths, starts[with_references]) % width
        )
    return nearest


def measured(values: Floats, starts: Places, rows: Floats | None = None) -> ChunkValues:
    """Values of a chunk that are nan where, and only where, a candidate has no reference.

    `rows` is what each candidate adds to the sums of the corpus score.
    """
    missing = int(np.count_nonzero(np.diff(starts) == 0))
    why = {NO_REFERENCE: missing} if missing else {}
    return ChunkValues(values, None if rows is None else rows.sum(0), why, rows)
