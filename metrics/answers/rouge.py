"""ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004).

    P = matches / n-grams of the candidate,  R = matches / n-grams of the reference
    F = (1 + beta^2) P R / (R + beta^2 P)

Matches are clipped n-grams, or for ROUGE-L the length of a longest common subsequence, with lengths in
tokens.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from metrics.answers.lcs import common
from metrics.answers.ngrams import overlap_of
from metrics.answers.references import best, measured, owners
from metrics.answers.stems import stemmed
from metrics.base import ChunkValues, Floats, Metric, signature
from metrics.errors import MetricError
from metrics.profiles import Profile
from metrics.texts import Chunk, Tokens
from metrics.tokens.registry import tokeniser as tokeniser_named
from metrics.tokens.tokeniser import Tokeniser

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
