"""Agreement of the ratings that are in a release, from the rows that it has: what its card says.

A stage's report is about all of its good ratings when the filters ran. Where the release has others (some are
left out with their query, some came later), its own figures are these.
"""

import json
from array import array
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from judgments.selectors.ratings import scale_of
from metrics.agreement.alpha import alpha_of
from metrics.agreement.breakdown import alpha_of_items, aspect_ratings
from metrics.agreement.data import Floats, Mask, Ratings
from metrics.agreement.filters import RESPONSE_Z
from metrics.agreement.intervals import interval_or_reason
from metrics.figure import Figure
from releases.scope import JudgedStage
from releases.tables import RATINGS


def agreement_of_rows(
    lines: Path, judged_stage: JudgedStage, *, aspects: Sequence[str], replicates: int, seed: int
) -> dict[str, Any]:
    """Agreement of a stage's rows as the stage's report has it; `lines` has the table's lines by split.

    `alpha` is of all (`before`) and of the kept ones (`after`): `n`, `interval`, `ci`, and `reason` where
    one of them is null. `aspects` has a row like those of the report for each that is named: `n_ratings`,
    `alpha`, `ci` and `reason`, of all and of those whose workers were not removed.
    """
    scale = scale_of(judged_stage.stage)
    items: dict[str, int] = {}
    workers: dict[str, int] = {}
    columns = (array("i"), array("i"), array("h"), array("b"), array("b"))
    aspect_scores: dict[str, dict[int, int]] = {name: {} for name in aspects}
    for place, row in enumerate(_rows(lines, judged_stage.stage.slug)):
        step = scale.step_of(Fraction(str(row["score"])))
        if step is None:
            raise ValueError(f"{row['rating_id']}: {row['score']} is no score of the stage's scale.")
        codes = (
            items.setdefault(row["candidate_id"], len(items)),
            workers.setdefault(row["worker"], len(workers)),
            step,
            row["kept"],
            row["kept"] or row["rule"] == RESPONSE_Z,
        )
        for column, code in zip(columns, codes, strict=True):
            column.append(code)
        for aspect in row["aspects"]:
            if aspect["name"] in aspect_scores:
                aspect_scores[aspect["name"]][place] = aspect["score"]
    item, worker, score, kept_flags, standing = (np.array(column) for column in columns)
    ratings = Ratings(item, worker, score, list(items), list(workers), scale)

    def measured(rows: Ratings, one: Figure) -> dict[str, Any]:
        ci, why = interval_or_reason(rows, one, replicates=replicates, seed=seed)
        reason = one.reason or why
        return {"ci": None if ci is None else list(ci)} | ({"reason": reason} if reason else {})

    def about(rows: Ratings) -> dict[str, Any]:
        one = alpha_of(rows)
        return {"n": len(rows), "interval": one.value} | measured(rows, one)

    def about_aspect(values: Floats, among: Mask | None) -> dict[str, Any]:
        rows_with_aspect = aspect_ratings(ratings, values, among)
        one = alpha_of_items(rows_with_aspect)
        return {"n_ratings": len(rows_with_aspect), "alpha": one.value} | measured(rows_with_aspect, one)

    sections: dict[str, Any] = {
        "alpha": {"before": about(ratings), "after": about(ratings.only(kept_flags.astype(bool)))}
    }
    for name, scores in aspect_scores.items():
        values = np.full(len(ratings), np.nan)
        values[list(scores)] = list(scores.values())
        before, after = about_aspect(values, None), about_aspect(values, standing.astype(bool))
        sections.setdefault("aspects", []).append({"aspect": name, "before": before, "after_workers": after})
    return sections


def _rows(lines: Path, stage: str) -> Iterator[dict[str, Any]]:
    for path in sorted(lines.glob(f"{RATINGS.name}-*.jsonl")):
        with path.open(encoding="utf-8") as file:
            yield from (row for row in map(json.loads, file) if row["stage"] == stage)
