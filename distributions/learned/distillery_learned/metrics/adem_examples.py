"""What ADEM learns from and how: examples as vectors, what it asks of an encoder, settings of a training.

Lowe et al. 2017, section 4 and appendix D. Each distinct context and text is encoded once.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from metrics.errors import MetricError
from metrics.texts import Floats, Places
from metrics.word_spans import cut_words

#: With context and reference, with the context alone, with the reference alone.
ADEM, CONTEXT, REFERENCE = FORMS = ("adem", "c-adem", "r-adem")
#: What is better on validation.
ERROR, PEARSON = JUDGES = ("error", "pearson")
#: Hears how much is done, of how much, and what.
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """The paper's values, where it gives them.

    `n` are the principal components, `penalty` is the weight of the L1 norm, `rate` is Adam's. Where one of
    them is None it is chosen of `sizes`, `penalties`, `rates`: what does best on validation. An n above what
    the vectors have means all of them. `batch` are examples at once. Training ends after `epochs`, or when
    validation found nothing better in `patience` of them; `judge` says what better is: the mean squared
    error, or Pearson's correlation. `oversample` repeats examples until length says little about the score.
    `which` forms are trained. The scores of the training part span `scale` before training.
    """

    n: int | None = 7
    penalty: float | None = 0.02
    rate: float | None = 0.01
    batch: int = 16
    epochs: int = 200
    patience: int = 20
    judge: str = ERROR
    seed: int = 0
    oversample: bool = False
    which: tuple[str, ...] = FORMS
    scale: tuple[float, float] = (1.0, 5.0)
    sizes: tuple[int, ...] = (7, 20, 50, 150, 400)
    penalties: tuple[float, ...] = (0.0, 0.002, 0.02)
    rates: tuple[float, ...] = (0.01, 0.001)

    def __post_init__(self) -> None:
        if unknown := [form for form in self.which if form not in FORMS] or not self.which:
            raise MetricError(f"ADEM has the forms {', '.join(FORMS)}, not {unknown}.")
        if self.scale[0] >= self.scale[1]:
            raise MetricError(f"A scale goes from low to high, not from {self.scale[0]} to {self.scale[1]}.")
        if self.judge not in JUDGES:
            raise MetricError(f"Validation judges by {' or '.join(JUDGES)}, not by {self.judge!r}.")
        counts = {"batch": self.batch, "epochs": self.epochs, "patience": self.patience}
        for name, count in counts.items():
            if count < 1:
                raise MetricError(f"{name} is {count}, and must be 1 or more.")
        if not (self.tried_sizes and self.tried_penalties and self.tried_rates):
            raise MetricError("There is nothing to choose n, the penalty or the rate from.")
        if min(self.tried_sizes) < 1:
            raise MetricError(f"n is {min(self.tried_sizes)}, and must be 1 or more.")
        if min(self.tried_rates) <= 0 or min(self.tried_penalties) < 0:
            raise MetricError("The rate must be above 0, and a penalty not below it.")

    @property
    def tried_sizes(self) -> tuple[int, ...]:
        """What n is chosen from."""
        return self.sizes if self.n is None else (self.n,)

    @property
    def tried_penalties(self) -> tuple[float, ...]:
        """What the penalty is chosen from."""
        return self.penalties if self.penalty is None else (self.penalty,)

    @property
    def tried_rates(self) -> tuple[float, ...]:
        """What the rate is chosen from."""
        return self.rates if self.rate is None else (self.rate,)


Turns = tuple[str, ...]


class TextEncoder(Protocol):
    """Vectors of texts, and of contexts, which are turns in order; the same text has the same vector."""

    @property
    def kind(self) -> str:
        """Which plug-in it is: `sentences` or `gru`."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def digest(self) -> str:
        """64 hex digits of its weights and of all that it does with a text."""

    @property
    def width(self) -> int:
        """Units of a vector."""

    def contexts(self, contexts: Sequence[Turns]) -> Floats:
        """A vector of each context (n, width)."""

    def texts(self, texts: Sequence[str]) -> Floats:
        """A vector of each text (n, width)."""

    def save(self, folder: Path) -> None:
        """Write its files into an empty folder."""


