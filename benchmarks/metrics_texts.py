"""Answers and references made by the chunk, the same for the same seed: words of an invented language.

Words are as frequent as in English texts, a reference shares about six words in ten with its answer, and
answers have a median of 15 words, as those of MS MARCO do.
"""

from collections.abc import Callable, Iterator

import numpy as np

from metrics import Answers

WORDS = 30_000
CHUNK = 4096
_LONGEST = 40


def _language() -> tuple[np.ndarray, np.ndarray]:
    """The words, and for a number in [0, 1) which of them it is."""
    rng = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlcumwfgypbvkjxqz"))
    odds = 1 / np.arange(2, 28) ** 0.8
    lengths = np.clip(rng.poisson(1 + np.log1p(np.arange(WORDS)) / 2, WORDS), 1, 14)
    words = ["".join(rng.choice(letters, size, p=odds / odds.sum()).tolist()) for size in lengths.tolist()]
    return np.array(words, object), np.cumsum(1 / np.arange(1, WORDS + 1)) / np.sum(
        1 / np.arange(1, WORDS + 1)
    )


def chunks(candidates: int, references: int, seed: int = 1) -> Callable[[], Iterator[Answers]]:
    """A stream of chunks that is made as it is read, so that it takes no memory."""
    words, steps = _language()

    def made() -> Iterator[Answers]:
        for place, at in enumerate(range(0, candidates, CHUNK)):
            rng = np.random.default_rng((seed, place))
            yield _chunk(min(CHUNK, candidates - at), references, words, steps, rng)

    return made


def _chunk(
    n: int, references: int, words: np.ndarray, steps: np.ndarray, rng: np.random.Generator
) -> Answers:
    def drawn() -> np.ndarray:
        return np.searchsorted(steps, rng.random((n, _LONGEST)))

    own = drawn()
    texts = [_written(own, words, rng)]
    for _ in range(references):
        shared = np.where(rng.random((n, _LONGEST)) < 0.6, own, drawn())
        texts.append(_written(shared, words, rng))
    return Answers(texts[0], list(zip(*texts[1:], strict=True)))


def _written(drawn: np.ndarray, words: np.ndarray, rng: np.random.Generator) -> list[str]:
    lengths = np.clip(rng.lognormal(np.log(15), 0.4, len(drawn)).astype(int), 2, _LONGEST).tolist()
    rows = words[drawn].tolist()
    return [" ".join(row[:size]).capitalize() + "." for row, size in zip(rows, lengths, strict=True)]
