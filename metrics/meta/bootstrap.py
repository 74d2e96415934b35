"""Percentile intervals by the bootstrap (Efron 1979; for metrics of metrics: Deutsch, Dror and Roth 2021).

`intervals(judged, metrics, replicates=1000, seed=0, kind="boot_inputs", wanted=WANTED, gap=2.0,
spread=in_process) -> {(metric, statistic, grouping): (low, high)}`: the middle 95 % of the statistic's values
in samples drawn with replacement; no entry where less than 90 % of them have a value. `paired(judged, pairs,
statistic, grouping, ...) -> list[Compared]` is the paired bootstrap test (Koehn 2004; 003, section 4).
`fisher(r, n)` is the quick look. In pieces: `prepare(...)`, `drawn(prepared, block)` for `prepared.blocks`,
`bounds(prepared, values)`.

- `boot_inputs` draws questions with all their answers: other questions, the same systems. The default.
- `boot_systems` draws systems: other systems, the same questions. With few systems it says little.
- `boot_both` draws both, independently of each other.

`acc_eq_cal` keeps the epsilon that was chosen on all answers. Kendall's tau of more than 500 answers is
approximated as `weighted.kendall` says. Bounds are rounded to 10 decimals, so that the last bit of a product,
which may differ between machines, is not in them.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, get_args

import numpy as np

from metrics.errors import MetricError
from metrics.meta.cohorts import Pair, cohorts_of
from metrics.meta.draws import SAMPLES, blocks, samples
from metrics.meta.itemwise import PAIR_STATISTICS
from metrics.meta.kernels import STATISTICS
from metrics.meta.metric_difference import MetricDifference
from metrics.meta.part_runner import PartRunner, in_process
from metrics.meta.resampling import SampleCounts
from metrics.meta.rows import GROUPINGS, Grouping, Rows, rows_of
from metrics.meta.sampled_statistics import SampledStatistic, sampled, scored
from metrics.meta.scored_answers import Floats, ScoredAnswers
from metrics.meta.statistics import AnyStatistic, check

Kind = Literal["boot_inputs", "boot_systems", "boot_both"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Wanted = Sequence[tuple[AnyStatistic, Grouping]]
Key = tuple[str, AnyStatistic, Grouping]
Interval = tuple[float, float]

#: Every correlation in every grouping, the statistics of pairs, and pairwise accuracy of systems.
WANTED: Wanted = (
    *((statistic, grouping) for statistic in STATISTICS for grouping in GROUPINGS),
    *((statistic, "item") for statistic in PAIR_STATISTICS),
    ("pa", "system"),
)
COVERAGE = 0.95
DEFINED = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class BootstrapInput:
    """All that a block needs; it can be sent to another process."""

    keys: tuple[Key, ...]
    parts: tuple[SampledStatistic, ...]
    kind: Kind
    replicates: int
    seed: int
    questions: int
    systems: int

    @property
    def blocks(self) -> range:
        """The numbers of the blocks of samples."""
        return blocks(self.replicates, SAMPLES) if self.parts else range(0)


def intervals(
    judged: ScoredAnswers,
    metrics: Sequence[str] | None = None,
    *,
    replicates: int = 1000,
    seed: int = 0,
    kind: Kind = "boot_inputs",
    wanted: Wanted = WANTED,
    gap: float = 2.0,
    spread: PartRunner = in_process,
) -> Mapping[Key, Interval]:
    """The 95 % intervals of some metrics (all, if None). MetricError for a kind or statistic there is not."""
    ready = prepare(judged, metrics, replicates=replicates, seed=seed, kind=kind, wanted=wanted, gap=gap)
    return bounds(ready, spread(partial(drawn, ready), list(ready.blocks)))


def prepare(
    judged: ScoredAnswers,
    metrics: Sequence[str] | None = None,
    *,
    replicates: int = 1000,
    seed: int = 0,
    kind: Kind = "boot_inputs",
    wanted: Wanted = WANTED,
    gap: float = 2.0,
) -> BootstrapInput:
    """Everything that does not depend on chance."""
    if kind not in KINDS:
        raise MetricError(f"There is no bootstrap “{kind}”; known are: {', '.join(KINDS)}.")
    rows = rows_of(judged, metrics)
    keys: list[Key] = []
    parts: list[SampledStatistic] = []
    for metric in rows.names:
        there = np.isfinite(rows.column(metric))
        if not there.any():
            continue
        own = rows.only(there)
        given = scored(rows, np.flatnonzero(there), own, own.column(metric))
        for statistic, grouping in wanted:
            check(statistic, grouping)
            keys.append((metric, statistic, grouping))
            parts.append(sampled(given, statistic, grouping, whole=kind == "boot_inputs", gap=gap))
    return _ready(rows, keys, parts, kind=kind, replicates=replicates, seed=seed)


def _ready(
    rows: Rows,
    keys: Sequence[Key],
    parts: Sequence[SampledStatistic],
    *,
    kind: Kind,
    replicates: int,
    seed: int,
) -> BootstrapInput:
    sizes = (len(rows.question_names), len(rows.system_names))
    return BootstrapInput(tuple(keys), tuple(parts), kind, replicates, seed, *sizes)


def drawn(prepared: BootstrapInput, block: int) -> Floats:
    """(statistics, samples) values of the samples of one block; nan where there is none."""
    seed, kind = prepared.seed, prepared.kind
    sample = SampleCounts(
        None if kind == "boot_systems" else samples(seed, "boot questions", block, prepared.questions),
        None if kind == "boot_inputs" else samples(seed, "boot systems", block, prepared.systems),
    )
    return np.stack([part.values(sample) for part in prepared.parts])


def bounds(prepared: BootstrapInput, values: Sequence[Floats]) -> Mapping[Key, Interval]:
    """The intervals, from the values of all blocks in their order."""
    found: dict[Key, Interval] = {}
    if not values:
        return found
    together = np.concatenate(values, axis=1)[:, : prepared.replicates]
    for key, of in zip(prepared.keys, together, strict=True):
        defined = of[~np.isnan(of)]
        if len(defined) and len(defined) >= DEFINED * prepared.replicates:
            low, high = np.quantile(np.round(defined, 10), [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
            found[key] = (round(float(low), 10), round(float(high), 10))
    return found


def paired(
    judged: ScoredAnswers,
    pairs: Sequence[Pair],
    statistic: AnyStatistic = "pearson",
    grouping: Grouping = "global",
    *,
    draws: int = 1000,
    seed: int = 0,
    kind: Kind = "boot_inputs",
    gap: float = 2.0,
    spread: PartRunner = in_process,
) -> list[MetricDifference]:
    """The paired bootstrap test of each pair: both metrics in the same samples.

    Over the answers that have both scores. A sign that few samples turn is sure: p is twice the smaller of
    (1 + samples in which A is not better) / (1 + draws) and (1 + samples in which B is not better) /
    (1 + draws), at most 1.
    """
    check(statistic, grouping)
    rows = rows_of(judged, sorted({name for pair in pairs for name in pair}))
    dealt = cohorts_of(rows, pairs, statistic, grouping, gap)
    found = [
        MetricDifference(
            *pair,
            statistic,
            grouping,
            "bootstrap",
            None,
            None,
            dealt.sizes[place],
            reason=dealt.why(place, pair),
        )
        for place, pair in enumerate(pairs)
    ]
    for cohort in dealt.cohorts:
        parts = [
            sampled(
                scored(rows, cohort.places, cohort.rows, scores),
                statistic,
                grouping,
                whole=kind == "boot_inputs",
                gap=gap,
            )
            for scores in cohort.scores
        ]
        keys: list[Key] = [(name, statistic, grouping) for name in cohort.names]
        ready = _ready(rows, keys, parts, kind=kind, replicates=draws, seed=seed)
        values = np.concatenate(spread(partial(drawn, ready), list(ready.blocks)), axis=1)[:, :draws]
        for place, a, b in zip(cohort.pairs, cohort.first, cohort.second, strict=True):
            p, error = _turned(values[a] - values[b])
            found[place] = replace(found[place], delta=dealt.delta(place), p=p, null_sd=error)
    return found


def _turned(apart: Floats) -> tuple[float, float | None]:
    """The p-value and the standard error from the differences in all samples; nan counts for neither side."""
    apart = np.round(apart, 10)
    turned = int(min(np.sum(~(apart > 0)), np.sum(~(apart < 0))))
    defined = apart[~np.isnan(apart)]
    error = float(np.round(defined.std(), 10)) if len(defined) else None
    return min(1.0, 2 * (1 + turned) / (1 + len(apart))), error


def fisher(r: float, n: int) -> Interval | None:
    """Fisher's interval of Pearson's r of n independent answers; None for n < 4 or |r| = 1."""
    if n < 4 or abs(r) >= 1:
        return None
    from scipy.special import ndtri  # noqa: PLC0415 - takes a while to load

    reach = float(ndtri((1 + COVERAGE) / 2)) / math.sqrt(n - 3)
    return math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach)
