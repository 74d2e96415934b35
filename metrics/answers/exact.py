"""Exact match and F1 of tokens with the normalisation of SQuAD (Rajpurkar et al. 2016, 2018).

Texts are compared in lower case, without ASCII punctuation and without the articles a, an, the.

    exact = 1 if nothing else differs
    F1    = 2 P R / (P + R), P and R the shares of tokens of the candidate, of the reference, that both have

Where one text has nothing left, both metrics say whether the other has nothing left either (SQuAD 2.0). Of
several references the best counts.
"""

import re
import string
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from metrics.answers.ngrams import overlap
from metrics.answers.references import best, measured, owners
from metrics.answers.rouge import f_measure
from metrics.metric import Measured, Metric, signature
from metrics.profiles import Profile
from metrics.texts import Chunk, Places, Tokens
from metrics.tokens.tokeniser import Tokeniser

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = frozenset(("a", "an", "the"))
_ARTICLE = re.compile(r"\b(a|an|the)\b")


def _split(text: str) -> list[str]:
    plain = text.lower().translate(_PUNCTUATION)
    if plain.isascii() and plain.isprintable():
        return [word for word in plain.split() if word not in _ARTICLES]
    return _ARTICLE.sub(" ", plain).split()


SQUAD = Tokeniser("squad", _split)
SQUAD_CHAR = Tokeniser("squad-char", lambda text: list("".join(_split(text))))


def _numbered(tokens: Tokens) -> Places:
    """A number for each text, the same for texts of the same tokens."""
    bounds = tokens.starts.tolist()
    numbers: dict[bytes, int] = {}
    written = tokens.ids.tobytes()
    size = tokens.ids.itemsize
    slices = pairwise(bounds)
    found = [numbers.setdefault(written[size * a : size * b], len(numbers)) for a, b in slices]
    return np.asarray(found, np.intp)


def _exact(chunk: Chunk, _: Any, tokeniser: Tokeniser) -> Measured:
    numbers = _numbered(chunk.tokens(tokeniser))
    same = numbers[chunk.candidates][owners(chunk.starts)] == numbers[chunk.references]
    return measured(best(same.astype(np.float64), chunk.starts)[0], chunk.starts)


def _f1(chunk: Chunk, _: Any, tokeniser: Tokeniser) -> Measured:
    lengths = chunk.tokens(tokeniser).lengths
    own, theirs = lengths[chunk.candidates][owners(chunk.starts)], lengths[chunk.references]
    both = overlap(chunk, tokeniser).by_pair(1)
    found = f_measure(both / np.maximum(own, 1), both / np.maximum(theirs, 1), 1.0)
    found[(own == 0) & (theirs == 0)] = 1.0
    return measured(best(found, chunk.starts)[0], chunk.starts)


def _tokeniser(profile: Profile, family: str) -> Tokeniser:
    return SQUAD_CHAR if profile.tokeniser_for(family) == "char" else SQUAD


def make_exact(name: str, profile: Profile) -> Metric:
    """`exact`; under a profile of characters white space makes no difference."""
    tokeniser = _tokeniser(profile, "exact")
    said = signature(name, 1, tok=tokeniser.name, refs="best")
    return Metric(name, "Exact match", said, partial(_exact, tokeniser=tokeniser))


def make_f1(name: str, profile: Profile) -> Metric:
    """`f1` of tokens, under a profile of characters of characters."""
    tokeniser = _tokeniser(profile, "f1")
    said = signature(name, 1, tok=tokeniser.name, refs="best")
    return Metric(name, "F1 of tokens", said, partial(_f1, tokeniser=tokeniser))
