"""The MS-MARCO answers of KPQA as numbers: two systems, 500 questions, five metrics."""

from functools import cache

import numpy as np

from metrics.metaeval.data import ScoredAnswers
from tests.metrics.goldens import golden

EXPECTED = golden("meta_evaluation")
METRICS = tuple(EXPECTED["metrics"])
PAIRS = tuple(tuple(name.split(" vs ")) for name in EXPECTED["pairs"])


@cache
def marco() -> ScoredAnswers:
    scores = golden("kpqa_marco_correlations")["datasets"]["marco_all"]["row_scores"]
    return ScoredAnswers(
        human=np.array(golden("kpqa_marco_human")["human"]),
        metrics={name: np.array(scores[name]) for name in METRICS},
        systems=np.repeat([0, 1], 500).astype(np.int32),
        questions=np.tile(np.arange(500), 2).astype(np.int32),
        system_names=("first", "second"),
        question_names=[f"question {n:03}" for n in range(500)],
    )
