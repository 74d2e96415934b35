"""Which words of passages are like which words of the query, and which of them stand close together.

Paper 001, section 2.3 (C1, C21, C22), with the published code where the two differ: a passage's word belongs
to the query word it is most similar to, whatever the turns' weights, and gets that similarity times the
weight of that word. Similarities are used to six decimals, so that no machine's rounding moves a threshold.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval.crown.passages import Evidence, FloatArray, IntArray, Passages

#: A word may make an edge with each of this many content words after it.
WINDOW = 3
#: At α = 1 a word is like itself even where its cosine is a little less by rounding.
_NEARLY_ONE = 1 - 1e-6
_DECIMALS = 6

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Matches:
    """Distinct words of passages against the terms of a query.

    similarity: (words, terms). label (words,): the most similar term, the first of equals. weight (words,):
    similarity to it times its weight where that is above α, else 0: the node weights. active: above α.
    """

    similarity: FloatArray
    label: IntArray
    weight: FloatArray
    active: BoolArray


@dataclass(frozen=True)
class Edges:
    """Pairs of active words with different labels, close together in one sentence, with an edge between them.

    first, second: places of the two tokens among all tokens; strength: NPMI, above β.
    """

    first: IntArray
    second: IntArray
    strength: FloatArray


def matches(passages: Passages, terms: Mapping[str, float], evidence: Evidence, alpha: float) -> Matches:
    """Node weights of the distinct words of passages; terms in the order of the conversational query."""
    n_words = len(passages.words)
    if not n_words or not terms:
        nothing = np.zeros(n_words)
        return Matches(np.empty((n_words, len(terms))), nothing.astype(np.int64), nothing, nothing > 0)
    similarity = np.round(evidence.similarities(passages.words, list(terms)), _DECIMALS).astype(np.float64)
    label = similarity.argmax(axis=1)
    best = similarity[np.arange(n_words), label]
    active = is_similar(best, alpha, strict=True)
    weights = np.fromiter(terms.values(), np.float64, len(terms))
    return Matches(similarity, label, np.where(active, best * weights[label], 0.0), active)


def is_similar(similarity: FloatArray, alpha: float, *, strict: bool) -> BoolArray:
    """Whether similarities pass the threshold; at α = 1 those of the same word do."""
    if alpha >= _NEARLY_ONE:
        return similarity >= _NEARLY_ONE
    return similarity > alpha if strict else similarity >= alpha


def edges(passages: Passages, found: Matches, evidence: Evidence, beta: float) -> Edges:
    """Every occurrence of every edge, by distance, then place."""
    segment = passages.segments
    tokens, active = passages.tokens, found.active[passages.tokens]
    label = found.label[tokens]
    firsts: list[IntArray] = []
    seconds: list[IntArray] = []
    for distance in range(1, WINDOW + 1):
        one, other = slice(None, -distance), slice(distance, None)
        is_pair = active[one] & active[other]
        is_pair &= segment[one] == segment[other]
        is_pair &= tokens[one] != tokens[other]
        is_pair &= label[one] != label[other]
        place = np.flatnonzero(is_pair)
        firsts.append(place)
        seconds.append(place + distance)
    first, second = np.concatenate(firsts), np.concatenate(seconds)
    strength = _strengths(passages, tokens[first], tokens[second], evidence)
    strong = strength > beta  # false for NaN: no edge
    return Edges(first[strong], second[strong], strength[strong])


def _strengths(passages: Passages, first: IntArray, second: IntArray, evidence: Evidence) -> FloatArray:
    """NPMI of pairs of words by their numbers; the network is asked once for each different pair."""
    if not len(first):
        return np.empty(0)
    low, high = np.minimum(first, second), np.maximum(first, second)
    keys, where = np.unique(low * len(passages.words) + high, return_inverse=True)
    one, other = np.divmod(keys, len(passages.words))
    known = evidence.associations(passages.words_at(one), passages.words_at(other))
    return np.asarray(known, np.float64)[where]
