"""Plots drawn on the server as rows of a table: a bar or a whisker beside the figures that it stands for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crowd.models import Stage
from judgments.selectors.live import Live, SystemScore
from judgments.selectors.ratings import scale_of

#: Drawing units: bars are 0 to this wide.
WIDTH = 100.0


@dataclass(frozen=True, slots=True)
class Bar:
    """A row: a count before filtering and the share that was kept (None where nothing was filtered)."""

    label: str
    words: str
    count: int
    width: float
    share: float
    kept: int | None = None
    kept_width: float = 0.0


def counted(rows: Sequence[tuple[str, int]]) -> list[Bar]:
    """Bars as long as their counts, the longest over the whole width; `share` of all in percent."""
    most = max((count for _, count in rows), default=0) or 1
    total = sum(count for _, count in rows) or 1
    return [
        Bar(label, "", count, round(WIDTH * count / most, 2), 100 * count / total) for label, count in rows
    ]


def histogram(
    rows: Sequence[tuple[int, int]], said: Mapping[str, Any], labels: Sequence[str] = ()
) -> list[Bar]:
    """How often each score was given; with what the run in force keeps of it."""
    kept = said.get("scores", {}).get("kept", {}) if said.get("recipe") not in (None, "none") else {}
    most = max((count for _, count in rows), default=0) or 1
    total = sum(count for _, count in rows) or 1
    return [
        Bar(
            str(score),
            labels[number] if number < len(labels) else "",
            count,
            round(WIDTH * count / most, 2),
            100 * count / total,
            kept.get(str(score)),
            round(WIDTH * min(kept.get(str(score), 0), count) / most, 2),
        )
        for number, (score, count) in enumerate(rows)
    ]


@dataclass(frozen=True, slots=True)
class Whisker:
    """A mean with its interval on a scale of 0 to WIDTH; `x` is the mean."""

    row: SystemScore
    x: float
    start: float
    length: float


@dataclass(frozen=True, slots=True)
class SystemRow:
    """A system before filtering, and after it where a run is in force."""

    system: str
    before: Whisker
    after: Whisker | None


def systems(now: Live, stage: Stage) -> list[SystemRow]:
    """Systems, best first."""
    scale = scale_of(stage)

    def whisker(row: SystemScore) -> Whisker:
        def at(value: float) -> float:
            return round(WIDTH * (value - scale.low) / max(1, scale.high - scale.low), 2)

        low = row.mean if row.low is None else max(scale.low, row.low)
        high = row.mean if row.high is None else min(scale.high, row.high)
        return Whisker(row, at(row.mean), at(low), round(at(high) - at(low), 2))

    return [
        SystemRow(row.system, whisker(row), whisker(now.kept[row.system]) if row.system in now.kept else None)
        for row in now.systems
    ]
