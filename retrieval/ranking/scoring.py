"""Scores of candidate passages for a conversational query, by all profiles, all candidates at once.

crown-2020   h1·prior + h2·node + h3·edge + h4·pos, where each part is one over the candidate's rank by it
             (paper 001, section 2.3; the ranks are in the published code only).
balanced     Σ h·f over bm25, node, edge, pos, coverage, early coverage and feedback, where each f is a share
             of the best candidate's value; coverage fades with the length of the question, feedback comes in
             its place. See docs/crown.md for what is measured.
balanced-1   The same without feedback, and whatever the length of the question.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.ranking.parameters import BALANCED, CROWN_2020, Parameters

# Candidate passages of one query as columns, which is how they are scored.

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


class UnspelledWords(Sequence[str]):
    """Words of which some can be taken without spelling any, as a network's are."""

    @abstractmethod
    def take(self, places: IntArray) -> Sequence[str]:
        """The words at these places."""


@dataclass(frozen=True)
class Passages:
    """Every content token of n passages, in order of passage and place.

    `words` are the distinct words; `tokens` (t,) are places in it; `passage` (t,) is the number of the
    passage from 0, rising; `sentence` (t,) is the number from 1 of the sentence among those sentences of the
    passage that have a content token. A passage without any token has no row, and counts in `count`.
    """

    words: Sequence[str]
    tokens: IntArray
    passage: IntArray
    sentence: IntArray
    count: int

    @cached_property
    def segments(self) -> IntArray:
        """Number of the sentence of each token, from 0, over all passages."""
        if not len(self.tokens):
            return np.empty(0, np.int64)
        begins = np.zeros(len(self.tokens), np.bool_)
        np.not_equal(self.passage[1:], self.passage[:-1], out=begins[1:])
        begins[1:] |= self.sentence[1:] != self.sentence[:-1]
        return begins.cumsum()

    def words_at(self, places: IntArray) -> Sequence[str]:
        """Distinct words by their places."""
        if isinstance(self.words, UnspelledWords):
            return self.words.take(places)
        return [self.words[place] for place in places.tolist()]


# What scoring asks of a word proximity network.


class Evidence(Protocol):
    """Similarity and proximity of words. A network gives it; so does anything else with these methods."""

    def similarities(self, words: Sequence[str], terms: Sequence[str]) -> FloatArray:
        """Cosines, (words, terms); 1 for the same word, -1 where one of them has no vector."""

    def associations(self, first: Sequence[str], second: Sequence[str]) -> FloatArray:
        """NPMI of pairs, -1 to 1; NaN where the network has no edge."""

    def idf(self, terms: Sequence[str]) -> FloatArray:
        """How rare each term is in the corpus: log(1 + (N - df + 0.5) / (df + 0.5))."""

    def same_stem(self, words: Sequence[str], terms: Sequence[str]) -> NDArray[np.bool_]:
        """Whether one is a form of the other, (words, terms); every word is a form of itself."""


# Which words of passages are like which words of the query, and which of them stand close together.
#
# Paper 001, section 2.3 (C1, C21, C22), with the published code where the two differ: a passage's word
# belongs to the query word it is most similar to, whatever the turns' weights, and gets that similarity times
# the weight of that word. Similarities are used to six decimals, so that no machine's rounding moves a
# threshold.

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


def edges(passages: Passages, word_matches: Matches, evidence: Evidence, beta: float) -> Edges:
    """Every occurrence of every edge, by distance, then place."""
    segment = passages.segments
    tokens, active = passages.tokens, word_matches.active[passages.tokens]
    label = word_matches.label[tokens]
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
    associations = evidence.associations(passages.words_at(one), passages.words_at(other))
    return np.asarray(associations, np.float64)[where]


#: Values that are equal to this many decimals have the same rank (published code).
_RANK_DECIMALS = 4
#: Final scores that differ by less are equal: what is left of the order of adding.
_FINAL_DECIMALS = 10
#: How similar a form of a word is to the word, for coverage. Measured: see benchmarks/RESULTS.md.
SAME_STEM = 0.5
#: Content words of a question at which coverage counts for half, and how fast it fades. See docs/crown.md.
FADE_HALF, FADE_POWER = 6.0, 4.0
#: The engine's first passages, to which feedback compares the others.
FEEDBACK_PASSAGES = 5
_FADING = frozenset({"coverage", "early"})


