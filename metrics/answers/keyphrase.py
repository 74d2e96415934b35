"""BLEU-1 and ROUGE-L with a weight for each token, such as how likely it is part of the key phrase.

Lee et al. (2021), KPQA: A Metric for Generative Question Answering Using Keyphrase Weights, section 3.2.

    BLEU-1-KPQA = weight of the candidate's matched tokens / weight of all its tokens
    P = S_c / weight of the candidate,  R = S_r / weight of the reference
    ROUGE-L-KPQA = (1 + beta^2) R P / (R + beta^2 P)

Weights are given: KPW_t = P(keyphrase | token t, question), of each answer to each question, not of its
words. A text without tokens, or whose weights are all 0, has 0.

BLEU-1, variants:

- `paper`: a token that is c times in the candidate, r times in the reference, matches min(c, r) times, each
  time with the mean weight of its c places.
- `literal`: equation 1 as printed, which sums over all pairs of equal tokens and can exceed 1.
- `repo`: `paper` times the brevity penalty, with the small numbers that the authors' code adds.

ROUGE-L, variants:

- `weighted`: S_c and S_r are the greatest weights that a common subsequence can have, by the candidate's and
by
  the reference's weights; P and R are at most 1.
- `paper`: S_c = S_r is the candidate's weight of one longest common subsequence (equation 5). Of several
equally
  long ones it is the one found from the end, taking a match, or else leaving out the candidate's token.
- `repo`: S_c = S_r is what the authors' recursion finds with the reference's weights. It takes every match,
even
  where two tokens of low weight cross one of high weight, and P can exceed 1.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metrics.base import Floats
from metrics.errors import MetricError

BLEU_VARIANTS = ("paper", "literal", "repo")
ROUGE_VARIANTS = ("weighted", "paper", "repo")
_TINY, _SMALL = 1e-15, 1e-9
Words = Sequence[Hashable]
Ids = npt.NDArray[np.int64]


class Shares(NamedTuple):
    """Precision, recall and F of a pair."""

    precision: float
    recall: float
    f: float


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """B candidates and references as numbers, padded with -1 (B, m) and -2 (B, n), and their weights.

    Weights are 0 where a text is padded. No number is negative otherwise.
    """

    candidates: Ids
    references: Ids
    candidate_weights: Floats
    reference_weights: Floats

    @classmethod
    def of(
        cls,
        candidates: Sequence[Words],
        references: Sequence[Words],
        candidate_weights: Sequence[Sequence[float]],
        reference_weights: Sequence[Sequence[float]],
    ) -> "Pairs":
        """From tokens, and a weight of each; MetricError where their numbers differ."""
        numbers: dict[Hashable, int] = {}
        ids = [
            [[numbers.setdefault(word, len(numbers)) for word in text] for text in texts]
            for texts in (candidates, references)
        ]
        for texts, weights in ((candidates, candidate_weights), (references, reference_weights)):
            for text, given in zip(texts, weights, strict=True):
                if len(text) != len(given):
                    raise MetricError(
                        f"A text of {len(text)} tokens has {len(given)} weights; each token needs one."
                    )
        return cls(
            _padded(ids[0], -1).astype(np.int64),
            _padded(ids[1], -2).astype(np.int64),
            _padded(candidate_weights, 0.0),
            _padded(reference_weights, 0.0),
        )

    def __len__(self) -> int:
        return len(self.candidates)


def bleu1_kpqa(
    candidate: Words,
    reference: Words,
    weights_c: Sequence[float],
    weights_r: Sequence[float],
    variant: str = "paper",
) -> float:
    """BLEU-1-KPQA of one pair; the reference's weights have no part in it (equation 1)."""
    return float(bleu1_of(Pairs.of([candidate], [reference], [weights_c], [weights_r]), variant)[0])


def rouge_l_kpqa(
    candidate: Words,
    reference: Words,
    weights_c: Sequence[float],
    weights_r: Sequence[float],
    variant: str = "weighted",
    *,
    beta: float = 1.0,
) -> Shares:
    """ROUGE-L-KPQA of one pair: P, R, and F with `beta`."""
    found = rouge_l_of(Pairs.of([candidate], [reference], [weights_c], [weights_r]), variant, beta)
    return Shares(*(float(part[0]) for part in found))


def bleu1_of(pairs: Pairs, variant: str = "paper") -> Floats:
    """BLEU-1-KPQA of many pairs (B)."""
    if variant not in BLEU_VARIANTS:
        raise MetricError(f"BLEU-1-KPQA has no variant {variant!r}; it has {', '.join(BLEU_VARIANTS)}.")
    matches = _times(pairs.candidates, pairs.references)
    whole = pairs.candidate_weights.sum(1)
    if variant == "literal":
        return _share((matches * pairs.candidate_weights).sum(1), whole)
    times = np.maximum(_times(pairs.candidates, pairs.candidates), 1)
    matched = (np.minimum(matches / times, 1) * pairs.candidate_weights).sum(1)
    if variant == "paper":
        return _share(matched, whole)
    ratio = ((pairs.candidates >= 0).sum(1) + _TINY) / ((pairs.references >= 0).sum(1) + _SMALL)
    penalty = np.exp(1 - 1 / np.minimum(ratio, 1))
    found: Floats = (matched + _TINY) / (whole + _SMALL) * penalty
    return found


