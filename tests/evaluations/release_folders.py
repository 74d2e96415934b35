"""Folders of releases with ratings that a test makes up."""

import json

import numpy as np

from metrics.agreement.data import Ratings
from metrics.agreement.filters import run
from metrics.agreement.recipes import Recipe
from metrics.agreement.report import report


def rows_of(ratings: Ratings, mask=None):
    """Item, worker and score of the ratings as they are."""
    some = ratings if mask is None else ratings.only(mask)
    for item, worker, score in zip(some.items, some.workers, some.scores, strict=True):
        yield ratings.item_names[item], ratings.worker_names[worker], int(score)


def as_release(ratings: Ratings, recipe: Recipe, folder, *, all_ratings=True, told=True):
    """A release with these ratings under a filter, as its files have them."""
    done = run(ratings, recipe)
    because = done.removed_because(ratings)
    kept: dict[str, list[dict]] = {name: [] for name in ratings.item_names}
    for item, worker, score in rows_of(ratings, done.kept):
        kept[item].append({"worker": worker, "score": score})
    tables = {
        "references": [
            {"query_id": item, "query": item, "type": "", "answers": [{"text": "b"}]} for item in kept
        ],
        "candidates": [
            {"candidate_id": item, "query_id": item, "system": "s", "answer": "a", "aside": ""}
            for item in kept
        ],
        "scores": [
            {
                "stage": "judging",
                "candidate_id": item,
                "mean": float(np.mean([each["score"] for each in given])) if given else None,
                "kept": given,
            }
            for item, given in kept.items()
        ],
    }
    if all_ratings:
        tables["ratings"] = [
            {
                "stage": "judging",
                "candidate_id": item,
                "worker": worker,
                "score": score,
                "rule": "" if why < 0 else done.reasons[why],
            }
            for (item, worker, score), why in zip(rows_of(ratings), because, strict=True)
        ]
    (folder / "jsonl").mkdir(parents=True)
    (folder / "reports").mkdir()
    files = []
    for name, rows in tables.items():
        path = f"jsonl/{name}-test.jsonl"
        (folder / path).write_text("".join(json.dumps(row) + "\n" for row in rows))
        files.append({"path": path, "format": "jsonl"})
    (folder / "manifest.json").write_text(
        json.dumps({"name": "noise", "version": "1", "files": files, "stages": [{"stage": "judging"}]})
    )
    if told:
        said = report(ratings, done, replicates=0, rows=False, splits=2)
        (folder / "reports" / "agreement-judging.json").write_text(json.dumps(said))
    return folder
