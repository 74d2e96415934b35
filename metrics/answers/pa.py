"""Phrasing-aware metrics: any pair metric, weighted by how much each reference stands for all of them.

    pa-X(c) = sum over i of X(c, ref_i) Imp(ref_i) / sum over i of Imp(ref_i)
    Imp(ref_i) = sum over j of X(ref_i, ref_j), j = i included

Mitra et al. (2016), A Proposal for Evaluating Answer Distillation from Web Data, section 4, equations 1-9.

- With one reference pa-X is X. Where no reference has weight, which happens to BLEU without smoothing if all
  references are shorter than four tokens, all count alike (`importance.weighted`). Without references pa-X is
  not defined. An empty reference has the weight that X gives an empty text, 0 for BLEU.
- Equation 7 is misprinted: as it stands, the brevity penalty would be a bonus. It is exp(1 - l2 / l1) for a
  candidate of l1 < l2 tokens, and only so do the values of Table 2 come out.
- Profile `distillery-2016` gives all five printed values of pa-BLEU (.17 .02 .04 .01 .03), and of BLEU those
  of candidates 3, 4 and 5 (.36 .85 1.00); candidates 1 and 2 come out as .56 and .65, not .50 and .63. The
  columns METEOR and pa-METEOR cannot be had: .74 and .97 are above the upper bounds of any METEOR that maps
  one word to one (.70 and .714).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np

from metrics.answers.bleu import Bleu
from metrics.answers.importance import CHOICES, Similarity, SizedCache, importance_of, weighted
from metrics.answers.pa_bleu import PairBleu
from metrics.errors import MetricError
from metrics.profiles import Profile
from metrics.texts import Answers, Chunk, ChunkValues, Floats, Metric, measured, signature
from metrics.tokens import tokeniser_named

References = tuple[str, ...]
#: Of sets of (candidates, references): per set the value of each candidate with each reference alone (n, k).
Similar = Callable[[Sequence[tuple[Sequence[str], Sequence[str]]]], list[Floats]]
#: Pairs that are compared at a time, and importance weights that are kept.
PAIRS = 2**16
KEPT = 2**20


def pairwise(base: Metric, survey: Any = None) -> Similarity:
    """The values of a metric for pairs of texts, each second text being the only reference of the first."""

    def values(first: Sequence[str], second: Sequence[str]) -> Floats:
        parts = [
            base.measure(
                Chunk(Answers(first[at : at + PAIRS], [[text] for text in second[at : at + PAIRS]])), survey
            ).values
            for at in range(0, len(first), PAIRS)
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    return values


def by_pairs(base: Metric, survey: Any = None) -> Similar:
    """The same for sets of candidates and references, one pair after another."""
    similarity = pairwise(base, survey)

    def tables(sets: Sequence[tuple[Sequence[str], Sequence[str]]]) -> list[Floats]:
        first = [text for texts, references in sets for text in texts for _ in references]
        second = [text for texts, references in sets for _ in texts for text in references]
        shapes = [(len(texts), len(references)) for texts, references in sets]
        ends = np.cumsum([n * k for n, k in shapes])
        values = similarity(first, second)
        return [values[end - n * k : end].reshape(n, k) for (n, k), end in zip(shapes, ends, strict=True)]

    return tables


@dataclass(frozen=True, slots=True, eq=False)
class _Pa:
    """Measures pa-X; the importance of a reference set is worked out once and kept."""

    base: Metric
    fast: PairBleu | None
    itself: bool
    choice: str = "sum"
    cache: SizedCache[Floats] = field(default_factory=lambda: SizedCache(KEPT))

    def __call__(self, chunk: Chunk, survey: Any) -> ChunkValues:
        values = np.full(len(chunk), np.nan)
        for part in _parts(chunk.answers):
            self._measure(part, chunk.answers.candidates, survey, values)
        np.clip(values, self.base.low, self.base.high, out=values)
        return measured(values, chunk.starts)

    def _measure(
        self,
        part: Sequence[tuple[References, list[int]]],
        candidates: Sequence[str],
        survey: Any,
        values: Floats,
    ) -> None:
        weights = self._weights([references for references, _ in part], survey)
        texts = [list(dict.fromkeys(candidates[row] for row in rows)) for _, rows in part]
        sets = [
            (candidates_of_set, references)
            for candidates_of_set, (references, _) in zip(texts, part, strict=True)
        ]
        tables = self._tables(sets, survey)
        # Sets of as many references are weighted together: most have the same number.
        for places in _alike([len(references) for references, _ in part]):
            sizes = [len(texts[place]) for place in places]
            of_set = np.array([weights[part[place][0]] for place in places])
            every = weighted(
                np.concatenate([tables[place] for place in places]), np.repeat(of_set, sizes, axis=0)
            ).tolist()
            for place, end, size in zip(places, accumulate(sizes), sizes, strict=True):
                of_text = dict(zip(texts[place], every[end - size : end], strict=True))
                rows = part[place][1]
                values[rows] = [of_text[candidates[row]] for row in rows]

    def _weights(self, sets: Sequence[References], survey: Any) -> dict[References, Floats]:
        """Importance by reference set; what depends on a survey holds for this run only and is not kept."""
        keeps = self.base.survey is None
        cached = {references: self.cache.get(references) if keeps else None for references in sets}
        weights = {references: weight for references, weight in cached.items() if weight is not None}
        new = [references for references in cached if references not in weights]
        tables = self._among(new, survey)
        for places in _alike([len(references) for references in new]):
            stack = np.stack([tables[place] for place in places])
            importances = importance_of(stack, itself=self.itself, choice=self.choice)
            for place, weight in zip(places, importances, strict=True):
                weights[new[place]] = weight
                if keeps:
                    self.cache.put(new[place], weight.copy(), len(weight))
        return weights

    def _among(self, sets: Sequence[References], survey: Any) -> list[Floats]:
        return (
            self._tables([(one, one) for one in sets], survey) if self.fast is None else self.fast.among(sets)
        )

    def _tables(self, sets: Sequence[tuple[Sequence[str], References]], survey: Any) -> list[Floats]:
        return by_pairs(self.base, survey)(sets) if self.fast is None else self.fast(sets)


def _alike(sizes: Sequence[int]) -> Iterator[list[int]]:
    """Places of equal sizes together."""
    places: dict[int, list[int]] = {}
    for place, size in enumerate(sizes):
        places.setdefault(size, []).append(place)
    yield from places.values()


def _parts(answers: Answers) -> Iterator[list[tuple[References, list[int]]]]:
    """Reference sets with the rows of their candidates, as many at a time as make `PAIRS` pairs."""
    rows: dict[References, list[int]] = {}
    for row, references in enumerate(answers.references):
        if references:
            rows.setdefault(tuple(references), []).append(row)
    part: list[tuple[References, list[int]]] = []
    pairs = 0
    for references, every in rows.items():
        most = max(PAIRS // len(references), 1)
        for at in range(0, len(every), most):
            row_numbers = every[at : at + most]
            if part and pairs + len(row_numbers) * len(references) > PAIRS:
                yield part
                part, pairs = [], 0
            part.append((references, row_numbers))
            pairs += len(row_numbers) * len(references)
    if part:
        yield part


def make(base: Metric, profile: Profile) -> Metric:
    """`pa-X` for the pair metric X, which the profile made.

    Settings of the family `pa` are `imp`, one of `importance.CHOICES` ("sum"), and `itself` (True).
    BLEU takes a table of n-grams per reference set; all others are asked for every pair.
    """
    name = f"pa-{base.name}"
    itself = bool(profile.options("pa").get("itself", True))
    choice = str(profile.options("pa").get("imp", "sum"))
    if choice not in CHOICES:
        raise MetricError(f"There is no importance function {choice!r}; there are {', '.join(CHOICES)}.")
    fast = None
    if base.name.startswith("bleu-"):
        how = Bleu(**{**profile.options("bleu"), "n": int(base.name.removeprefix("bleu-"))})
        fast = PairBleu(how, tokeniser_named(profile.tokeniser_for("bleu")))
    _, _, rest = base.signature.partition("|")
    return Metric(
        name=name,
        title=f"pa-{base.title}",
        signature=f"{signature(name, 1, imp=choice, self='yes' if itself else 'no')}|of:{base.name}|{rest}",
        measure=_Pa(base, fast, itself, choice),
        low=base.low,
        high=base.high,
        survey=base.survey,
    )
