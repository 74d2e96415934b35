"""Examples and encoders for tests of ADEM that need no transformer."""

import hashlib

import numpy as np

from distillery_learned.metrics.adem_examples import EncodedExamples, RatedResponse, encode


class Letters:
    """Vectors that depend on the text alone: a few random directions, chosen by its words."""

    kind = "letters"
    name = "letters"
    digest = "1" * 64

    def __init__(self, width: int = 12) -> None:
        self.width = width
        self.asked: list[object] = []

    def _vector(self, text: str) -> np.ndarray:
        found = np.zeros(self.width)
        for word in text.split():
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
            found += np.random.default_rng(seed).normal(size=self.width)
        return found

    def texts(self, texts):
        self.asked += list(texts)
        return np.array([self._vector(text) for text in texts]).reshape(len(texts), self.width)

    def contexts(self, contexts):
        self.asked += list(contexts)
        return np.array([self._vector(" ".join(turns)) for turns in contexts]).reshape(-1, self.width)

    def save(self, folder):
        folder.mkdir()
        (folder / "letters").write_text(str(self.width))


def rated(count: int = 120, *, contexts: int = 40, references: int = 1, seed: int = 0) -> list[RatedResponse]:
    """Responses that share words with the reference have high scores."""
    chance = np.random.default_rng(seed)
    words = [f"w{number}" for number in range(30)]
    found = []
    for number in range(count):
        key = number % contexts
        own = np.random.default_rng((seed, key))
        asked = " ".join(own.choice(words, 4))
        answers = tuple(" ".join(own.choice(words, 5)) for _ in range(references))
        shared = int(chance.integers(0, 6))
        response = answers[0].split()[:shared] + list(chance.choice(words, 5 - shared))
        score = float(np.clip(1 + 0.8 * shared + chance.normal(0, 0.2), 1, 5))
        found.append(
            RatedResponse(f"c{key}", ("hello", asked), answers, " ".join(response), f"s{number % 4}", score)
        )
    return found


def encoded(count: int = 120, *, contexts: int = 40, references: int = 1, seed: int = 0) -> EncodedExamples:
    return encode(rated(count, contexts=contexts, references=references, seed=seed), Letters())