def rouge_l_of(pairs: Pairs, variant: str = "weighted", beta: float = 1.0) -> tuple[Floats, Floats, Floats]:
    """P, R and F of ROUGE-L-KPQA of many pairs, each (B)."""
    if variant not in ROUGE_VARIANTS:
        raise MetricError(f"ROUGE-L-KPQA has no variant {variant!r}; it has {', '.join(ROUGE_VARIANTS)}.")
    if variant == "weighted":
        by_candidate = _subsequence(pairs, _heaviest, by_reference=False)
        by_reference = _subsequence(pairs, _heaviest, by_reference=True)
    elif variant == "paper":
        by_candidate = by_reference = _subsequence(pairs, _longest, by_reference=False)
    else:
        by_candidate = by_reference = _subsequence(pairs, _first_match, by_reference=True)
    precision = _share(by_candidate, pairs.candidate_weights.sum(1))
    recall = _share(by_reference, pairs.reference_weights.sum(1))
    f = _share((1 + beta**2) * precision * recall, recall + beta**2 * precision)
    return precision, recall, f


#: Of the cells without the candidate's token, without the reference's, and without both (length and weight,
#: each (2, B, m)), of which tokens match and their weights (B, m): the cell with them.
Rule = Callable[[Floats, Floats, Floats, npt.NDArray[np.bool_], Floats], Floats]


def _heaviest(up: Floats, left: Floats, both: Floats, match: npt.NDArray[np.bool_], weight: Floats) -> Floats:
    return np.maximum(np.maximum(up, left), np.where(match, both + _step(weight), 0))


def _longest(up: Floats, left: Floats, both: Floats, match: npt.NDArray[np.bool_], weight: Floats) -> Floats:
    other = np.where(up[0] >= left[0], up, left)
    return np.where(match, both + _step(weight), other)


def _first_match(
    up: Floats, left: Floats, both: Floats, match: npt.NDArray[np.bool_], weight: Floats
) -> Floats:
    return np.where(match, both + _step(weight), np.maximum(up, left))


def _step(weight: Floats) -> Floats:
    return np.stack((np.ones_like(weight), weight))


def _subsequence(pairs: Pairs, rule: Rule, *, by_reference: bool) -> Floats:
    """Weight of each pair's common subsequence by a rule (B), from the table of prefixes by diagonals.

    Weights are those of the candidate's tokens, or those of the reference's. A diagonal holds the cells (i, d
    - i) of all pairs; they need the two diagonals before only.
    """
    (size, m), n = pairs.candidates.shape, pairs.references.shape[1]
    ends = (pairs.candidates >= 0).sum(1), (pairs.references >= 0).sum(1)
    found = np.zeros(size)
    before = last = np.zeros((2, size, m + 1))
    for d in range(2, m + n + 1):
        i = np.arange(max(1, d - n), min(m, d - 1) + 1)
        j = d - i
        match = pairs.candidates[:, i - 1] == pairs.references[:, j - 1]
        weight = pairs.reference_weights[:, j - 1] if by_reference else pairs.candidate_weights[:, i - 1]
        now = np.zeros_like(last)
        now[:, :, i] = rule(last[:, :, i - 1], last[:, :, i], before[:, :, i - 1], match, weight)
        done = np.flatnonzero(ends[0] + ends[1] == d)
        found[done] = now[1, done, ends[0][done]]
        before, last = last, now
    found[(ends[0] == 0) | (ends[1] == 0)] = 0
    return found


def _times(tokens: Ids, texts: Ids) -> Ids:
    """How often each token of a row stands in the same row of `texts`; 0 for what is padded."""
    size = max(int(tokens.max(initial=0)), int(texts.max(initial=0))) + 1
    rows = np.arange(len(texts))[:, None] * size
    known, times = np.unique((rows + texts)[texts >= 0], return_counts=True)
    if not len(known):
        return np.zeros(tokens.shape, np.int64)
    wanted = rows + tokens
    places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    found: Ids = np.where((tokens >= 0) & (known[places] == wanted), times[places], 0)
    return found


def _padded(rows: Sequence[Sequence[float]], fill: float) -> Floats:
    padded = np.full((len(rows), max(map(len, rows), default=0)), fill, np.float64)
    for place, row in enumerate(rows):
        padded[place, : len(row)] = row
    return padded


def _share(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)
