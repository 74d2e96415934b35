"""METEOR: matches of single tokens, and how few chunks they make (Banerjee and Lavie 2005).

M = (1 - gamma * (chunks / m) ** theta) * m / (alpha * l1 + (1 - alpha) * l2), 0 if m = 0, with m matches,
l1 tokens of the candidate and l2 of the reference. The second factor is the harmonic mean of precision m / l1
and recall m / l2; alpha = .1 counts recall nine times, as the paper does, and gamma = .5, theta = 3 are its.
Papers that write P * R / (alpha * P + (1 - alpha) * R) call the same weights alpha = .9.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import cast

import numpy as np

from metrics.answers import wordnet
from metrics.answers.chunks import most_adjacencies, most_adjacencies_that_fit
from metrics.answers.crossings import chunks_with_fewest_crossings
from metrics.answers.matching import Keys, later, overlap, staged
from metrics.answers.stems import stemmed
from metrics.base import NO_REFERENCE, ChunkValues, Metric, signature
from metrics.errors import MetricError
from metrics.profiles import Profile
from metrics.texts import Chunk, Tokens
from metrics.tokens.registry import tokeniser as tokeniser_named
from metrics.tokens.tokeniser import Tokeniser

VERSION = 1
MINCHUNK = "minchunk"
MINCROSS = "mincross"
Words = Sequence[Hashable]


@dataclass(frozen=True, slots=True)
class Weights:
    """Parameters of the formula, and which alignment counts: `minchunk`, or `mincross` (crossings first)."""

    alpha: float = 0.1
    gamma: float = 0.5
    theta: float = 3.0
    variant: str = MINCHUNK

    def __post_init__(self) -> None:
        if not (0 <= self.alpha <= 1 and 0 <= self.gamma <= 1 and self.theta >= 0):
            raise MetricError("METEOR takes alpha and gamma from 0 to 1 and theta from 0 on.")
        if self.variant not in (MINCHUNK, MINCROSS):
            raise MetricError(f"METEOR has the variants {MINCHUNK} and {MINCROSS}, not {self.variant!r}.")

    def value(self, matches: int, chunks: int, candidate: int, reference: int) -> float:
        """M of so many matches and chunks in texts of so many tokens."""
        if not matches:
            return 0.0
        mean = matches / (self.alpha * candidate + (1 - self.alpha) * reference)
        value: float = (1 - self.gamma * (chunks / matches) ** self.theta) * mean
        return value


def meteor_pair(
    candidate_tokens: Sequence[str],
    reference_tokens: Sequence[str],
    *,
    alpha: float = 0.1,
    gamma: float = 0.5,
    theta: float = 3.0,
    variant: str = MINCHUNK,
) -> float:
    """METEOR of a candidate and one reference by exact matches alone, from 0 to 1."""
    return aligned(candidate_tokens, reference_tokens, Weights(alpha, gamma, theta, variant))


def aligned(candidate: Words, reference: Words, weights: Weights, stages: Sequence[Keys] = ()) -> float:
    """METEOR of two token sequences; `stages` come after the exact one, see matching.py."""
    matches, chunks = matches_and_chunks(candidate, reference, weights.variant, stages)
    return weights.value(matches, chunks, len(candidate), len(reference))


def matches_and_chunks(
    candidate: Words, reference: Words, variant: str = MINCHUNK, stages: Sequence[Keys] = ()
) -> tuple[int, int]:
    """m and the number of chunks of the best alignment."""
    pairs = later(candidate, reference, stages) if stages else ()
    if variant == MINCHUNK and not any(pairs):
        matches = overlap(candidate, reference)
        return matches, matches - most_adjacencies(candidate, reference) if matches else 0
    found = staged(candidate, reference, pairs)
    if variant == MINCROSS:
        return found.m, chunks_with_fewest_crossings(found.partners, reference, found.parts, found.fits)
    if found.fits is None:
        return found.m, found.m - most_adjacencies(*found.names)
    return found.m, found.m - most_adjacencies_that_fit(found.partners, *found.names, found.fits)


@dataclass(frozen=True, slots=True)
class Setting:
    """A METEOR with everything fixed."""

    tokeniser: Tokeniser
    weights: Weights
    language: str = ""
    synonyms: bool = False

    def stages(self, chunk: Chunk) -> list[Keys]:
        """What the stages after the exact one compare, for tokens as the chunk numbers them."""
        tokens = chunk.tokens(self.tokeniser)
        stages: list[Keys] = []
        if self.language:
            of_word = np.zeros(len(tokens.words), np.intp)
            of_word[tokens.ids] = stemmed(chunk, self.tokeniser, self.language).ids
            same = [(stem,) for stem in of_word.tolist()]
            stages.append(cast(Keys, same.__getitem__))
        if self.synonyms:
            stages.append(cast(Keys, cache(lambda number: wordnet.synsets(tokens.words[number]))))
        return stages

    def measure(self, chunk: Chunk, found: object) -> ChunkValues:
        """The best reference of each candidate; nan where there is none."""
        tokens = chunk.tokens(self.tokeniser)
        texts = chunk.once(("lists", self.tokeniser.name), lambda: lists(tokens))
        stages = self.stages(chunk)
        values = np.full(len(chunk), np.nan)
        starts, candidates, references = chunk.starts, chunk.candidates.tolist(), chunk.references.tolist()
        for place, (start, end) in enumerate(pairwise(starts.tolist())):
            candidate = texts[candidates[place]]
            if end > start:
                values[place] = max(
                    aligned(candidate, texts[reference], self.weights, stages)
                    for reference in set(references[start:end])
                )
        missing = int(np.isnan(values).sum())
        return ChunkValues(values, why={NO_REFERENCE: missing} if missing else {})


def lists(tokens: Tokens) -> list[list[int]]:
    """Each text as a list of numbers."""
    ids = tokens.ids.tolist()
    return [ids[start:end] for start, end in pairwise(tokens.starts.tolist())]


def make(name: str, profile: Profile) -> Metric:
    """`meteor` under a profile.

    Its settings `meteor` may hold alpha, gamma, theta, variant, language (of the stemmer; "" for no stems),
    synonyms ("wordnet", or "" for none) and tokeniser.
    """
    given = profile.options("meteor")
    tokeniser = tokeniser_named(profile.tokeniser_for("meteor"))
    language = given.pop("language", "english")
    wanted = given.pop("synonyms", "wordnet")
    synonyms = wanted == "wordnet" and not wordnet.missing()
    try:
        weights = Weights(**given)
    except TypeError as error:
        raise MetricError(f"METEOR has no such setting: {error}.") from None
    setting = Setting(tokeniser, weights, language, synonyms)
    return Metric(
        name=name,
        title="METEOR",
        signature=signature(
            name,
            VERSION,
            tok=tokeniser.label,
            stages="+".join(["exact", *(["stem"] if language else []), *(["synonym"] if synonyms else [])]),
            stem=language or "none",
            synonyms="wordnet" if synonyms else "none",
            alpha=weights.alpha,
            gamma=weights.gamma,
            theta=weights.theta,
            variant=weights.variant,
            refs="max",
        ),
        measure=setting.measure,
    )
