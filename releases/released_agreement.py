"""Agreement of the ratings that are in a release, from the rows that it has: what its card says.

A stage's report is about all of its good ratings when the filters ran. Where the release has others (some are
left out with their query, some came later), its own figures are these.
"""

import json
from array import array
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from judgments.selectors.ratings import scale_of
from metrics.agreement.alpha import alpha_of
from metrics.agreement.data import Ratings
from metrics.agreement.intervals import interval_or_reason
from releases.scope import JudgedStage
from releases.tables import RATINGS


def alpha_of_rows(lines: Path, judged: JudgedStage, *, replicates: int, seed: int) -> dict[str, Any]:
    """Interval alpha with its interval of a stage's rows, of all (`before`) and of the kept ones (`after`).

    `lines` is the folder with the table's lines by split. Each part has `n`, `interval`, `ci`, and `reason`
    where one of them is null.
    """
    scale = scale_of(judged.stage)
    items: dict[str, int] = {}
    workers: dict[str, int] = {}
    columns = (array("i"), array("i"), array("h"), array("b"))
    for row in _rows(lines, judged.stage.slug):
        step = scale.step_of(Fraction(str(row["score"])))
        if step is None:
            raise ValueError(f"{row['rating_id']}: {row['score']} is no score of the stage's scale.")
        codes = (
            items.setdefault(row["candidate_id"], len(items)),
            workers.setdefault(row["worker"], len(workers)),
            step,
            row["kept"],
        )
        for column, code in zip(columns, codes, strict=True):
            column.append(code)
    item, worker, score, kept = (np.array(column) for column in columns)
    ratings = Ratings(item, worker, score, list(items), list(workers), scale)

    def about(some: Ratings) -> dict[str, Any]:
        one = alpha_of(some)
        ci, why = interval_or_reason(some, one, replicates=replicates, seed=seed)
        said: dict[str, Any] = {"n": len(some), "interval": one.value, "ci": None if ci is None else list(ci)}
        return said | ({"reason": one.reason or why} if one.reason or why else {})

    return {"before": about(ratings), "after": about(ratings.only(kept.astype(bool)))}


def _rows(lines: Path, stage: str) -> Iterator[dict[str, Any]]:
    for path in sorted(lines.glob(f"{RATINGS.name}-*.jsonl")):
        with path.open(encoding="utf-8") as file:
            yield from (row for row in map(json.loads, file) if row["stage"] == stage)