@dataclass(frozen=True)
class Scores:
    """Scores of n candidates, in the order in which the engine had them.

    final (n,): the weighted sum of `parts`, (n,) each, 0 to 1. raw: what the parts were before they were made
    comparable: bm25 as the engine gave it, sums of node and edge weights, shares of the query that are
    covered. order: places of the candidates by falling final score; equals stay as the engine had them.
    """

    final: FloatArray
    parts: Mapping[str, FloatArray]
    raw: Mapping[str, FloatArray]
    order: IntArray


def score(
    passages: Passages,
    terms: Mapping[str, float],
    evidence: Evidence,
    parameters: Parameters,
    engine_scores: Sequence[float] | FloatArray,
    *,
    length: int | None = None,
) -> Scores:
    """Score candidates. passages: in the order of the engine, best first; terms: see `conversation`.

    length: different content words of the question alone; unless given, those of the terms.
    """
    word_matches = matches(passages, terms, evidence, parameters.alpha)
    raw = _network_parts(passages, word_matches, edges(passages, word_matches, evidence, parameters.beta))
    bm25 = np.asarray(engine_scores, np.float64)
    if parameters.profile == CROWN_2020:
        raw = {**raw, "bm25": bm25}
    else:
        raw = {"bm25": bm25, **raw, **_coverages(passages, word_matches, terms, evidence, parameters.alpha)}
        if parameters.profile == BALANCED:
            raw["feedback"] = _feedback(passages, evidence, bm25)
    return combined(raw, parameters, length=len(terms) if length is None else length)


def combined(raw: Mapping[str, FloatArray], parameters: Parameters, *, length: int) -> Scores:
    """Final scores of raw values of n candidates, best of the engine first; also of several networks'."""
    count = len(raw["bm25"])
    if parameters.profile == CROWN_2020:
        raw = {**raw, "prior": 1 / np.arange(1.0, count + 1)}
        parts = {
            name: raw[name] if name == "prior" else _reciprocal_ranks(raw[name])
            for name in parameters.weights
        }
    else:
        parts = {name: _shares(raw[name]) for name in parameters.weights}
    if parameters.profile == BALANCED:
        share = fade(length)
        for name in parts:
            if name in _FADING:
                parts[name] = parts[name] * share
        parts["feedback"] = parts["feedback"] * (1 - share)
    final = np.zeros(count)
    for name, weight in parameters.weights.items():
        final += weight * parts[name]
    order = np.argsort(-np.round(final, _FINAL_DECIMALS), kind="stable")
    return Scores(final, parts, raw, order)


def fade(length: int) -> float:
    """How much coverage counts for a question of so many content words: 1 for none, a half at `FADE_HALF`."""
    return float(1 / (1 + (length / FADE_HALF) ** FADE_POWER))


def _feedback(passages: Passages, evidence: Evidence, bm25: FloatArray) -> FloatArray:
    """How like each passage is to the engine's first ones, itself left out.

    feedback = Σ_k s_k cos(passage, k) / Σ_k s_k over the first `FEEDBACK_PASSAGES` but itself, with s_k
    their scores by the engine, and vectors of log(1 + tf) · idf over all content words.
    """
    count = passages.count
    first = min(FEEDBACK_PASSAGES, count)
    if first < 2 or not len(passages.tokens) or not bm25[0] > 0:
        return np.zeros(count)
    n_words = len(passages.words)
    keys, tf = np.unique(passages.passage * n_words + passages.tokens, return_counts=True)
    passage, word = np.divmod(keys, n_words)
    weight = np.log1p(tf) * evidence.idf(passages.words)[word]
    norm = np.sqrt(_sums(passage, weight**2, count))
    unit = weight / np.where(norm > 0, norm, 1)[passage]
    strength = np.zeros(count)
    strength[:first] = np.maximum(bm25[:first], 0) / bm25[0]
    centre = np.bincount(word, unit * strength[passage], n_words)
    likeness = _sums(passage, unit * centre[word], count)
    # A passage is not compared to itself: its cosine would be 1 where it has any word.
    likeness -= strength * (norm > 0)
    others = strength.sum() - strength
    shares = np.where(others > 0, likeness / np.where(others > 0, others, 1), 0.0)
    # What is left of the order of adding is no likeness, and must not become a share of one.
    return np.maximum(np.round(shares, _FINAL_DECIMALS), 0.0)


