"""Lengths of longest common subsequences of candidates and references."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cpdist

from metrics.base import Floats
from metrics.texts import Chunk, Ids, Tokens

_SURROGATES, _AFTER_SURROGATES = 0xD800, 0xE000
#: How many tokens there are characters for.
MOST = 0x110000 - (_AFTER_SURROGATES - _SURROGATES)


def written(tokens: Tokens) -> Sequence[Sequence[int] | str]:
    """Each text with one character per token, so that string algorithms can be used on tokens.

    Surrogates are no characters and are left out. Where there are more distinct tokens than characters, a
    text is a list of its numbers, which is slower.
    """
    bounds = tokens.starts.tolist()
    slices = list(pairwise(bounds))
    if len(tokens.words) > MOST:
        numbers = tokens.ids.tolist()
        return [numbers[a:b] for a, b in slices]
    whole = _characters(tokens.ids)
    return [whole[a:b] for a, b in slices]


def _characters(ids: Ids) -> str:
    points = ids.astype("<u4")
    points[points >= _SURROGATES] += _AFTER_SURROGATES - _SURROGATES
    return points.tobytes().decode("utf-32-le")


def common(chunk: Chunk, tokens: Tokens) -> Floats:
    """Length of the longest common subsequence of each pair of a chunk, in tokens (P)."""
    texts = written(tokens)
    candidates = np.repeat(chunk.candidates, np.diff(chunk.starts)).tolist()
    if not candidates:
        return np.zeros(0)
    found = cpdist(
        [texts[place] for place in candidates],
        [texts[place] for place in chunk.references.tolist()],
        scorer=LCSseq.similarity,
        dtype=np.int32,
        workers=1,
    )
    return found.astype(np.float64)
