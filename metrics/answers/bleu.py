"""BLEU (Papineni et al. 2002), of a sentence and of a corpus.

    p_n  = sum over n-grams of min(count in the candidate, highest count in one reference)
           / number of n-grams of the candidate
    BP   = 1 if c >= r, else exp(1 - r / c); c tokens in the candidate, r in the reference closest in length
    BLEU = BP * exp(mean over n = 1..N of log p_n)

In a corpus the numerators, the denominators, c and r are summed first. What a smoothing does to a p_n of 0 is
that of sacrebleu (Chen and Cherry 2014, methods 1 to 3).
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from metrics.answers.ngrams import overlap
from metrics.answers.references import best, closest, measured, owners
from metrics.base import ChunkValues, Floats, Metric, signature
from metrics.errors import MetricError
from metrics.profiles import Profile
from metrics.texts import Chunk
from metrics.tokens.registry import tokeniser_named
from metrics.tokens.tokeniser import Tokeniser

#: What a smoothing is given when nothing is said.
SMOOTHINGS: dict[str, float] = {"none": 0.0, "floor": 0.1, "add-k": 1.0, "exp": 0.0, "kpqa": 0.0}
REFERENCES = {"clip": "clipped by the maximum over references, closest length", "max": "best reference alone"}
_TINY, _SMALL = 1e-15, 1e-9

Numbers = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Bleu:
    """The parameters of BLEU.

    `smoothing`: `none` (0 as soon as one order has no match), `floor` (a numerator of 0 is `value`), `add-k`
    (`value` is added to numerator and denominator of orders above 1), `exp` (the k-th numerator of 0 is
    2^-k), or `kpqa`, coco-caption's p_n = (h + 1e-15) / (t + 1e-9) with the length ratio (c + 1e-15) / (r +
    1e-9) (KPQA, Lee et al. 2021), which is never 0 for a candidate with tokens. `effective`: a candidate
    that is too short for an order is judged by the lower ones. `refs`: `clip` (all references at once, as
    Papineni et al. have it) or `max` (each alone, the best counts).
    """

    n: int = 4
    smoothing: str = "exp"
    value: float | None = None
    effective: bool = True
    refs: str = "clip"

    def __post_init__(self) -> None:
        if self.smoothing not in SMOOTHINGS:
            raise MetricError(f"BLEU has no smoothing {self.smoothing!r}; it has {', '.join(SMOOTHINGS)}.")
        if self.refs not in REFERENCES:
            raise MetricError(f"BLEU takes references as {' or '.join(REFERENCES)}, not as {self.refs!r}.")

    def as_json(self) -> dict[str, object]:
        """The parameters as a signature names them."""
        value = SMOOTHINGS[self.smoothing] if self.value is None else self.value
        return {
            "n": self.n,
            "smooth": f"{self.smoothing}[{value:g}]" if value else self.smoothing,
            "eff": "yes" if self.effective and self.smoothing != "kpqa" else "no",
            "refs": self.refs,
        }


def bleu(
    hits: npt.ArrayLike,
    totals: npt.ArrayLike,
    lengths: npt.ArrayLike,
    reference_lengths: npt.ArrayLike,
    how: Bleu,
) -> Floats:
    """BLEU of counts: hits and totals (m, N), lengths c and r (m) -> values (m), of sentences or of sums.

    A candidate without tokens, or without a match, has 0.
    """
    hits, totals = np.asarray(hits, np.float64), np.asarray(totals, np.float64)
    c, r = np.asarray(lengths, np.float64), np.asarray(reference_lengths, np.float64)
    if how.smoothing == "kpqa":
        return _kpqa(hits, totals, c, r)
    precisions, orders = _precisions(hits, totals, how)
    with np.errstate(divide="ignore", invalid="ignore"):
        penalty = np.where(c < r, np.exp(1 - r / c), 1.0)
        logs = np.where(precisions > 0, np.log(precisions), -np.inf)
        within = np.arange(how.n) < orders[:, None]
        found = penalty * np.exp(np.where(within, logs, 0.0).sum(1) / orders)
    matched = hits[:, : how.n].any(axis=1)
    return np.where(matched & (c > 0), found, 0.0)


def _precisions(hits: Floats, totals: Floats, how: Bleu) -> tuple[Floats, Numbers]:
    """Smoothed precisions (m, N), 0 for orders without n-grams, and the number of orders to average (m)."""
    value = SMOOTHINGS[how.smoothing] if how.value is None else how.value
    m = len(hits)
    precisions = np.zeros((m, how.n))
    orders = np.full(m, how.n)
    halving = np.ones(m)
    alive = np.ones(m, np.bool_)
    for n in range(how.n):
        hit, total = hits[:, n], totals[:, n]
        if how.smoothing == "add-k" and n:
            hit, total = hit + value, total + value
        alive = alive & (total > 0)
        if how.effective:
            orders[alive] = n + 1
        missed = alive & (hit == 0)
        if how.smoothing == "exp":
            halving[missed] *= 2
            hit = np.where(missed, 1 / halving, hit)
        elif how.smoothing == "floor":
            hit = np.where(missed, value, hit)
        np.divide(hit, total, out=precisions[:, n], where=alive)
    return precisions, orders


def _kpqa(hits: Floats, totals: Floats, c: Floats, r: Floats) -> Floats:
    """As coco-caption multiplies it up, to the last bits: Spearman of BLEU-4 lives on its tiny values."""
    n = hits.shape[1]
    product = np.ones(len(hits))
    for k in range(n):
        product = product * ((hits[:, k] + _TINY) / (totals[:, k] + _SMALL))
    ratio = (c + _TINY) / (r + _SMALL)
    found: Floats = product ** (1 / n)
    return np.where(ratio < 1, found * np.exp(1 - 1 / np.minimum(ratio, 1)), found)


def totals_of(lengths: Numbers, n: int) -> Numbers:
    """Number of n-grams of each order 1..n in texts of these lengths: (m, n)."""
    found: Numbers = np.maximum(lengths[:, None] - np.arange(n), 0)
    return found


def _measure(chunk: Chunk, _: Any, how: Bleu, tokeniser: Tokeniser) -> ChunkValues:
    shared = overlap(chunk, tokeniser)
    shared.reach(how.n)
    every = chunk.tokens(tokeniser).lengths
    lengths, references = every[chunk.candidates], every[chunk.references]
    totals = totals_of(lengths, how.n)
    rows = np.zeros((len(chunk), 2 * how.n + 3))
    if how.refs == "max":
        hits = np.stack([shared.by_pair(n + 1) for n in range(how.n)], axis=1)
        of = owners(chunk.starts)
        alone = bleu(hits, totals[of], lengths[of], references, how)
        values, pairs = best(alone, chunk.starts)
        some = np.flatnonzero(pairs >= 0)
        hits, r = hits[pairs[some]], references[pairs[some]]
    else:
        some = np.flatnonzero(np.diff(chunk.starts))
        hits = np.stack([shared.clipped(n + 1)[some] for n in range(how.n)], axis=1)
        r = closest(lengths, references, chunk.starts)[some]
        values = np.full(len(chunk), np.nan)
        values[some] = bleu(hits, totals[some], lengths[some], r, how)
    rows[some] = np.column_stack((hits, totals[some], lengths[some], r, np.ones(len(some))))
    return measured(values, chunk.starts, rows)


def _corpus(sums: Floats, how: Bleu) -> float | None:
    """BLEU of the summed counts, all orders counted; None where nothing had a reference."""
    n = how.n
    c, r, counted = sums[2 * n :]
    if not counted:
        return None
    whole = replace(how, effective=False)
    return float(bleu(sums[None, :n], sums[None, n : 2 * n], [c], [r], whole)[0])


def make(name: str, profile: Profile) -> Metric:
    """`bleu-N` for N = 1..4, as the profile's `bleu` settings (fields of `Bleu`, `tokeniser`) have it."""
    options = profile.options("bleu")
    how = Bleu(**{**options, "n": int(name.rpartition("-")[2])})
    tokeniser = tokeniser_named(profile.tokeniser_for("bleu"))
    return Metric(
        name=name,
        title=f"BLEU-{how.n}",
        signature=signature(name, 1, tok=tokeniser.label, **how.as_json()),
        measure=partial(_measure, how=how, tokeniser=tokeniser),
        corpus=partial(_corpus, how=how),
    )
