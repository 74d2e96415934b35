"""chrF (Popovic 2015) and chrF++ (Popovic 2017), as sacrebleu has them.

    P_n, R_n = matching n-grams / n-grams of the candidate, of the reference
    F        = (1 + beta^2) P R / (R + beta^2 P), beta = 2

N-grams are those of characters without white space, n = 1..6, and for chrF++ also of words, n = 1, 2. P and R
are means over the orders that both texts are long enough for.
Of several references that with the highest F counts. In a corpus the counts of these are summed first.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from metrics.answers.bleu import totals_of
from metrics.answers.ngrams import overlap
from metrics.answers.references import best, measured, owners
from metrics.answers.rouge import f_measure
from metrics.base import ChunkValues, Floats, Metric, signature
from metrics.profiles import Profile
from metrics.texts import Chunk
from metrics.tokens.registry import CHAR, LOWER_CHAR
from metrics.tokens.runs import composed
from metrics.tokens.tokeniser import Tokeniser

_MARKS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


@dataclass(frozen=True, slots=True)
class Chrf:
    """The parameters of chrF: n-gram orders of characters and words, weight of recall, and case."""

    characters: int = 6
    words: int = 0
    beta: float = 2.0
    lower: bool = False


def _split(text: str) -> list[str]:
    """Words, of which one mark is cut off, at the end or else at the start."""
    found = []
    for word in text.split():
        if len(word) == 1:
            found.append(word)
        elif word[-1] in _MARKS:
            found += [word[:-1], word[-1]]
        elif word[0] in _MARKS:
            found += [word[0], word[1:]]
        else:
            found.append(word)
    return found


WORDS = Tokeniser("chrf-words", lambda text: _split(composed(text)))
LOWER_WORDS = Tokeniser("chrf-words-lower", lambda text: _split(composed(text).lower()))


def _counts(chunk: Chunk, tokeniser: Tokeniser, orders: int) -> Floats:
    """(P, orders, 3): n-grams of the candidate, of the reference, and those that match, for each pair."""
    lengths = chunk.tokens(tokeniser).lengths
    shared = overlap(chunk, tokeniser)
    shared.reach(orders)
    own = totals_of(lengths[chunk.candidates], orders)[owners(chunk.starts)]
    theirs = totals_of(lengths[chunk.references], orders)
    found = np.empty((len(chunk.references), orders, 3))
    found[:, :, 0] = np.where(theirs > 0, own, 0)
    found[:, :, 1] = theirs
    for n in range(orders):
        found[:, n, 2] = shared.by_pair(n + 1)
    return found


def chrf(counts: Floats, beta: float) -> Floats:
    """chrF of counts (m, orders, 3) of n-grams of candidate, reference and both -> (m)."""
    own, theirs, both = counts[:, :, 0], counts[:, :, 1], counts[:, :, 2]
    effective = (own > 0) & (theirs > 0)
    orders = np.maximum(effective.sum(1), 1)
    precision = np.divide(both, own, out=np.zeros_like(both), where=effective).sum(1) / orders
    recall = np.divide(both, theirs, out=np.zeros_like(both), where=effective).sum(1) / orders
    return f_measure(precision, recall, beta)


def _measure(chunk: Chunk, _: Any, how: Chrf) -> ChunkValues:
    parts = [_counts(chunk, LOWER_CHAR if how.lower else CHAR, how.characters)]
    if how.words:
        parts.append(_counts(chunk, LOWER_WORDS if how.lower else WORDS, how.words))
    counts = np.concatenate(parts, axis=1)
    values, pairs = best(chrf(counts, how.beta), chunk.starts)
    some = np.flatnonzero(pairs >= 0)
    rows = np.zeros((len(chunk), 3 * counts.shape[1] + 1))
    rows[some, :-1] = counts.reshape(len(counts), rows.shape[1] - 1)[pairs[some]]
    rows[some, -1] = 1
    return measured(values, chunk.starts, rows)


def _corpus(sums: Floats, how: Chrf) -> float | None:
    if not sums[-1]:
        return None
    return float(chrf(sums[:-1].reshape(1, how.characters + how.words, 3), how.beta)[0])


def make(name: str, profile: Profile) -> Metric:
    """`chrf` and `chrf++`, as the profile's `chrf` settings (fields of `Chrf`) have them."""
    how = Chrf(**{"words": 2 if name == "chrf++" else 0, **profile.options("chrf")})
    said = {
        "nc": how.characters,
        "nw": how.words,
        "beta": f"{how.beta:g}",
        "case": "lower" if how.lower else "mixed",
        "space": "no",
        "eff": "yes",
        "refs": "best",
    }
    return Metric(
        name=name,
        title="chrF" + "+" * how.words,
        signature=signature(name, 2, **said),
        measure=partial(_measure, how=how),
        corpus=partial(_corpus, how=how),
    )
