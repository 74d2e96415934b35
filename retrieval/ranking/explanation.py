"""Why a passage was found: its top nodes and edges and its best sentences, as places in its text.

Paper 001, section 4: up to five nodes and five edges, and one to three highlighted sentences by length of the
passage. The text itself is never changed or cut: everything is a pair of character offsets.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from retrieval.ranking.parameters import CROWN_2020, Parameters
from retrieval.ranking.scoring import Edges, Evidence, FloatArray, IntArray, Matches, Passages, edges, matches
from retrieval.sentences import sentences
from retrieval.tokens import WordPosition, located

#: Nodes and edges that are named at most.
MOST_NAMED = 5
#: Places of one word that are given at most.
MOST_PLACES = 200

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Node:
    """A word of the passage that is like a word of the query: its weight, that word, and all its places."""

    word: str
    weight: float
    term: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Edge:
    """Two words that stand close together and go together (NPMI), in alphabetical order; all their places."""

    first: str
    second: str
    npmi: float
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the passage: its number from 1, its place without white space around, its score.

    score: the sum of its node and edge weights. Sentences of a passage cover it but for white space.
    """

    number: int
    start: int
    end: int
    score: float
    is_highlighted: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """What there is to say about one passage. Empty where the query has nothing in common with it.

    bounds: the places of its sentences as they cover the text, with the white space around them.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    sentences: tuple[Sentence, ...]
    bounds: tuple[Span, ...]

    @property
    def highlights(self) -> list[Span]:
        """Places of the highlighted sentences, in the order of the text."""
        return [(each.start, each.end) for each in self.sentences if each.is_highlighted]

    @property
    def keywords(self) -> list[Span]:
        """Places of the words of top nodes and edges, in the order of the text, each once."""
        of_nodes = {span for node in self.nodes for span in node.spans}
        return sorted(of_nodes.union(*(edge.spans for edge in self.edges)))


@dataclass(frozen=True)
class _ParsedPassage:
    """A passage as it was read: its sentences, and its words with the number of the sentence of each.

    bounds: sentences as they cover the text; sentences: the same without white space around.
    """

    bounds: Sequence[Span]
    sentences: Sequence[Span]
    positions: Sequence[WordPosition]
    sentence: Sequence[int]


def explain(
    texts: Sequence[str],
    language: str,
    terms: Mapping[str, float],
    evidence: Evidence,
    parameters: Parameters,
) -> list[Explanation]:
    """Explain passages, in their order. terms: as they were scored with, see `conversation.query_terms`."""
    read = [_read(text, language, numbers=parameters.numbers) for text in texts]
    passages = _as_columns(read)
    word_matches = matches(passages, terms, evidence, parameters.alpha)
    pairs = edges(passages, word_matches, evidence, parameters.beta)
    bounds = np.searchsorted(passages.passage, np.arange(len(texts) + 1)).tolist()
    names = list(terms)
    is_published = parameters.profile == CROWN_2020
    explanations = []
    for one, (first, last) in zip(read, pairwise(bounds), strict=True):
        tokens, mine = passages.tokens[first:last], _within(pairs, first, last)
        scores = _sentence_scores(one, word_matches.weight[tokens], mine)
        explanations.append(
            Explanation(
                _nodes(one, passages.words, tokens, word_matches, names),
                _edges(one, passages.words, tokens, mine),
                _sentences(one, scores, even_zero=is_published),
                tuple(one.bounds),
            )
        )
    return explanations


def _sentence_scores(read: _ParsedPassage, weight: FloatArray, pairs: Edges) -> list[float]:
    """Sum of node and edge weights of each sentence; places of pairs are those in the passage."""
    sentence = np.asarray(read.sentence, np.int64)
    where = np.concatenate([sentence, sentence[pairs.first]])
    scores: list[float] = np.bincount(
        where, np.concatenate([weight, pairs.strength]), len(read.sentences)
    ).tolist()
    return scores


def _nodes(
    read: _ParsedPassage,
    vocabulary: Sequence[str],
    tokens: IntArray,
    word_matches: Matches,
    names: Sequence[str],
) -> tuple[Node, ...]:
    """Words by falling weight, equals as they stand in the text."""
    active_tokens = list(dict.fromkeys(tokens[word_matches.active[tokens]].tolist()))
    active_tokens.sort(key=lambda token: -word_matches.weight[token])  # stable
    return tuple(
        Node(
            vocabulary[token],
            float(word_matches.weight[token]),
            names[int(word_matches.label[token])],
            _spans(read, np.flatnonzero(tokens == token)),
        )
        for token in active_tokens[:MOST_NAMED]
    )


def _edges(
    read: _ParsedPassage, vocabulary: Sequence[str], tokens: IntArray, pairs: Edges
) -> tuple[Edge, ...]:
    """Pairs of words by falling NPMI, equals as they stand in the text."""
    places: dict[tuple[str, str], list[int]] = {}
    strength: dict[tuple[str, str], float] = {}
    order, tokens_here = np.lexsort((pairs.second, pairs.first)), tokens.tolist()
    for one, other, value in zip(
        pairs.first[order].tolist(), pairs.second[order].tolist(), pairs.strength[order].tolist(), strict=True
    ):
        a, b = sorted((vocabulary[tokens_here[one]], vocabulary[tokens_here[other]]))
        places.setdefault((a, b), []).extend((one, other))
        strength[a, b] = value
    best = sorted(places, key=lambda pair: -strength[pair])[:MOST_NAMED]
    return tuple(
        Edge(*pair, strength[pair], _spans(read, np.unique(np.array(places[pair], np.int64))))
        for pair in best
    )


def _sentences(read: _ParsedPassage, scores: Sequence[float], *, even_zero: bool) -> tuple[Sentence, ...]:
    """All sentences; the best of those with words are highlighted: 1 of up to 3, 2 of 4, 3 of more.

    As published, a sentence of score 0 may be among the best; in other profiles it is not highlighted.
    """
    with_words = sorted(set(read.sentence))
    many = len(with_words)
    most = 1 if many <= 3 else 2 if many == 4 else 3
    among = [number for number in with_words if even_zero or scores[number] > 0]
    best = set(sorted(among, key=lambda number: -round(scores[number], 10))[:most])
    return tuple(
        Sentence(number + 1, start, end, scores[number], number in best)
        for number, (start, end) in enumerate(read.sentences)
    )


def _spans(read: _ParsedPassage, places: IntArray) -> tuple[Span, ...]:
    return tuple(
        (read.positions[place].start, read.positions[place].end) for place in places[:MOST_PLACES].tolist()
    )


def _within(pairs: Edges, first: int, last: int) -> Edges:
    """Pairs of the passage whose tokens are first to last, by their places in it."""
    inside = (pairs.first >= first) & (pairs.first < last)
    return Edges(pairs.first[inside] - first, pairs.second[inside] - first, pairs.strength[inside])


def _read(text: str, language: str, *, numbers: bool) -> _ParsedPassage:
    spans, positions = sentences(text, language), located(text, language, numbers=numbers)
    ends = np.array([end for _, end in spans])
    sentence = ends.searchsorted([word.start for word in positions], side="right").tolist()
    trimmed = []
    for start, end in spans:
        sentence_text = text[start:end]
        trimmed.append((end - len(sentence_text.lstrip()), start + len(sentence_text.rstrip())))
    return _ParsedPassage(spans, trimmed, positions, sentence)


def _as_columns(read: Sequence[_ParsedPassage]) -> Passages:
    """Passages for matching: sentences are told apart here, and not counted."""
    numbers_of_words: dict[str, int] = {}
    tokens = [
        numbers_of_words.setdefault(each.word, len(numbers_of_words))
        for one in read
        for each in one.positions
    ]
    passage = np.repeat(np.arange(len(read)), [len(one.positions) for one in read])
    sentence = [number for one in read for number in one.sentence]
    return Passages(
        list(numbers_of_words), np.array(tokens, np.int64), passage, np.array(sentence, np.int64), len(read)
    )
