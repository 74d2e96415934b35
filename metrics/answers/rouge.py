"""ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004).

    P = matches / n-grams of the candidate,  R = matches / n-grams of the reference
    F = (1 + beta^2) P R / (R + beta^2 P)

Matches are clipped n-grams, or for ROUGE-L the length of a longest common subsequence, with lengths in
tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cpdist

from metrics.answers.ngrams import overlap_of
from metrics.answers.references import best, measured, owners
from metrics.answers.stems import stemmed
from metrics.base import ChunkValues, Floats, Metric, signature
from metrics.errors import MetricError
from metrics.profiles import Profile
from metrics.texts import Chunk, Ids, Tokens
from metrics.tokens.registry import tokeniser_named
from metrics.tokens.tokeniser import Tokeniser

# Lengths of longest common subsequences of candidates and references.

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


REFERENCES = {"best": "reference with the highest F", "separate": "highest P and highest R, each by itself"}


@dataclass(frozen=True, slots=True)
class Rouge:
    """The parameters of ROUGE.

    `kind` is 1, 2 (n-grams) or 0 (longest common subsequence). `beta` weighs recall (1: as much as precision;
    coco-caption: 1.2). `stem` names a Snowball stemmer, or is empty. `refs`: `best` takes the reference
    with the highest F, `separate` the highest P and the highest R of all, then F (coco-caption).
    """

    kind: int
    beta: float = 1.0
    stem: str = ""
    refs: str = "best"

    def __post_init__(self) -> None:
        if self.refs not in REFERENCES:
            raise MetricError(f"ROUGE takes references as {' or '.join(REFERENCES)}, not as {self.refs!r}.")


def f_measure(precision: Floats, recall: Floats, beta: float) -> Floats:
    """(1 + beta^2) P R / (R + beta^2 P), 0 where both are."""
    above = (1 + beta**2) * precision * recall
    below = recall + beta**2 * precision
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def _measure(chunk: Chunk, _: Any, how: Rouge, tokeniser: Tokeniser) -> ChunkValues:
    key = (tokeniser.name, how.stem)
    tokens = stemmed(chunk, tokeniser, how.stem) if how.stem else chunk.tokens(tokeniser)
    matches, lengths = _matches(chunk, tokens, how.kind, key)
    candidates, references = lengths[chunk.candidates], lengths[chunk.references]
    of = owners(chunk.starts)
    precision = matches / np.maximum(candidates, 1)[of]
    recall = matches / np.maximum(references, 1)
    if how.refs == "best":
        values, _pairs = best(f_measure(precision, recall, how.beta), chunk.starts)
    else:
        highest = [best(part, chunk.starts)[0] for part in (precision, recall)]
        values = f_measure(highest[0], highest[1], how.beta)
        values[np.isnan(highest[0])] = np.nan
    return measured(values, chunk.starts)


def _matches(chunk: Chunk, tokens: Tokens, kind: int, key: tuple[str, str]) -> tuple[Floats, Floats]:
    """Matches of each pair, and the number of n-grams (or tokens) of each distinct text."""
    lengths = tokens.lengths
    if kind == 0:
        return chunk.once(("lcs", *key), lambda: common(chunk, tokens)), lengths.astype(np.float64)
    name = ("overlap", *key) if key[1] else ("overlap", key[0])
    shared = chunk.once(name, lambda: overlap_of(chunk, tokens))
    return shared.by_pair(kind).astype(np.float64), np.maximum(lengths - (kind - 1), 0).astype(np.float64)


def make(name: str, profile: Profile) -> Metric:
    """`rouge-1`, `rouge-2`, `rouge-l`, and each with `-stem`, as the profile's `rouge` settings have it.

    Settings are `beta`, `refs`, `stem` (the stemmer for the names with `-stem`; English if none is named)
    and `tokeniser`.
    """
    options = dict(profile.options("rouge"))
    stem = str(options.pop("stem", "english"))
    plain = name.removesuffix("-stem")
    which = plain.rpartition("-")[2]
    how = Rouge(0 if which == "l" else int(which), stem=stem if name != plain else "", **options)
    tokeniser = tokeniser_named(profile.tokeniser_for("rouge"))
    said = {"tok": tokeniser.label, "stem": how.stem or "no", "beta": f"{how.beta:g}", "refs": how.refs}
    return Metric(
        name=name,
        title=f"ROUGE-{which.upper()}" + (" (stemmed)" if how.stem else ""),
        signature=signature(name, 1, **said),
        measure=partial(_measure, how=how, tokeniser=tokeniser),
    )
