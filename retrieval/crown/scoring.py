"""Scores of candidate passages for a conversational query, by both profiles, all candidates at once.

crown-2020   h1·prior + h2·node + h3·edge + h4·pos, where each part is one over the candidate's rank by it
             (paper 001, section 2.3; the ranks are in the published code only).
balanced     Σ h·f over bm25, node, edge, pos, coverage, early coverage and feedback, where each f is a share
             of the best candidate's value; coverage fades with the length of the question, feedback comes in
             its place. See docs/crown.md for what is measured.
balanced-1   The same without feedback, and whatever the length of the question.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from retrieval.crown.matching import Edges, Matches, edges, is_similar, matches
from retrieval.crown.parameters import BALANCED, CROWN_2020, Parameters
from retrieval.crown.passages import Evidence, FloatArray, IntArray, Passages

#: Values that are equal to this many decimals have the same rank (published code).
_RANK_DECIMALS = 4
#: Final scores that differ by less are equal: what is left of the order of adding.
_FINAL_DECIMALS = 10
#: How similar a form of a word is to the word, for coverage. Measured: see docs/crown.md.
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
    found = matches(passages, terms, evidence, parameters.alpha)
    raw = _network_parts(passages, found, edges(passages, found, evidence, parameters.beta))
    bm25 = np.asarray(engine_scores, np.float64)
    if parameters.profile == CROWN_2020:
        raw = {**raw, "bm25": bm25}
    else:
        raw = {"bm25": bm25, **raw, **_coverages(passages, found, terms, evidence, parameters.alpha)}
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
    found = np.where(others > 0, likeness / np.where(others > 0, others, 1), 0.0)
    # What is left of the order of adding is no likeness, and must not become a share of one.
    return np.maximum(np.round(found, _FINAL_DECIMALS), 0.0)


def _network_parts(passages: Passages, found: Matches, pairs: Edges) -> dict[str, FloatArray]:
    """Node, edge and position scores of the paper, as they are there."""
    segment = passages.segments
    n_segments = int(segment[-1]) + 1 if len(segment) else 0
    # Only tokens that weigh anything: the others add nothing.
    heavy = np.flatnonzero(found.active[passages.tokens])
    weight = found.weight[passages.tokens[heavy]]
    node = _sums(passages.passage[heavy], weight, passages.count)
    edge = _sums(passages.passage[pairs.first], pairs.strength, passages.count)
    inside = _sums(segment[heavy], weight, n_segments)
    inside += _sums(segment[pairs.first], pairs.strength, n_segments)
    begins = np.flatnonzero(np.diff(segment, prepend=-1))
    pos = np.zeros(passages.count)
    np.maximum.at(pos, passages.passage[begins], inside / passages.sentence[begins])
    return {"node": node, "edge": edge, "pos": pos}


def _coverages(
    passages: Passages, found: Matches, terms: Mapping[str, float], evidence: Evidence, alpha: float
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
    words = list(terms)
    importance = evidence.idf(words) ** 2 * np.fromiter(terms.values(), np.float64, len(terms))
    total = importance.sum()
    if not total > 0:
        return nothing
    similar = np.where(is_similar(found.similarity, alpha, strict=False), found.similarity, 0.0)
    similar = np.maximum(similar, SAME_STEM * evidence.same_stem(passages.words, words))
    relevant = np.flatnonzero(similar.max(axis=1)[passages.tokens])
    if not len(relevant):
        return nothing
    best = similar[passages.tokens[relevant]]
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