@dataclass(frozen=True, slots=True)
class RatedResponse:
    """`context` are turns, the last one the question; of several references the model takes each in turn.

    `key` names the context: examples of one context stand on the same side of every split.
    """

    key: str
    context: tuple[str, ...]
    references: tuple[str, ...]
    response: str
    system: str
    score: float


def turns(question: str) -> tuple[str, ...]:
    """A question as a context: its lines that say something, in training as in scoring."""
    return tuple(line.strip() for line in question.splitlines() if line.strip())


T = TypeVar("T", bound=Hashable)
#: Texts that are encoded between two words of progress.
_AT_ONCE = 512


@dataclass(frozen=True, slots=True, eq=False)
class EncodedExamples:
    """k examples. `contexts` (k), `responses` (k) and `references` (p) are rows of `vectors`.

    The references of example i are `references[starts[i]:starts[i + 1]]`; a context that is not there is -1.
    `lengths` are words of responses.
    """

    vectors: Floats
    contexts: Places
    responses: Places
    references: Places
    starts: Places
    scores: Floats
    lengths: Places
    keys: tuple[str, ...]
    systems: tuple[str, ...]
    encoder: TextEncoder

    def __len__(self) -> int:
        return len(self.responses)

    def part(self, rows: Sequence[int] | Places) -> "EncodedExamples":
        """Some of the examples, in this order; the vectors stay where they are."""
        places = np.asarray(rows, np.intp)
        counts = np.diff(self.starts)[places]
        starts = np.concatenate(([0], np.cumsum(counts))).astype(np.intp)
        inside = np.arange(starts[-1]) - np.repeat(starts[:-1], counts)
        return EncodedExamples(
            self.vectors,
            self.contexts[places],
            self.responses[places],
            self.references[np.repeat(self.starts[places], counts) + inside],
            starts,
            self.scores[places],
            self.lengths[places],
            tuple(self.keys[row] for row in places),
            tuple(self.systems[row] for row in places),
            self.encoder,
        )


def encode(
    examples: Sequence[RatedResponse], encoder: TextEncoder, progress: Progress | None = None
) -> EncodedExamples:
    """The vectors of examples; an example may lack context or references."""
    contexts = _places(example.context for example in examples if example.context)
    every = (text for example in examples for text in (example.response, *example.references))
    texts = _places(every)
    total = len(contexts) + len(texts)
    vectors = np.empty((total, encoder.width))
    done = 0
    kinds: list[tuple[Sequence[Any], Callable[[Sequence[Any]], Floats]]] = [
        (list(contexts), encoder.contexts),
        (list(texts), encoder.texts),
    ]
    for what, how in kinds:
        for begin in range(0, len(what), _AT_ONCE):
            batch = what[begin : begin + _AT_ONCE]
            vectors[done : done + len(batch)] = how(batch)
            done += len(batch)
            if progress is not None:
                progress(done, total, "encoding texts")
    counts = [len(example.references) for example in examples]
    after = len(contexts)
    return EncodedExamples(
        vectors,
        np.array([contexts.get(example.context, -1) for example in examples], np.intp),
        np.array([after + texts[example.response] for example in examples], np.intp),
        np.array([after + texts[text] for example in examples for text in example.references], np.intp),
        np.concatenate(([0], np.cumsum(counts))).astype(np.intp),
        np.array([example.score for example in examples], np.float64),
        np.array([len(cut_words(example.response)) for example in examples], np.intp),
        tuple(example.key for example in examples),
        tuple(example.system for example in examples),
        encoder,
    )


def cosines(encoded: EncodedExamples) -> Floats:
    """Cosine (k) of each response with its most similar reference, nan where there is none."""
    lengths = np.linalg.norm(encoded.vectors, axis=1, keepdims=True)
    units = np.divide(encoded.vectors, lengths, out=np.zeros_like(encoded.vectors), where=lengths > 0)
    counts = np.diff(encoded.starts)
    owners = np.repeat(np.arange(len(encoded)), counts)
    pairs = np.einsum("ij,ij->i", units[encoded.responses[owners]], units[encoded.references])
    best = np.full(len(encoded), -np.inf)
    np.maximum.at(best, owners, pairs)
    best[counts == 0] = np.nan
    return best


def _places(things: Iterable[T]) -> dict[T, int]:
    by_thing: dict[T, int] = {}
    for thing in things:
        by_thing.setdefault(thing, len(by_thing))
    return by_thing
