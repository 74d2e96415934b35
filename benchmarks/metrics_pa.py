"""pa-BLEU with 20 references: candidates a second, beside the naive way in the same run.

    python -m benchmarks.metrics_pa [--questions N]

The naive way is equation 3 as it stands, with sacrebleu for every pair: 20 pairs for the candidate and 400
for the importance of its references, which it works out again for each candidate. Values are compared.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

T = TypeVar("T")
REFERENCES = 20
PER_QUESTION = 5
WORDS = 20
CHUNK = 4096


class Rate(NamedTuple):
    """One line: what was done, and how many candidates a second."""

    what: str
    per_second: float


def answers(questions: int) -> tuple[list[str], list[list[str]]]:
    """Candidates and their references: variations of one answer a question, some words in ten changed."""
    draw = random.Random(7)
    vocabulary = [f"w{number}" for number in range(20_000)]
    odds = [1 / (1 + number) for number in range(len(vocabulary))]

    def varied(text: Sequence[str]) -> str:
        other = draw.choices(vocabulary, odds, k=len(text))
        return " ".join(b if draw.random() < 0.3 else a for a, b in zip(text, other, strict=True))

    candidates, references = [], []
    for _ in range(questions):
        answer = draw.choices(vocabulary, odds, k=WORDS)
        every = [varied(answer) for _ in range(REFERENCES)]
        candidates += [varied(answer) for _ in range(PER_QUESTION)]
        references += [every] * PER_QUESTION
    return candidates, references


def rates(questions: int = 2000) -> list[Rate]:
    """pa-BLEU of chunks of candidates, and the naive way on a few of them."""
    from metrics import metric  # noqa: PLC0415  # after the path is set

    candidates, references = answers(questions)
    n = len(candidates)
    pa = metric("pa-bleu-4")

    def scored() -> np.ndarray:
        parts = [
            pa.score(candidates[at : at + CHUNK], references[at : at + CHUNK]) for at in range(0, n, CHUNK)
        ]
        return np.concatenate(parts)

    _, first = _timed(scored)
    values, again = _timed(scored)
    by_system = np.concatenate([np.arange(start, n, PER_QUESTION) for start in range(PER_QUESTION)])
    mixed = [candidates[row] for row in by_system], [references[row] for row in by_system]
    _, spread = _timed(
        lambda: [pa.score(mixed[0][at : at + CHUNK], mixed[1][at : at + CHUNK]) for at in range(0, n, CHUNK)]
    )
    few = range(0, n, max(n // 10, 1))
    wanted, slow = _timed(lambda: [naive(candidates[row], references[row]) for row in few])
    np.testing.assert_allclose(values[list(few)], wanted, atol=1e-9)
    return [
        Rate(f"pa-bleu-4, {REFERENCES} references, first pass: importance made on the way", n / first),
        Rate("the same, second pass over the same questions: importance known", n / again),
        Rate("the same, third pass, answers of one system after another", n / spread),
        Rate("naive: every pair of every candidate by sacrebleu", len(few) / slow),
    ]


def naive(candidate: str, references: Sequence[str]) -> float:
    """Equation 3 pair by pair."""
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415  # a peer

    bleu = BLEU(tokenize="none", effective_order=True)

    def similarity(first: str, second: str) -> float:
        return float(bleu.sentence_score(first, [second]).score) / 100

    weights = [sum(similarity(one, other) for other in references) for one in references]
    likeness = [similarity(candidate, one) for one in references]
    return sum(a * b for a, b in zip(likeness, weights, strict=True)) / sum(weights)


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    start = time.perf_counter()
    return work(), time.perf_counter() - start


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="pa-BLEU beside the naive way.")
    parser.add_argument("--questions", type=int, default=2000)
    for rate in rates(parser.parse_args().questions):
        print(f"{rate.what:72} {rate.per_second:12,.0f} candidates/s")
