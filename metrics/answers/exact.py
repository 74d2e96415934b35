"""Metrics of a few lines: length, exact match and F1 of tokens.

The last two have the normalisation of SQuAD (Rajpurkar et al. 2016, 2018): texts are compared in lower case,
without ASCII punctuation and without the articles a, an, the.

    exact = 1 if nothing else differs
    F1    = 2 P R / (P + R), P and R the shares of tokens of the candidate, of the reference, that both have

Where one text has nothing left, both metrics say whether the other has nothing left either (SQuAD 2.0). Of
several references the best counts.
"""

import re
import string
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from metrics.answers.ngrams import overlap_of
from metrics.answers.references import best, measured, owners
from metrics.answers.rouge import f_measure
from metrics.base import ChunkValues, Metric, signature
from metrics.profiles import Profile
from metrics.texts import Chunk, Places, Tokens
from metrics.tokens.registry import tokeniser_named
from metrics.tokens.runs import Runs, cut
from metrics.tokens.tokeniser import Tokeniser

# Length as a metric: what a metric that only looked at length would say. A floor for all others.
#
# length            = tokens of the candidate
# length-difference = -|tokens of the candidate - tokens of a reference|, the reference closest in length


def _length(chunk: Chunk, _: Any, tokeniser: Tokeniser) -> ChunkValues:
    return ChunkValues(chunk.tokens(tokeniser).lengths[chunk.candidates].astype(np.float64))


def _difference(chunk: Chunk, _: Any, tokeniser: Tokeniser) -> ChunkValues:
    lengths = chunk.tokens(tokeniser).lengths
    apart = np.abs(lengths[chunk.candidates][owners(chunk.starts)] - lengths[chunk.references])
    return measured(best(-apart.astype(np.float64), chunk.starts)[0], chunk.starts)


def make_length(name: str, profile: Profile) -> Metric:
    """`length`, which needs no reference."""
    tokeniser = tokeniser_named(profile.tokeniser_for("length"))
    said = signature(name, 1, tok=tokeniser.label)
    return Metric(name, "Length", said, partial(_length, tokeniser=tokeniser), high=float("inf"))


def make_difference(name: str, profile: Profile) -> Metric:
    """`length-difference`, at most 0."""
    tokeniser = tokeniser_named(profile.tokeniser_for("length"))
    said = signature(name, 1, tok=tokeniser.label, refs="closest")
    measure = partial(_difference, tokeniser=tokeniser)
    return Metric(name, "Length difference", said, measure, low=float("-inf"), high=0.0)


_PUNCTUATION = str.maketrans("", "", string.punctuation)
_MARKS = string.punctuation.encode()
_ARTICLES = frozenset(("a", "an", "the"))
_ARTICLE = re.compile(r"\b(a|an|the)\b")
_SPACES = Runs(lower=False, alone="none")
_CHARACTERS = Runs(lower=False, alone="all")


def normalised(text: str) -> str:
    """A text in lower case without ASCII punctuation and without articles."""
    return _ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION))


def _without_marks(text: str) -> str:
    """A normalised text, but for articles that are words between spaces."""
    if text.isascii() and text.isprintable():
        return text.lower().encode().translate(None, _MARKS).decode()
    return normalised(text)


def _tokens(chunk: Chunk, rule: Runs) -> Tokens:
    """The normalised texts of a chunk as words, or as characters."""
    return chunk.once(("squad", rule), lambda: _cut(chunk.texts, rule))


def _cut(texts: Sequence[str], rule: Runs) -> Tokens:
    if rule.alone == "all":
        return Tokens(*cut(list(map(normalised, texts)), rule))
    ids, starts, words = cut(list(map(_without_marks, texts)), rule)
    article = np.fromiter((word in _ARTICLES for word in words), np.bool_, len(words))
    kept = ~article[ids]
    before = np.concatenate(([0], np.cumsum(kept)))
    return Tokens(ids[kept], before[starts], words)


def _numbered(tokens: Tokens) -> Places:
    """A number for each text, the same for texts of the same tokens."""
    bounds = tokens.starts.tolist()
    numbers: dict[bytes, int] = {}
    written = tokens.ids.tobytes()
    size = tokens.ids.itemsize
    slices = pairwise(bounds)
    found = [numbers.setdefault(written[size * a : size * b], len(numbers)) for a, b in slices]
    return np.asarray(found, np.intp)


def _exact(chunk: Chunk, _: Any, rule: Runs) -> ChunkValues:
    numbers = _numbered(_tokens(chunk, rule))
    same = numbers[chunk.candidates][owners(chunk.starts)] == numbers[chunk.references]
    return measured(best(same.astype(np.float64), chunk.starts)[0], chunk.starts)


def _f1(chunk: Chunk, _: Any, rule: Runs) -> ChunkValues:
    tokens = _tokens(chunk, rule)
    lengths = tokens.lengths
    own, theirs = lengths[chunk.candidates][owners(chunk.starts)], lengths[chunk.references]
    both = overlap_of(chunk, tokens).by_pair(1)
    found = f_measure(both / np.maximum(own, 1), both / np.maximum(theirs, 1), 1.0)
    found[(own == 0) & (theirs == 0)] = 1.0
    return measured(best(found, chunk.starts)[0], chunk.starts)


def _rule(profile: Profile, family: str) -> tuple[Runs, str]:
    """Words between spaces, or characters under a profile of characters, and how a signature names them."""
    if profile.tokeniser_for(family) == "char":
        return _CHARACTERS, "squad-char.2"
    return _SPACES, "squad"


def make_exact(name: str, profile: Profile) -> Metric:
    """`exact`; under a profile of characters white space makes no difference."""
    rule, said = _rule(profile, "exact")
    return Metric(name, "Exact match", signature(name, 2, tok=said, refs="best"), partial(_exact, rule=rule))


def make_f1(name: str, profile: Profile) -> Metric:
    """`f1` of tokens, under a profile of characters of characters."""
    rule, said = _rule(profile, "f1")
    return Metric(name, "F1 of tokens", signature(name, 2, tok=said, refs="best"), partial(_f1, rule=rule))
