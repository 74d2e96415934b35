"""CROWN: the engines' candidates in another order, by words like the question's and how they hang together.

Profiles `crown-2020` (as published) and `balanced`; see docs/crown.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import NetworkBrokenError
from retrieval.ranking.base import Collection, RankedPassage, Ranker, Ranking
from retrieval.ranking.bm25 import BM25, MOST_TERMS, CandidateList, find, generations, notes_on
from retrieval.ranking.parameters import BM25_ONLY, Parameters, defaults, query_terms
from retrieval.ranking.scoring import FloatArray, IntArray, Scores, combined, score
from retrieval.tokens import tokens

NO_NETWORK = (
    "{} has no word proximity network, so the order is BM25's. "
    "Build one on the page of the corpus, or: manage.py wpn build."
)
NO_CONTENT = "The question has function words only, so the order is BM25's."
_SHORT = ("alpha", "beta", "candidates")


@dataclass(frozen=True)
class Crown:
    """Scores the engines' candidates by a profile with its options."""

    parameters: Parameters

    @property
    def name(self) -> str:
        """balanced or crown-2020, with what differs from the profile's usual options after it."""
        usual, parameters = defaults(self.parameters.profile), self.parameters
        options = [parameters.query_model] if parameters.query_model != usual.query_model else []
        options += [
            f"{name}={getattr(parameters, name):g}"
            for name in _SHORT
            if getattr(parameters, name) != getattr(usual, name)
        ]
        if parameters.weights != usual.weights:
            options += [f"{name}={value:g}" for name, value in parameters.weights.items()]
        return ":".join([parameters.profile, *options])

    def rank(self, collections: Sequence[Collection], turns: Sequence[str], k: int) -> Ranking:
        """The k candidates of the greatest scores; equal ones as BM25 has them.

        Where a collection has no network that can be used, the order is BM25's, and a note says so.
        """
        model = self.parameters.query_model
        candidates = find(collections, turns, model, max(k, self.parameters.candidates))
        terms = [content_terms(collection.language, turns, self.parameters) for collection in collections]
        why_not = _without_network(collections) or ([] if any(terms) else [NO_CONTENT])
        if why_not or not candidates.candidates:
            return BM25(model).ranking(collections, candidates, k, notes=why_not)
        length = max(question_length(each.language, turns, self.parameters) for each in collections)
        scores = self._scored(collections, candidates, terms, length)
        return Ranking(
            ranker=self.name,
            parameters=self.parameters.as_dict(),
            generations=generations(collections),
            terms=_merged(terms),
            results=_ranked(collections, candidates, scores, k),
            notes=notes_on(candidates),
        )

    def _scored(
        self,
        collections: Sequence[Collection],
        candidates: CandidateList,
        terms: Sequence[Mapping[str, float]],
        length: int,
    ) -> Scores:
        """Scores of the candidates in the engines' order. Each collection is judged by its own network.

        What a collection's network says of its candidates is put together before anything is compared, so
        that a share is one of the best of all candidates, whichever collection they are of.
        """
        own = [
            [number for number, each in enumerate(candidates.candidates) if each.place == place]
            for place in range(len(collections))
        ]
        if sum(map(bool, own)) == 1:
            [place] = [place for place, numbers in enumerate(own) if numbers]
            everything = range(len(candidates.candidates))
            return self._scored_one(collections[place], candidates, everything, terms[place], length)
        raw: dict[str, FloatArray] = {}
        for place, numbers in enumerate(own):
            if not numbers:
                continue
            theirs = self._scored_one(collections[place], candidates, numbers, terms[place], length)
            for name, values in theirs.raw.items():
                raw.setdefault(name, np.zeros(len(candidates.candidates)))[numbers] = values
        return combined(raw, self.parameters, length=length)

    def _scored_one(
        self,
        collection: Collection,
        candidates: CandidateList,
        numbers: Sequence[int],
        terms: Mapping[str, float],
        length: int,
    ) -> Scores:
        evidence = collection.evidence
        assert evidence is not None  # asked before
        mine = [candidates.candidates[number] for number in numbers]
        passages = collection.columns([each.pk for each in mine], numbers=self.parameters.numbers)
        scores = [each.score for each in mine]
        return score(passages, terms, evidence, self.parameters, scores, length=length)


def content_terms(language: str, turns: Sequence[str], parameters: Parameters) -> dict[str, float]:
    """The conversational query: content words of turns with their weights, the question's first."""
    cut = [tokens(turn, language, numbers=parameters.numbers) for turn in turns]
    return dict(islice(query_terms(cut, parameters.query_model).items(), MOST_TERMS))


def question_length(language: str, turns: Sequence[str], parameters: Parameters) -> int:
    """Different content words of the question alone: what `balanced` calls its length."""
    return len(set(tokens(turns[-1], language, numbers=parameters.numbers)))


def ranker_of(parameters: Parameters) -> Ranker:
    """The ranker of a profile, of which one is the engine alone."""
    if parameters.profile == BM25_ONLY:
        return BM25(parameters.query_model)
    return Crown(parameters)


def _without_network(collections: Sequence[Collection]) -> list[str]:
    """A note for each collection whose network is missing or cannot be used."""
    notes = []
    for collection in collections:
        try:
            if collection.evidence is None:
                notes.append(NO_NETWORK.format(collection.name))
        except NetworkBrokenError as error:
            notes.append(f"{collection.name}: {error} Until then the order is BM25's.")
    return notes


def _ranked(
    collections: Sequence[Collection], candidates: CandidateList, scores: Scores, k: int
) -> list[RankedPassage]:
    """The first k candidates by score, with what their scores are made of."""
    places = scores.order[:k]
    parts, raw = _rows(scores.parts, places), _rows(scores.raw, places)
    finals = scores.final[places].tolist()
    return [
        RankedPassage(
            rank=rank,
            score=finals[rank - 1],
            collection=collections[candidates.candidates[place].place].name,
            pk=candidates.candidates[place].pk,
            parts=parts[rank - 1],
            raw=raw[rank - 1],
            found_at=place + 1,
        )
        for rank, place in enumerate(places.tolist(), 1)
    ]


def _rows(columns: Mapping[str, FloatArray], places: IntArray) -> list[dict[str, float]]:
    """Values of some candidates, by name."""
    values = zip(*(column[places].tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in values]


def _merged(terms: Sequence[Mapping[str, float]]) -> dict[str, float]:
    merged: dict[str, float] = {}
    for each in terms:
        for term, weight in each.items():
            merged[term] = max(merged.get(term, 0.0), weight)
    return merged


# Evidence without a network: a word is like itself, and nothing is known about pairs.


class ExactWords:
    """Enough to show which words of a question a passage has, where no network has been built."""

    def similarities(self, words: Sequence[str], terms: Sequence[str]) -> FloatArray:
        """1 for the same word, -1 for others, (words, terms)."""
        places = {term: place for place, term in enumerate(terms)}
        cosines = np.full((len(words), len(terms)), -1.0)
        for row, word in enumerate(words):
            if word in places:
                cosines[row, places[word]] = 1.0
        return cosines

    def associations(self, first: Sequence[str], second: Sequence[str]) -> FloatArray:
        """No pair has an edge."""
        return np.full(len(first), np.nan)

    def idf(self, terms: Sequence[str]) -> FloatArray:
        """All words are equally rare."""
        return np.ones(len(terms))

    def same_stem(self, words: Sequence[str], terms: Sequence[str]) -> NDArray[np.bool_]:
        """A word is a form of itself only."""
        return self.similarities(words, terms) > 0