def _network_parts(passages: Passages, word_matches: Matches, pairs: Edges) -> dict[str, FloatArray]:
    """Node, edge and position scores of the paper, as they are there."""
    segment = passages.segments
    n_segments = int(segment[-1]) + 1 if len(segment) else 0
    # Only tokens that weigh anything: the others add nothing.
    heavy = np.flatnonzero(word_matches.active[passages.tokens])
    weight = word_matches.weight[passages.tokens[heavy]]
    node = _sums(passages.passage[heavy], weight, passages.count)
    edge = _sums(passages.passage[pairs.first], pairs.strength, passages.count)
    inside = _sums(segment[heavy], weight, n_segments)
    inside += _sums(segment[pairs.first], pairs.strength, n_segments)
    begins = np.flatnonzero(np.diff(segment, prepend=-1))
    pos = np.zeros(passages.count)
    np.maximum.at(pos, passages.passage[begins], inside / passages.sentence[begins])
    return {"node": node, "edge": edge, "pos": pos}


def _coverages(
    passages: Passages, word_matches: Matches, terms: Mapping[str, float], evidence: Evidence, alpha: float
) -> dict[str, FloatArray]:
    """Share of the query, by rarity and weight of its words, that has a similar word in the passage.

    coverage = Σ_q idf_q² w_q max_p sim(q, p) / Σ_q idf_q² w_q over words p of the passage with sim ≥ α;
    early    = the largest over its sentences j of the same within the sentence, divided by √j.

    The rarity is that of the word in the query and of the word in the passage, as in the cosine of two tf-idf
    vectors. A word with the stem of q is similar by `SAME_STEM` at least, whatever α is.
    """
    nothing = {"coverage": np.zeros(passages.count), "early": np.zeros(passages.count)}
    if not terms or not len(passages.tokens):
        return nothing
    term_words = list(terms)
    importance = evidence.idf(term_words) ** 2 * np.fromiter(terms.values(), np.float64, len(terms))
    total = importance.sum()
    if not total > 0:
        return nothing
    is_near = is_similar(word_matches.similarity, alpha, strict=False)
    is_form = evidence.same_stem(passages.words, term_words)
    # Few of the passages' words are like any of the query: the others are left out at once.
    alike = np.flatnonzero((is_near | is_form).any(axis=1))
    similar = np.where(is_near[alike], word_matches.similarity[alike], 0.0)
    similar = np.maximum(similar, SAME_STEM * is_form[alike])
    row = np.full(len(passages.words), -1)
    row[alike] = np.arange(len(alike))
    rows = row[passages.tokens]
    relevant = np.flatnonzero(rows >= 0)
    if not len(relevant):
        return nothing
    best = similar[rows[relevant]]
    in_sentence, segment_begins = _largest(best, passages.segments[relevant])
    sentence = relevant[segment_begins]
    within = in_sentence @ importance / (total * np.sqrt(passages.sentence[sentence]))
    in_passage, begins = _largest(in_sentence, passages.passage[sentence])
    which = passages.passage[sentence[begins]]
    coverage, early = nothing["coverage"], nothing["early"]
    coverage[which] = in_passage @ importance / total
    np.maximum.at(early, passages.passage[sentence], within)
    return {"coverage": coverage, "early": early}


def _sums(groups: IntArray, values: FloatArray, count: int) -> FloatArray:
    """Sum of the values of each of `count` groups."""
    return np.bincount(groups, values, count).astype(np.float64, copy=False)


def _largest(rows: FloatArray, group: IntArray) -> tuple[FloatArray, IntArray]:
    """Largest value of each column by group of neighbouring rows, and where each group begins."""
    begins = np.flatnonzero(np.diff(group, prepend=-1))
    return np.maximum.reduceat(rows, begins, axis=0), begins


def _reciprocal_ranks(values: FloatArray) -> FloatArray:
    """One over the rank; equals to four decimals share the best rank, and as many ranks are left out."""
    rounded = np.round(values, _RANK_DECIMALS)
    above = len(rounded) - np.searchsorted(np.sort(rounded), rounded, side="right")
    return 1 / (above + 1.0)


def _shares(values: FloatArray) -> FloatArray:
    """Each value as a share of the largest; zeros where none is above zero."""
    largest = values.max(initial=0.0)
    return values / largest if largest > 0 else np.zeros(len(values))
