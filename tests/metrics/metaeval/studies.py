"""Small studies for the tests of the report: literal ones, and ones whose truth is known."""

from collections.abc import Mapping, Sequence

import numpy as np

from metrics.metaeval.data import Raters, ScoredAnswers


def study(
    rows: Sequence[tuple[str, str, float]],
    metrics: Mapping[str, Sequence[float]] | None = None,
    *,
    types: Mapping[str, str] | None = None,
    lengths: Sequence[float] | None = None,
    reference_lengths: Sequence[float] | None = None,
    ratings: Sequence[tuple[int, str, float]] | None = None,
) -> ScoredAnswers:
    """Rows of (system, question, human score); ratings of (row, worker, score)."""
    system_names = list(dict.fromkeys(row[0] for row in rows))
    question_names = list(dict.fromkeys(row[1] for row in rows))
    workers = list(dict.fromkeys(worker for _, worker, _ in ratings or ()))
    return ScoredAnswers(
        human=np.array([row[2] for row in rows], dtype=np.float64),
        metrics={name: np.array(values, dtype=np.float64) for name, values in (metrics or {}).items()},
        systems=np.array([system_names.index(row[0]) for row in rows], dtype=np.int32),
        questions=np.array([question_names.index(row[1]) for row in rows], dtype=np.int32),
        system_names=system_names,
        question_names=question_names,
        types=[types.get(name, "") for name in question_names] if types else (),
        lengths=None if lengths is None else np.array(lengths, dtype=np.float64),
        reference_lengths=None if reference_lengths is None else np.array(reference_lengths, np.float64),
        raters=None
        if ratings is None
        else Raters(
            np.array([row for row, _, _ in ratings], dtype=np.int32),
            np.array([workers.index(worker) for _, worker, _ in ratings], dtype=np.int32),
            np.array([score for _, _, score in ratings], dtype=np.float64),
        ),
    )


def known(
    questions: int = 60,
    systems: int = 4,
    raters: int = 4,
    seed: int = 5,
    noise: Sequence[float] = (0.5, 1, 4),
) -> ScoredAnswers:
    """Answers with a true quality that people and metrics see through noise.

    Metric k is `seen-k`; `random` sees nothing. Lengths are independent of quality.
    """
    rng = np.random.default_rng(seed)
    n = questions * systems
    of_question = np.repeat(np.arange(questions), systems)
    of_system = np.tile(np.arange(systems), questions)
    quality = 3 + rng.normal(0, 1, n) + np.linspace(-0.5, 0.5, systems)[of_system]
    ratings = np.clip(np.round(quality[:, None] + rng.normal(0, 0.7, (n, raters))), 1, 5)
    metrics = {f"seen-{k}": list(quality + rng.normal(0, sd, n)) for k, sd in enumerate(noise)}
    metrics["random"] = list(rng.random(n))
    return study(
        [
            (f"s{s}", f"q{q:03}", mean)
            for s, q, mean in zip(of_system, of_question, ratings.mean(axis=1), strict=True)
        ],
        metrics,
        types={f"q{q:03}": ("number", "person")[q % 2] for q in range(questions)},
        lengths=rng.integers(1, 30, n),
        reference_lengths=rng.integers(5, 20, n),
        ratings=[(row, f"w{(row + k) % 9}", ratings[row, k]) for row in range(n) for k in range(raters)],
    )


def shuffled(judged: ScoredAnswers, seed: int = 0) -> ScoredAnswers:
    """The same study with its rows, names and ratings in another order."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(judged))
    systems = rng.permutation(len(judged.system_names))
    questions = rng.permutation(len(judged.question_names))
    raters = judged.raters
    if raters is not None:
        order = rng.permutation(len(raters.scores))
        workers = rng.permutation(int(raters.workers.max(initial=-1)) + 1)
        place = np.argsort(rows)
        raters = Raters(
            place[raters.answers[order]].astype(np.int32),
            workers[raters.workers[order]].astype(np.int32),
            raters.scores[order],
        )
    return ScoredAnswers(
        human=judged.human[rows],
        metrics={name: judged.metrics[name][rows] for name in reversed(list(judged.metrics))},
        systems=np.argsort(systems)[judged.systems[rows]].astype(np.int32),
        questions=np.argsort(questions)[judged.questions[rows]].astype(np.int32),
        system_names=[judged.system_names[k] for k in systems],
        question_names=[judged.question_names[k] for k in questions],
        types=[judged.types[k] for k in questions] if judged.types else (),
        lengths=None if judged.lengths is None else judged.lengths[rows],
        reference_lengths=None if judged.reference_lengths is None else judged.reference_lengths[rows],
        raters=raters,
        signatures=judged.signatures,
    )
