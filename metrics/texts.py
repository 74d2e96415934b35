"""Answers to be scored, and their texts as numbers that all metrics of a run share."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, count
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from metrics.tokens import Tokeniser, cut

T = TypeVar("T")
Ids = npt.NDArray[np.int32]
Places = npt.NDArray[np.intp]
#: Fields of answers that have an entry per candidate.
_PARALLEL = ("references", "questions", "labels", "reference_labels", "entities", "systems")


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
            given = getattr(self, name)
            if given is not None and len(given) != n:
                raise ValueError(f"{name} has {len(given)} entries for {n} candidates")
        if self.reference_labels is not None and any(
            len(labels) != len(references)
            for labels, references in zip(self.reference_labels, self.references, strict=True)
        ):
            raise ValueError("reference_labels must name one opinion, which may be empty, per reference")

    def __len__(self) -> int:
        return len(self.candidates)

    def part(self, rows: slice | Sequence[int]) -> "Answers":
        """Some of the answers, with all that belongs to them."""
        which = range(len(self))[rows] if isinstance(rows, slice) else rows
        columns = [getattr(self, name) for name in ("candidates", *_PARALLEL)]
        taken: list[Any] = [None if column is None else [column[row] for row in which] for column in columns]
        return Answers(*taken)


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """Texts as numbers: text k is `ids[starts[k]:starts[k + 1]]`; `words[id]` is the token of a number."""

    ids: Ids
    starts: Places
    words: Sequence[str]

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
        found = np.fromiter(map(places.__getitem__, every), np.intp, size)
        return list(places), found

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
        found: T = self._shared[key]
        return found


def _tokenised(texts: Sequence[str], tokeniser: Tokeniser) -> Tokens:
    if tokeniser.runs is not None:
        return Tokens(*cut(texts, tokeniser.runs))
    split = list(map(tokeniser.split, texts))
    starts = np.zeros(len(split) + 1, np.intp)
    np.cumsum(np.fromiter(map(len, split), np.intp, len(split)), out=starts[1:])
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    ids = np.fromiter(map(numbers.__getitem__, chain.from_iterable(split)), np.int32, int(starts[-1]))
    return Tokens(ids, starts, list(numbers))
