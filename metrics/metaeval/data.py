"""Human scores and metric scores of the same answers, in the long form."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from metrics.errors import MetricError

#: Why there is no ceiling where only means are known.
NO_RATINGS = "there are no single ratings, only their means"
Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Raters:
    """Single ratings behind human scores: rating k is `scores[k]` by `workers[k]` for answer `answers[k]`."""

    answers: Codes
    workers: Codes
    scores: Floats


@dataclass(frozen=True, slots=True, eq=False)
class JudgedPairs:
    """Pairs of answers to the same question that people compared: pair k is `first[k]` and `second[k]`.

    `leads` (from -1 to 1) are the share of judgments for the first less that for the second; 0 is a tie.
    """

    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]
    leads: Floats

    def __len__(self) -> int:
        return len(self.leads)

    def at(self, places: npt.NDArray[np.int64]) -> "JudgedPairs":
        """The same by new places of the answers, of which those that are gone have -1, in their order."""
        first, second = places[self.first], places[self.second]
        turned = first > second
        first, second = np.where(turned, second, first), np.where(turned, first, second)
        order = np.lexsort((second, first))
        order = order[first[order] >= 0]
        return JudgedPairs(first[order], second[order], np.where(turned, -self.leads, self.leads)[order])


@dataclass(frozen=True, slots=True, eq=False)
class ScoredAnswers:
    """n answers with the mean human score of each and the scores of metrics; nan where one is missing.

    `systems` and `questions` are codes from 0 into the names. A system may have several answers to a question
    (people who were held out do), or none. `types` name the class of each question, empty where unknown.
    `lengths` are numbers of tokens of the answers and `reference_lengths` the mean ones of their references.
    `raters` are single ratings from before any filter of single ratings, by workers whom no filter removed;
    without them `no_ratings` says why. Where people judged `pairs`, figures of pairs are about these, and
    `human` is the share of its comparisons that an answer won.
    No result may depend on the order of the rows.
    """

    human: Floats
    metrics: Mapping[str, Floats]
    systems: Codes
    questions: Codes
    system_names: Sequence[str]
    question_names: Sequence[str]
    types: Sequence[str] = ()
    lengths: Floats | None = None
    reference_lengths: Floats | None = None
    raters: Raters | None = None
    no_ratings: str = NO_RATINGS
    signatures: Mapping[str, str] = field(default_factory=dict)
    pairs: JudgedPairs | None = None

    def __len__(self) -> int:
        return len(self.human)


# The answers of a meta-evaluation in an order of their own: the same whatever order they came in.
#
# Sums of floating point numbers and draws of chance depend on order. So answers are sorted by the name of
# their question, the name of their system and their scores before anything is counted, and questions and
# systems are numbered in the order of their names.

Grouping = Literal["global", "item", "by_system", "system"]
GROUPINGS: tuple[Grouping, ...] = ("global", "item", "by_system", "system")

#: Keys of several codes are one number as long as they stay below this.
LARGEST = 1 << 62

Indices = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """n answers with a human score, sorted by question and then system; scores[k] are those of metric
    names[k].

    Questions and systems are numbered from 0 without gaps; a score that is missing or not finite is nan.
    """

    human: Floats
    scores: Floats
    names: tuple[str, ...]
    questions: Indices
    systems: Indices
    question_names: tuple[str, ...]
    system_names: tuple[str, ...]
    pairs: JudgedPairs | None = None

    def __len__(self) -> int:
        return len(self.human)

    def column(self, metric: str) -> Floats:
        """The scores of one metric, nan where missing."""
        scores_of_metric: Floats = self.scores[self.names.index(metric)]
        return scores_of_metric

    def only(self, mask: Mask) -> "Rows":
        """The answers of a mask, questions and systems numbered again without gaps."""
        if mask.all():
            return self
        questions, question_names = _dense(self.questions[mask], self.question_names)
        systems, system_names = _dense(self.systems[mask], self.system_names)
        return Rows(
            self.human[mask],
            self.scores[:, mask],
            self.names,
            questions,
            systems,
            question_names,
            system_names,
            _pairs_at(self.pairs, np.flatnonzero(mask), len(self)),
        )

    def of(self, metric: str) -> tuple["Rows", Floats]:
        """The answers that have a score of this metric, and these scores."""
        rows = self.only(np.isfinite(self.column(metric)))
        return rows, rows.column(metric)


def rows_of(answers: ScoredAnswers, metrics: Sequence[str] | None = None) -> Rows:
    """The answers with a human score and the scores of some metrics (all, if None) in their own order."""
    names = tuple(answers.metrics if metrics is None else metrics)
    for name in names:
        if name not in answers.metrics:
            metric_names = ", ".join(sorted(answers.metrics)) or "none"
            raise MetricError(
                f"There are no scores of the metric {name}; there are those of: {metric_names}."
            )
    finite = np.isfinite(answers.human)
    human = np.asarray(answers.human, dtype=np.float64)[finite]
    scores = np.empty((len(names), len(human)))
    for row, name in zip(scores, names, strict=True):
        row[:] = np.asarray(answers.metrics[name], dtype=np.float64)[finite]
    scores[~np.isfinite(scores)] = np.nan
    questions, question_names = _by_name(np.asarray(answers.questions)[finite], answers.question_names)
    systems, system_names = _by_name(np.asarray(answers.systems)[finite], answers.system_names)
    order, repeats = _order(human, systems, questions, len(system_names), len(question_names))
    if repeats:
        by_metric = [scores[names.index(name)] for name in sorted(names)]
        order = np.lexsort((*reversed(by_metric), human, systems, questions))
    return Rows(
        human[order],
        np.ascontiguousarray(scores[:, order]),
        names,
        questions[order],
        systems[order],
        question_names,
        system_names,
        _pairs_at(answers.pairs, np.flatnonzero(finite)[order], len(answers)),
    )


def grouped(rows: Rows, grouping: Grouping) -> tuple[Indices, Indices]:
    """Order and starts: rows[order] lie group by group, group g begins at starts[g]. Not for "system"."""
    if not len(rows):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if grouping == "global":
        return np.arange(len(rows)), np.zeros(1, np.int64)
    if grouping == "item":
        return np.arange(len(rows)), starts_of(rows.questions)
    if grouping == "by_system":
        order = np.argsort(rows.systems, kind="stable")
        return order, starts_of(rows.systems[order])
    raise MetricError(f"Answers cannot be grouped as “{grouping}”; known are: {', '.join(GROUPINGS)}.")


def starts_of(codes: npt.NDArray[np.integer]) -> Indices:
    """Where runs of the same code begin."""
    if not len(codes):
        return np.zeros(0, np.int64)
    return np.flatnonzero(np.concatenate(([True], codes[1:] != codes[:-1])))


def system_means(rows: Rows, values: Floats) -> Floats:
    """The mean value of every system, (…, n) values to (…, systems), `rounded`."""
    order = np.argsort(rows.systems, kind="stable")
    starts = starts_of(rows.systems[order])
    sizes = np.diff(np.append(starts, len(rows)))
    sums: Floats = np.add.reduceat(values[..., order], starts, axis=-1)
    return rounded(sums / sizes)


def rounded(values: Floats) -> Floats:
    """Rounded to 12 digits of the largest: means of the same scores in another order are the same."""
    largest = np.nanmax(np.abs(values), initial=0.0)
    return np.asarray(np.round(values / largest, 12) * largest) if largest else values


def _by_name(codes: npt.NDArray[np.integer], names: Sequence[str]) -> tuple[Indices, tuple[str, ...]]:
    """Codes in the order of the names that are there; equal names keep the order of their codes."""
    present = np.flatnonzero(np.bincount(codes, minlength=len(names)))
    named = sorted((str(names[code]), code) for code in present.tolist())
    place = np.zeros(len(names), dtype=np.int64)
    place[[code for _, code in named]] = np.arange(len(named))
    return place[codes], tuple(name for name, _ in named)


def _dense(codes: Indices, names: Sequence[str]) -> tuple[Indices, tuple[str, ...]]:
    present = np.flatnonzero(np.bincount(codes, minlength=len(names)))
    if len(present) == len(names):
        return codes, tuple(names)
    place = np.zeros(len(names), dtype=np.int64)
    place[present] = np.arange(len(present))
    return place[codes], tuple(names[code] for code in present.tolist())


def _order(human: Floats, systems: Indices, questions: Indices, *sizes: int) -> tuple[Indices, bool]:
    """The order by question, system and human score, and whether two answers are the same in all three."""
    score, scores = dense(human)
    if sizes[0] * sizes[1] * scores >= LARGEST:
        order = np.lexsort((human, systems, questions))
        return order, _repeats(questions[order], systems[order], human[order])
    key = (questions * sizes[0] + systems) * scores + score
    order = np.argsort(key)
    return order, _repeats(key[order])


def dense(values: Floats) -> tuple[Indices, int]:
    """The place of each value among the different ones, and how many these are. (`np.unique` is slower.)"""
    order = np.argsort(values)
    new = np.zeros(len(values), dtype=np.int64)
    new[1:] = values[order[1:]] != values[order[:-1]]
    places = np.empty(len(values), dtype=np.int64)
    places[order] = np.cumsum(new)
    return places, int(new.sum()) + 1


def _repeats(*columns: npt.NDArray[np.generic]) -> bool:
    """Whether neighbours are the same in all columns."""
    same = np.ones(max(len(columns[0]) - 1, 0), dtype=bool)
    for column in columns:
        same &= column[1:] == column[:-1]
    return bool(same.any())


# Rows in an order of their own, so that no result depends on the order in which they came.

RowNumbers = npt.NDArray[np.intp]


def canonical(answers: ScoredAnswers) -> tuple[ScoredAnswers, RowNumbers]:
    """The same scores, sorted, and the place that each row had before.

    Systems and questions are numbered by their names, rows sorted by system, question, human score, metrics
    by name, lengths and ratings. Rows that agree in all of that may change places: nothing can tell them
    apart. Workers are numbered by what they rated.
    """
    system_names, systems = _renumbered(answers.system_names, answers.systems)
    question_names, questions = _renumbered(answers.question_names, answers.questions)
    names = sorted(answers.metrics)
    keys: list[Floats | Codes] = [systems, questions, answers.human]
    keys += [answers.metrics[name] for name in names]
    keys += [column for column in (answers.lengths, answers.reference_lengths) if column is not None]
    if answers.raters is not None:
        keys += _of_ratings(answers.raters, len(answers))
    rows = np.lexsort(keys[::-1]).astype(np.intp)
    types = [answers.types[place] for place in _sort_names(answers.question_names)] if answers.types else ()
    moved = replace(
        answers,
        human=answers.human[rows],
        metrics={name: answers.metrics[name][rows] for name in answers.metrics},
        systems=systems[rows],
        questions=questions[rows],
        system_names=system_names,
        question_names=question_names,
        types=types,
        lengths=_take_rows(answers.lengths, rows),
        reference_lengths=_take_rows(answers.reference_lengths, rows),
        raters=None if answers.raters is None else _raters(answers.raters, rows),
        pairs=_pairs_at(answers.pairs, rows, len(answers)),
    )
    return moved, rows


def select_answers(answers: ScoredAnswers, keep: npt.NDArray[np.bool_]) -> ScoredAnswers:
    """Only some of the rows; systems and questions keep their numbers and names."""
    rows = np.flatnonzero(keep)
    raters = answers.raters
    if raters is not None:
        place = np.full(len(answers), -1, dtype=np.int32)
        place[rows] = np.arange(len(rows), dtype=np.int32)
        of_selected = place[raters.answers] >= 0
        raters = Raters(
            place[raters.answers[of_selected]], raters.workers[of_selected], raters.scores[of_selected]
        )
    return replace(
        answers,
        human=answers.human[rows],
        metrics={name: values[rows] for name, values in answers.metrics.items()},
        systems=answers.systems[rows],
        questions=answers.questions[rows],
        lengths=_take_rows(answers.lengths, rows),
        reference_lengths=_take_rows(answers.reference_lengths, rows),
        raters=raters,
        pairs=_pairs_at(answers.pairs, rows, len(answers)),
    )


def _pairs_at(pairs: JudgedPairs | None, rows: npt.NDArray[np.integer], size: int) -> JudgedPairs | None:
    """Pairs of the answers in these rows of so many, by their new places."""
    if pairs is None:
        return None
    places = np.full(size, -1, dtype=np.int64)
    places[rows] = np.arange(len(rows))
    return pairs.at(places)


def _sort_names(names: Sequence[str]) -> list[int]:
    return sorted(range(len(names)), key=lambda place: (names[place], place))


def _renumbered(names: Sequence[str], codes: Codes) -> tuple[list[str], Codes]:
    order = _sort_names(names)
    new = np.empty(len(names), dtype=np.int32)
    new[order] = np.arange(len(names), dtype=np.int32)
    return [names[place] for place in order], new[codes]


def _take_rows(column: Floats | None, rows: RowNumbers) -> Floats | None:
    return None if column is None else column[rows]


def _of_ratings(raters: Raters, n: int) -> list[Floats]:
    """(n,) number, sum and sum of squares of the ratings of each answer."""
    counts = np.bincount(raters.answers, minlength=n)
    sums = np.bincount(raters.answers, weights=raters.scores, minlength=n)
    squares = np.bincount(raters.answers, weights=raters.scores**2, minlength=n)
    return [np.asarray(column, np.float64) for column in (counts, sums, squares)]


#: Ratings that are looked at together: what is needed for each of them stays small beside what is kept.
_RATINGS_AT_ONCE = 1 << 18


def _raters(raters: Raters, rows: RowNumbers) -> Raters:
    """Ratings by the new places of their answers, sorted by answer, score and worker."""
    place = np.empty(len(rows), dtype=np.int32)
    place[rows] = np.arange(len(rows), dtype=np.int32)
    answers = place[raters.answers]
    sort = np.lexsort((raters.scores, answers))
    answers, workers, scores = answers[sort], raters.workers[sort], raters.scores[sort]
    del sort
    workers = _number_workers(answers, workers, scores)
    _sort_within_runs(workers, answers, scores)
    return Raters(answers, workers, scores)


def _sort_within_runs(workers: Codes, answers: Codes, scores: Floats) -> None:
    """Sort workers in place among ratings of the same answer with the same score, which lie together."""
    first = np.ones(len(workers), dtype=bool)
    first[1:] = (answers[1:] != answers[:-1]) | (scores[1:] != scores[:-1])
    runs = np.append(np.flatnonzero(first), len(workers))
    for begin, end in _spans(runs, _RATINGS_AT_ONCE):
        run = np.cumsum(first[begin:end], dtype=np.int64)
        workers[begin:end] = workers[begin:end][np.lexsort((workers[begin:end], run))]


def _spans(starts: npt.NDArray[np.integer], size: int) -> Iterator[tuple[int, int]]:
    """Begins and ends of spans of whole runs, of about so many elements each; `starts` has the end, too."""
    place = 0
    while place < len(starts) - 1:
        after = max(place + 1, int(np.searchsorted(starts, starts[place] + size)))
        after = min(after, len(starts) - 1)
        yield int(starts[place]), int(starts[after])
        place = after


def _number_workers(answers: Codes, workers: Codes, scores: Floats) -> Codes:
    """(n) new numbers of the workers: by their lists of (answer, score), equal lists as they come.

    Ratings are sorted by answer, then score. Each list is compared as bytes, 12 a rating, that sort as it
    does: pairs as Python objects take ten times as many.
    """
    by_worker = np.argsort(workers, kind="stable").astype(np.int32)
    sizes = np.bincount(workers)
    starts = np.append(0, np.cumsum(sizes[sizes > 0]))
    distinct_workers, first = (
        workers[by_worker[starts[:-1]]],
        by_worker[starts[:-1]],
    )  # where each comes up first
    work: list[bytes] = []
    for begin, end in _spans(starts, _RATINGS_AT_ONCE):
        own = by_worker[begin:end]
        rated = _as_bytes(answers[own], scores[own])
        bounds = 12 * (starts[np.searchsorted(starts, begin) : np.searchsorted(starts, end) + 1] - begin)
        work += [rated[of:to] for of, to in pairwise(bounds.tolist())]
    del by_worker
    order = sorted(range(len(distinct_workers)), key=lambda each: (work[each], first[each]))
    number = np.empty(int(distinct_workers[-1]) + 1 if len(distinct_workers) else 0, dtype=np.int32)
    number[distinct_workers[order]] = np.arange(len(distinct_workers), dtype=np.int32)
    return number[workers]


def _as_bytes(answers: Codes, scores: Floats) -> bytes:
    """Ratings as 12 bytes each that sort as (answer, score) do."""
    bits = (np.asarray(scores, np.float64) + 0.0).view(np.uint64)  # without a negative zero
    sign = np.uint64(1 << 63)
    rated = np.empty(len(answers), dtype=[("answer", ">u4"), ("score", ">u8")])
    rated["answer"] = answers
    rated["score"] = np.where(bits & sign, ~bits, bits | sign)
    return rated.tobytes()
