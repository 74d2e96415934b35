"""Real data that is not part of the project: it may lie beside it, and then some tests look at it."""

import csv
from pathlib import Path

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"


def marco() -> list[dict[str, str]]:
    """Rows of the table of human judgments of Lee et al. (2021), or none."""
    path = SHARED / "kpqa" / "marco_all.csv"
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
