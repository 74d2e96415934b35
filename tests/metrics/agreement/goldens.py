"""Published and independently computed values; each file names its source."""

import json
from pathlib import Path

import numpy as np

from metrics.agreement.data import Ratings

FOLDER = Path(__file__).parent / "golden"


def golden(name):
    return json.loads((FOLDER / f"{name}.json").read_text())


def ratings_from(rows):
    """Rows of whole numbers item, worker, score; the numbers are the codes."""
    items, workers, scores = np.array(rows).T
    return Ratings(
        items.astype(np.int32),
        workers.astype(np.int32),
        scores.astype(np.int16),
        [f"item {n}" for n in range(items.max() + 1)],
        [f"worker {n}" for n in range(workers.max() + 1)],
    )
