"""Answers to look at: Tables 7, 9, 12 and 13 of Lowe et al. 2017, drawn at random."""

from typing import Any

import numpy as np

from evaluations.learning.sources import Material
from metrics.learned.adem.protocols import Indices, cascade
from metrics.metaeval.data import ScoredAnswers
from metrics.metaeval.executor import generator
from metrics.metaeval.papers import OVERLAP, normalised

_EACH, _CONTEXTS, _ANSWERS = 3, 3, 6


def examples_of(
    material: Material,
    test: ScoredAnswers,
    rows: Indices,
    lead: str,
    *,
    scale: tuple[float, float],
    seed: int,
) -> dict[str, list[dict[str, Any]]]:
    """Contexts with all their answers (`scored`, Table 7), and single answers of `cascade`'s kinds.

    `test` are the scores of the rows `rows` of the material.
    """
    shown = [lead, *(name for name in OVERLAP if name in test.metrics)]
    adjusted = {name: normalised(test.metrics[name], test.human, scale) for name in shown}

    def one(at: int) -> dict[str, Any]:
        row = material.table.kept[int(rows[at])]
        return {
            "question": row.question,
            "reference": row.references[0],
            "answer": row.answer,
            "system": row.system,
            "human": float(test.human[at]),
            "score": float(test.metrics[lead][at]),
            "normalised": {name: float(values[at]) for name, values in adjusted.items()},
        }

    counts = np.bincount(test.questions)
    several = np.flatnonzero(counts > 1)
    contexts = _some(several if len(several) else np.flatnonzero(counts), _CONTEXTS, seed, "scored")
    found = {
        "scored": [
            one(at) for context in contexts for at in np.flatnonzero(test.questions == context)[:_ANSWERS]
        ]
    }
    for kind, places in cascade(test, lead, scale).items():
        found[kind] = [one(at) for at in _some(places, _EACH, seed, kind)]
    return found


def _some(places: Indices, most: int, seed: int, purpose: str) -> list[int]:
    if len(places) <= most:
        return [int(each) for each in places]
    drawn = generator(seed, f"adem examples {purpose}").permutation(places)[:most]
    return [int(each) for each in np.sort(drawn)]
