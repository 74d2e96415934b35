"""Rows in an order of their own, so that no result depends on the order in which they came."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from metrics.meta.scored_answers import Codes, Floats, Raters, ScoredAnswers

Rows = npt.NDArray[np.intp]


def canonical(judged: ScoredAnswers) -> tuple[ScoredAnswers, Rows]:
    """The same scores, sorted, and the place that each row had before.

    Systems and questions are numbered by their names, rows sorted by system, question, human score, metrics
    by name, lengths and ratings. Rows that agree in all of that may change places: nothing can tell them
    apart. Workers are numbered by what they rated.
    """
    system_names, systems = _renumbered(judged.system_names, judged.systems)
    question_names, questions = _renumbered(judged.question_names, judged.questions)
    names = sorted(judged.metrics)
    keys: list[Floats | Codes] = [systems, questions, judged.human]
    keys += [judged.metrics[name] for name in names]
    keys += [column for column in (judged.lengths, judged.reference_lengths) if column is not None]
    if judged.raters is not None:
        keys += _of_ratings(judged.raters, len(judged))
    rows = np.lexsort(keys[::-1]).astype(np.intp)
    types = [judged.types[place] for place in _order(judged.question_names)] if judged.types else ()
    moved = replace(
        judged,
        human=judged.human[rows],
        metrics={name: judged.metrics[name][rows] for name in judged.metrics},
        systems=systems[rows],
        questions=questions[rows],
        system_names=system_names,
        question_names=question_names,
        types=types,
        lengths=_taken(judged.lengths, rows),
        reference_lengths=_taken(judged.reference_lengths, rows),
        raters=None if judged.raters is None else _raters(judged.raters, rows),
    )
    return moved, rows


def chosen(judged: ScoredAnswers, keep: npt.NDArray[np.bool_]) -> ScoredAnswers:
    """Only some of the rows; systems and questions keep their numbers and names."""
    rows = np.flatnonzero(keep)
    raters = judged.raters
    if raters is not None:
        place = np.full(len(judged), -1, dtype=np.int32)
        place[rows] = np.arange(len(rows), dtype=np.int32)
        kept = place[raters.answers] >= 0
        raters = Raters(place[raters.answers[kept]], raters.workers[kept], raters.scores[kept])
    return replace(
        judged,
        human=judged.human[rows],
        metrics={name: values[rows] for name, values in judged.metrics.items()},
        systems=judged.systems[rows],
        questions=judged.questions[rows],
        lengths=_taken(judged.lengths, rows),
        reference_lengths=_taken(judged.reference_lengths, rows),
        raters=raters,
    )


def _order(names: Sequence[str]) -> list[int]:
    return sorted(range(len(names)), key=lambda place: (names[place], place))


def _renumbered(names: Sequence[str], codes: Codes) -> tuple[list[str], Codes]:
    order = _order(names)
    new = np.empty(len(names), dtype=np.int32)
    new[order] = np.arange(len(names), dtype=np.int32)
    return [names[place] for place in order], new[codes]


def _taken(column: Floats | None, rows: Rows) -> Floats | None:
    return None if column is None else column[rows]


def _of_ratings(raters: Raters, n: int) -> list[Floats]:
    powers = [np.ones(len(raters.scores)), raters.scores, raters.scores**2]
    return [
        np.asarray(np.bincount(raters.answers, weights=power, minlength=n), np.float64) for power in powers
    ]


def _raters(raters: Raters, rows: Rows) -> Raters:
    place = np.empty(len(rows), dtype=np.int32)
    place[rows] = np.arange(len(rows), dtype=np.int32)
    answers = place[raters.answers]
    sort = np.lexsort((raters.scores, answers))
    answers, workers, scores = answers[sort], raters.workers[sort], raters.scores[sort]
    work: dict[int, list[tuple[int, float]]] = {}
    for answer, worker, score in zip(answers.tolist(), workers.tolist(), scores.tolist(), strict=True):
        work.setdefault(worker, []).append((answer, score))
    number = {worker: i for i, worker in enumerate(sorted(work, key=lambda worker: work[worker]))}
    codes = np.fromiter((number[worker] for worker in workers.tolist()), np.int32, len(workers))
    sort = np.lexsort((codes, scores, answers))
    return Raters(answers[sort], codes[sort], scores[sort])
