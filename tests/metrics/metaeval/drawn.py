"""Scores that hypothesis draws: few values so that there are ties, missing cells, several answers in one."""

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np

from metrics.metaeval.data import ScoredAnswers

SCORES = st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.3, 0.5, 1.0])
HUMAN = st.sampled_from([1.0, 1.5, 2.0, 7 / 3, 3.0, 4.0, 5.0])


@st.composite
def judgments(draw, metrics=("one", "two"), most=24, missing=True):
    n = draw(st.integers(2, most))
    nothing = st.just(float("nan")) if missing else st.nothing()

    def column(values):
        return np.array(draw(st.lists(values | nothing, min_size=n, max_size=n)))

    def codes(most):
        return np.array(draw(st.lists(st.integers(0, most), min_size=n, max_size=n)), dtype=np.int32)

    return ScoredAnswers(
        human=column(HUMAN),
        metrics={name: column(SCORES) for name in metrics},
        systems=codes(2),
        questions=codes(4),
        system_names=("b", "a", "c"),
        question_names=("q5", "q1", "q3", "q2", "q4"),
    )


def full(questions=40, systems=3, metrics=4, seed=1, ties=False):
    """Every system answers every question; metric k sees the human score through noise that grows with k."""
    rng = np.random.default_rng(seed)
    n = questions * systems
    quality = rng.normal(3, 1, n)
    scores = {f"m{k}": quality + rng.normal(0, 0.5 + k / 2, n) for k in range(metrics)}
    if ties:
        scores = {name: np.round(values) for name, values in scores.items()}
    return ScoredAnswers(
        human=np.round(quality + rng.normal(0, 0.3, n), 1),
        metrics=scores,
        systems=np.tile(np.arange(systems), questions).astype(np.int32),
        questions=np.repeat(np.arange(questions), systems).astype(np.int32),
        system_names=[f"s{k}" for k in range(systems)],
        question_names=[f"q{k:04}" for k in range(questions)],
    )


def shuffled(judged, seed):
    """The same answers in another order, systems and questions under other numbers."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(judged))
    systems, questions = (
        rng.permutation(len(judged.system_names)),
        rng.permutation(len(judged.question_names)),
    )
    return replace(
        judged,
        human=judged.human[rows],
        metrics={name: values[rows] for name, values in reversed(judged.metrics.items())},
        systems=systems[judged.systems[rows]].astype(np.int32),
        questions=questions[judged.questions[rows]].astype(np.int32),
        system_names=[judged.system_names[place] for place in np.argsort(systems)],
        question_names=[judged.question_names[place] for place in np.argsort(questions)],
    )


def without(judged, name, rows):
    """The same with scores of a metric missing in some rows."""
    column = judged.metrics[name].copy()
    column[rows] = np.nan
    return replace(judged, metrics={**judged.metrics, name: column})
