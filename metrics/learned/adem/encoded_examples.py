"""Examples that ADEM learns from, as vectors: each distinct context and text is encoded once."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from metrics.base import Floats
from metrics.learned.adem.settings import Progress
from metrics.learned.adem.text_encoder import TextEncoder
from metrics.learned.words import cut
from metrics.texts import Places


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
    found = np.empty((total, encoder.width))
    done = 0
    kinds: list[tuple[Sequence[Any], Callable[[Sequence[Any]], Floats]]] = [
        (list(contexts), encoder.contexts),
        (list(texts), encoder.texts),
    ]
    for what, how in kinds:
        for begin in range(0, len(what), _AT_ONCE):
            some = what[begin : begin + _AT_ONCE]
            found[done : done + len(some)] = how(some)
            done += len(some)
            if progress is not None:
                progress(done, total, "encoding texts")
    counts = [len(example.references) for example in examples]
    after = len(contexts)
    return EncodedExamples(
        found,
        np.array([contexts.get(example.context, -1) for example in examples], np.intp),
        np.array([after + texts[example.response] for example in examples], np.intp),
        np.array([after + texts[text] for example in examples for text in example.references], np.intp),
        np.concatenate(([0], np.cumsum(counts))).astype(np.intp),
        np.array([example.score for example in examples], np.float64),
        np.array([len(cut(example.response)) for example in examples], np.intp),
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
    found = np.full(len(encoded), -np.inf)
    np.maximum.at(found, owners, pairs)
    found[counts == 0] = np.nan
    return found


def _places(things: Iterable[T]) -> dict[T, int]:
    found: dict[T, int] = {}
    for thing in things:
        found.setdefault(thing, len(found))
    return found
