"""Rows of the Agreement page's tables: counts with their share, systems before and after filters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgments.rules.histograms import score_classes
from judgments.selectors.live import Live, SystemScore


@dataclass(frozen=True, slots=True)
class Share:
    """A count, its share of all in percent, and what was kept of it (None where nothing was filtered)."""

    label: str
    words: str
    count: int
    share: float
    kept: int | None = None
    score: float | int | str = ""


def counted(rows: Sequence[tuple[str, int]]) -> list[Share]:
    """Counts with their shares."""
    total = sum(count for _, count in rows) or 1
    return [Share(label, "", count, 100 * count / total) for label, count in rows]


def histogram(now: Live, said: Mapping[str, Any], labels: Mapping[str, str]) -> list[Share]:
    """How often each score was given, of a long scale each class; with what the run in force keeps of it.

    `labels` are those of scores, by the score as it is written.
    """
    kept = said.get("scores", {}).get("kept", {}) if said.get("recipe") not in (None, "none") else {}
    counts = dict(now.histogram)
    total = sum(counts.values()) or 1
    rows = []
    for each in score_classes(now.scale):
        count = sum(counts[now.scale.number(step)] for step in each.steps)
        texts = [now.scale.text(step) for step in each.steps]
        words = ", ".join(labels[text] for text in texts if text in labels)
        left = sum(kept.get(text, 0) for text in texts) if kept else None
        rows.append(Share(str(each.name), words, count, 100 * count / total, left, each.name))
    return rows


@dataclass(frozen=True, slots=True)
class SystemRow:
    """A system before filtering, and after it where a run is in force."""

    system: str
    before: SystemScore
    after: SystemScore | None


def systems(now: Live) -> list[SystemRow]:
    """Systems, best first."""
    return [SystemRow(row.system, row, now.kept.get(row.system)) for row in now.systems]
