"""Corpus scores from the sums of chunks, of all answers and of each system's."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from metrics.base import ChunkValues, Floats, Metric
from metrics.texts import Answers, Chunk

Undefined = dict[str, dict[str, int]]
BySystem = Mapping[str, Floats]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What one metric says of one chunk; sums by system where the answers name theirs."""

    values: Floats
    sums: Floats
    systems: BySystem
    why: Mapping[str, int]
    rows: Floats | None


def part_of(metric: Metric, chunk: Chunk, found: object) -> Part:
    """A metric's values and sums of a chunk, given its survey's finding."""
    measured = metric.of(chunk, found)
    if len(measured.values) != len(chunk):
        raise ValueError(f"{metric.name} gave {len(measured.values)} values for {len(chunk)} candidates")
    systems = _systems(metric, chunk.answers, measured, found)
    return Part(measured.values, _sums(metric, measured), systems, measured.why, measured.rows)


def joined(parts: Sequence[Part]) -> Part:
    """What one metric says of several chunks, as if of one."""
    systems: dict[str, Floats] = {}
    why: dict[str, int] = {}
    for part in parts:
        for system, sums in part.systems.items():
            systems[system] = systems.get(system, 0) + sums
        for reason, number in part.why.items():
            why[reason] = why.get(reason, 0) + number
    rows = [part.rows for part in parts if part.rows is not None]
    return Part(
        np.concatenate([part.values for part in parts]),
        np.sum([part.sums for part in parts], axis=0),
        systems,
        why,
        np.concatenate(rows) if rows else None,
    )


def _sums(metric: Metric, measured: ChunkValues) -> Floats:
    """The metric's sums; for one without a corpus rule the sum and the number of its defined values."""
    if metric.corpus is None:
        return _for_mean(measured.values)
    if measured.sums is None:
        raise ValueError(f"{metric.name} has a corpus score and gave no sums for it")
    return measured.sums


def _for_mean(values: Floats) -> Floats:
    defined = values[~np.isnan(values)]
    return np.array([defined.sum(), len(defined)])


def _systems(metric: Metric, answers: Answers, measured: ChunkValues, found: object) -> BySystem:
    if answers.systems is None:
        return {}
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for row, system in enumerate(answers.systems):
        rows[system].append(row)
    if len(rows) == 1:
        return {system: _sums(metric, measured) for system in rows}
    if metric.corpus is None:
        return {system: _for_mean(measured.values[which]) for system, which in rows.items()}
    if (each := measured.rows) is not None:
        return {system: each[which].sum(0) for system, which in rows.items()}
    return {
        system: _sums(metric, metric.of(Chunk(answers.part(which)), found)) for system, which in rows.items()
    }


@dataclass(eq=False)
class Sums:
    """Sums of all chunks so far, by metric."""

    all: dict[str, Floats] = field(default_factory=dict)
    systems: dict[str, dict[str, Floats]] = field(default_factory=dict)
    undefined: Undefined = field(default_factory=dict)

    def add(self, metric: Metric, part: Part) -> None:
        """Add what a metric says of one more chunk."""
        name = metric.name
        self.all[name] = self.all.get(name, 0) + part.sums
        systems = self.systems.setdefault(name, {})
        for system, sums in part.systems.items():
            systems[system] = systems.get(system, 0) + sums
        why = self.undefined.setdefault(name, {})
        for reason, number in part.why.items():
            why[reason] = why.get(reason, 0) + number

    def whole(self, metric: Metric) -> float | None:
        """The corpus score of everything so far; None where the metric is defined for nothing."""
        sums = self.all.get(metric.name)
        return None if sums is None else _score(metric, sums)

    def of_systems(self, metric: Metric) -> dict[str, float | None]:
        """The corpus score of each system, in the order of their names."""
        return {
            system: _score(metric, sums) for system, sums in sorted(self.systems.get(metric.name, {}).items())
        }


def _score(metric: Metric, sums: Floats) -> float | None:
    if metric.corpus is not None:
        return metric.corpus(sums)
    total, number = sums
    return float(total / number) if number else None
