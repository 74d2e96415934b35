"""An evaluation of a table from its first pass to the files of its report.

The files hold, beside the report, the correlation by the number of references of a query, the answers on
which metrics and people differ most, and a sample of single answers for the plots.
"""

import hashlib
import heapq
import json
import math
import platform
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib.metadata import version as version_of
from itertools import count
from typing import IO, Any, cast

import numpy as np
import numpy.typing as npt

from core.files.atomic import Write, json_of, text_of
from core.progress import Progress
from evaluations.answer_table import CHUNK, AnswerColumns, AnswerTable, Row, batches, gather
from evaluations.choices import MetricChoice, processes_for, scoring_processes
from evaluations.errors import EvaluationError
from evaluations.report.model import Differences, ReferenceCurve, Report, build_report
from evaluations.report.tables import table_of
from evaluations.scores import MetricScores, Part, scored, write_csv
from metrics.catalogue import ADAPTED, metric
from metrics.metaeval.breakdown import (
    MOST,
    Disagreement,
    Sweep,
    curves,
    fixed_weights,
    largest_differences,
    name_at,
)
from metrics.metaeval.ceiling import plan_references, steps_to, summarise
from metrics.metaeval.correlation import STATISTICS, Statistic, Which, column_correlation
from metrics.metaeval.data import ScoredAnswers
from metrics.metaeval.executor import PartRunner, generator, processes
from metrics.metaeval.plan import COMPARISONS, PAIRED_BOOTSTRAP, CorpusRule, Plan, ReportHeader
from metrics.metaeval.report import evaluate
from metrics.profiles import Profile
from metrics.scoring import Crews
from metrics.texts import Floats, Metric
from metrics.tokens import spacing_warning

# Correlation by the number of references of a query: some are left out at random, answers scored again.

#: Samples of references at each number of them, unless another number is asked for.
TIMES = 20
CURVE_STATISTICS: tuple[Which, ...] = ("pearson", "spearman")
CURVE_FILE = "reference-curve.csv"
_SINGLE = "most answers have a single reference, so none can be left out"


@dataclass(eq=False)
class ReferenceSample:
    """A table with k of the references of each question: the first k of an order that seed and sample draw.

    Answers to one question lose the same references, and fewer references are a part of more.
    """

    table: AnswerTable
    keep: int
    seed: int
    sample: int

    def __getattr__(self, name: str) -> Any:
        return getattr(self.table, name)

    def rows(self) -> Iterator[Row]:
        """All rows, with fewer references."""
        orders: dict[tuple[str, int], list[int]] = {}
        for row in self.table.rows():
            size = len(row.references)
            if size <= self.keep:
                yield row
                continue
            key = row.question_id or row.question, size
            order = orders.get(key)
            if order is None:
                rng = generator(self.seed, f"references of {key[0]}", self.sample)
                order = orders[key] = sorted(rng.permutation(size)[: self.keep].tolist())
            yield replace(
                row,
                references=[row.references[at] for at in order],
                labels=[row.labels[at] for at in order] if len(row.labels) == size else row.labels,
            )


def reference_curve(
    table: AnswerTable,
    gathered: AnswerColumns,
    choice: MetricChoice,
    *,
    seed: int,
    times: int = TIMES,
    processes: int = 1,
    progress: Callable[[int, int, str], None] = lambda done, of, what: None,
) -> dict[str, Any]:
    """Pearson and Spearman of each metric at 1, 2, … references: mean and middle 95 % of `times` samples.

    Only answers count that have as many references as the middle answer with a human score, so that each
    number of references is about the same answers. `plan` says what the curve means for a new data set.
    """
    counts = np.array([len(row.references) for row in table.rows()])
    scored_by_people = ~np.isnan(gathered.human)
    most = int(np.median(counts[scored_by_people])) if scored_by_people.any() else 0
    if most < 2:
        return {"value": None, "reason": _SINGLE}
    rows = scored_by_people & (counts >= most)
    questions = len(np.unique(gathered.questions[rows]))
    steps = steps_to(most)
    samples = {k: 1 if k == most and (counts[rows] == most).all() else times for k in steps}
    curves_by_metric: dict[str, dict[str, Any]] = {metric.name: {"points": []} for metric in choice.metrics}
    done, total = 0, sum(samples.values())
    for k in steps:
        values: dict[str, list[Floats]] = {name: [] for name in curves_by_metric}
        for sample in range(samples[k]):
            part = cast("AnswerTable", ReferenceSample(table, k, seed, sample))
            scores = scored(part, gathered, choice.metrics, choice.tokeniser, processes=processes).values
            for name in curves_by_metric:
                values[name].append(scores[name][rows])
            done += 1
            progress(done, total, "Samples of references")
        for name, columns in values.items():
            curves_by_metric[name]["points"].append(
                {"references": k, **_point(gathered.human[rows], columns)}
            )
    for entry in curves_by_metric.values():
        points = [
            (point["references"], point["pearson"]["value"])
            for point in entry["points"]
            if point["pearson"]["value"] is not None
        ]
        entry["plan"] = plan_references(points, questions=questions)
    return {
        "times": times,
        "most": most,
        "answers": int(rows.sum()),
        "questions": questions,
        "left_out": int(scored_by_people.sum() - rows.sum()),
        "metrics": curves_by_metric,
    }


def _point(human: Floats, columns: list[Floats]) -> dict[str, Any]:
    statistics: dict[str, Any] = {}
    for statistic in CURVE_STATISTICS:
        correlations = []
        for values in columns:
            defined = ~np.isnan(values)
            correlations.append(
                column_correlation(human[defined], values[defined], statistic)
                if defined.sum() > 2
                else float("nan")
            )
        statistics[statistic] = summarise(correlations)
    return statistics


def curve_parts(curve: ReferenceCurve) -> Iterator[Part]:
    """The curve as rows of `reference-curve.csv`."""
    for name, entry in curve.metrics.items():
        numbers: dict[str, Floats] = {}
        for statistic, figures in (
            ("pearson", [point.pearson for point in entry.points]),
            ("spearman", [point.spearman for point in entry.points]),
        ):
            ends = [each.middle or (None, None) for each in figures]
            for title, values in (
                (statistic, [each.value for each in figures]),
                (f"{statistic} low", [each[0] for each in ends]),
                (f"{statistic} high", [each[1] for each in ends]),
                (f"{statistic} samples", [each.n for each in figures]),
            ):
                numbers[title] = np.array([np.nan if value is None else value for value in values])
        yield (
            {
                "metric": [name] * len(entry.points),
                "references": [point.references for point in entry.points],
            },
            numbers,
        )


#: Work (answers times metrics) that is done before other processes have started.
_SMALL = 2_000
#: The protocol that needs what every single answer adds to corpus scores.
_NEEDS_ROWS = "resample_overall"
#: The file with the points of all sweeps, where there are any.
SWEEP = "sweep.csv"


@dataclass(frozen=True, slots=True)
class Options:
    """How to evaluate; empty means as `Plan` has it. 0 processes: as many as there are cores.

    `reference_samples` at each number of references make the curve of `reference_curve`; 0 leaves it out.
    `differences` are metrics whose largest differences in rank from people are listed.
    """

    seed: int = 0
    replicates: int = 1000
    draws: int = 9999
    statistics: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    gap: float | None = None
    paired_bootstrap: bool = False
    sweeps: tuple[Sweep, ...] = ()
    processes: int = 0
    version: str = ""
    reference_samples: int = 0
    differences: tuple[str, ...] = ()

    def plan(self, scale: tuple[float, float]) -> Plan:
        """The plan for human scores on a scale; MetricError where a value makes no sense."""
        if self.protocols:
            from metrics.metaeval.papers import refuse_unknown_protocols  # noqa: PLC0415 - only where one is asked for

            refuse_unknown_protocols(self.protocols)
        return Plan(
            statistics=cast("tuple[Statistic, ...]", self.statistics) or STATISTICS,  # the plan looks
            replicates=self.replicates,
            draws=self.draws,
            seed=self.seed,
            protocols=self.protocols,
            scale=scale,
            gap=self.gap,
            comparisons=COMPARISONS + (PAIRED_BOOTSTRAP if self.paired_bootstrap else ()),
        )


@dataclass(frozen=True, slots=True, eq=False)
class EvaluationResult:
    """The report of an evaluation, and the scores behind it."""

    report: Report
    answers: ScoredAnswers
    gathered: AnswerColumns


def run_evaluation(
    table: AnswerTable,
    choice: MetricChoice,
    options: Options,
    *,
    progress: Progress,
    crews: Crews | None = None,
    spread: PartRunner | None = None,
    titles: Mapping[str, str] | None = None,
) -> EvaluationResult:
    """Read, score, compare with people. The same answers in another order give the same report.

    Errors of the file come before anything is scored. Memory holds numbers of all answers, no texts. `crews`
    and `spread` do the work elsewhere than in processes of this machine; `titles` name scores of other tools.
    """
    options.plan((0, 1))
    refuse_unknown(options.differences, [*(metric.name for metric in choice.metrics), *table.external])
    progress(0, 0, "Reading")
    gathered = gather(table)
    plan = options.plan(gathered.scale)
    small = len(gathered) * len(choice.metrics) < _SMALL
    number = processes_for(options.processes, small=small)
    swept = swept_metrics(choice, options.sweeps)
    scored_twice = {metric.name for metric in choice.metrics}
    metric_scores = scored(
        table,
        gathered,
        [*choice.metrics, *(each for name, each in swept.items() if name not in scored_twice)],
        choice.tokeniser,
        processes=scoring_processes(options.processes, choice, small=len(gathered) < 5 * CHUNK),
        progress=lambda done: progress(done, len(gathered), "Answers scored"),
        keep_rows=_NEEDS_ROWS in plan.protocols,
        crews=crews,
    )
    answers = gathered.join_scores(
        {metric.name: metric_scores.values[metric.name] for metric in choice.metrics},
        signatures={metric.name: metric.signature for metric in choice.metrics},
        lengths=metric_scores.lengths,
        reference_lengths=metric_scores.reference_lengths,
    )
    about = _about(table, choice, gathered, metric_scores, options, external=titles or {})
    with nullcontext(spread) if spread else processes(number) as share:
        result = evaluate(answers, plan, about, spread=share, progress=progress)
    if table.scale is None and not gathered.scores_differ:
        result["scale"] = None
    if table.reading is not None:
        result["read_as"] = table.reading.as_json()
    if options.reference_samples:
        result["reference_curve"] = reference_curve(
            table,
            gathered,
            choice,
            seed=options.seed,
            times=options.reference_samples,
            processes=scoring_processes(options.processes, choice, small=len(gathered) < 5 * CHUNK),
            progress=progress,
        )
    if options.differences:
        result["differences"] = list_differences(table, gathered, answers, options.differences)
    for sweep in options.sweeps:
        result["protocols"][f"sweep-{sweep.weight}"] = _sweep(answers, metric_scores, choice, sweep, plan)
    return EvaluationResult(build_report(result), answers, gathered)


def swept_metrics(choice: MetricChoice, sweeps: Sequence[Sweep]) -> dict[str, Metric]:
    """The adapted metrics among the chosen ones, once for each value of each sweep, by their full names.

    EvaluationError where there is none to sweep.
    """
    by_name: dict[str, Metric] = {}
    for sweep in sweeps:
        plain = _adapted(choice)
        if not plain:
            raise EvaluationError(
                f"--sweep {sweep.weight} changes the weight of adapted metrics, and none is scored here. "
                "Name one: --metrics adapted-bleu-4,adapted-rouge-l."
            )
        for each in plain:
            for value in sweep.values:
                weighted = metric(name_at(each.name, sweep.weight, value), _profile(each))
                by_name[weighted.name] = weighted
    return by_name


def _adapted(choice: MetricChoice) -> list[Metric]:
    """Adapted metrics whose weights are those of the profile."""
    return [each for each in choice.metrics if each.name in ADAPTED]


def _profile(of: Metric) -> Profile:
    assert of.recipe is not None
    profile = of.recipe[1][1]
    assert isinstance(profile, Profile)
    return profile


def _sweep(
    answers: ScoredAnswers, metric_scores: MetricScores, choice: MetricChoice, sweep: Sweep, plan: Plan
) -> dict[str, Any]:
    columns = {
        each.name: [metric_scores.values[name_at(each.name, sweep.weight, value)] for value in sweep.values]
        for each in _adapted(choice)
    }
    fixed = {each.name: fixed_weights(each, sweep.weight) for each in _adapted(choice)}
    return curves(answers, columns, sweep, fixed=fixed, replicates=plan.replicates, seed=plan.seed)


def _about(
    table: AnswerTable,
    choice: MetricChoice,
    gathered: AnswerColumns,
    metric_scores: MetricScores,
    options: Options,
    *,
    external: Mapping[str, str],
) -> ReportHeader:
    titles = {metric.name: metric.title for metric in choice.metrics}
    return ReportHeader(
        title=table.title,
        source=table.description,
        distillery=options.version,
        profile=choice.profile,
        models=choice.models,
        versions={"python": platform.python_version(), "scipy": version_of("scipy")},
        titles=titles
        | {name: external.get(name, f"{name} (a column of the table)") for name in gathered.external},
        corpus={name: each for name, each in metric_scores.systems.items() if name in titles},
        undefined={name: each for name, each in metric_scores.undefined.items() if name in titles}
        | {
            name: {"the cell is empty": int(np.isnan(values).sum())}
            for name, values in gathered.external.items()
        },
        rules={
            metric.name: CorpusRule(metric_scores.rows[metric.name], metric.corpus)
            for metric in choice.metrics
            if metric.name in metric_scores.rows and metric.corpus is not None
        },
        inferred=gathered.inferred,
        alpha=table.alpha,
        warnings=[
            *gathered.notes,
            *choice.notes,
            *spacing_warning(gathered.unspaced, len(gathered), choice.tokeniser),
        ],
        simulated=gathered.simulated,
    )


def files_of(table: AnswerTable, done: EvaluationResult) -> dict[str, Write]:
    """The files of a report by their names."""

    def scores(file: IO[bytes]) -> None:
        write_csv(file, _parts(table, done))

    return {
        "report.json": json_of(done.report.as_json()),
        "scores.csv": scores,
        "table.tex": text_of(table_of(done.report)),
        **{name: partial(_write_parts, parts) for name, parts in _parts_on_request(done.report).items()},
    }


def _sweep_points(report: Report) -> Iterator[Part]:
    """Rows of sweep.csv: a point of a curve each."""
    rows = [
        (swept.weight, fixed, name, kind, point)
        for swept in (report.protocols.sweep_alpha, report.protocols.sweep_beta)
        if swept is not None
        for name, kinds in swept.curves.items()
        for fixed in [" ".join(f"{key}={value:g}" for key, value in swept.fixed[name].items())]
        for kind, points in kinds.items()
        for point in points
    ]
    if not rows:
        return
    ends = [row[4].ci or (np.nan, np.nan) for row in rows]
    numbers = {
        "value": [row[4].x for row in rows],
        "pearson": [np.nan if row[4].value is None else row[4].value for row in rows],
        "low": [low for low, _ in ends],
        "high": [high for _, high in ends],
    }
    texts: dict[str, Sequence[str | int | None]] = {
        "metric": [row[2] for row in rows],
        "weight": [row[0] for row in rows],
        "fixed": [row[1] for row in rows],
        "questions": [row[3] for row in rows],
        "n": [row[4].n for row in rows],
    }
    yield texts, {name: np.array(column, dtype=np.float64) for name, column in numbers.items()}


def _parts_on_request(report: Report) -> dict[str, Callable[[], Iterator[Part]]]:
    """What makes the rows of files that only some reports have, by the file's name."""
    parts: dict[str, Callable[[], Iterator[Part]]] = {}
    if report.reference_curve is not None:
        parts[CURVE_FILE] = partial(curve_parts, report.reference_curve)
    if report.differences is not None:
        parts[DIFFERENCES_FILE] = partial(difference_parts, report.differences)
    if points := list(_sweep_points(report)):
        parts[SWEEP] = partial(iter, points)
    return parts


def _write_parts(parts: Callable[[], Iterator[Part]], file: IO[bytes]) -> None:
    write_csv(file, parts())


def _parts(table: AnswerTable, done: EvaluationResult) -> Iterator[Part]:
    """Rows of scores.csv: the table is read once more for the names of its rows."""
    gathered, answers = done.gathered, done.answers
    begin = 0
    for chunk in batches(table.rows(), CHUNK):
        end = begin + len(chunk)
        texts: dict[str, Sequence[str | int | None]] = {"row": range(begin + 1, end + 1)}
        if table.unit:
            texts[table.unit] = [row.line for row in chunk]
        if "id" in table.has:
            texts["id"] = [row.id for row in chunk]
        questions = gathered.questions[begin:end].tolist()
        texts["question"] = [gathered.question_names[code] for code in questions]
        texts["system"] = [gathered.system_names[code] for code in gathered.systems[begin:end].tolist()]
        if gathered.simulated:
            texts["simulated"] = ["true" if row.simulated else "false" for row in chunk]
        if gathered.types:
            texts["type"] = [gathered.types[code] for code in questions]
        yield (
            texts,
            {
                "human": gathered.human[begin:end],
                **{name: values[begin:end] for name, values in answers.metrics.items()},
            },
        )
        begin = end


# The answers on which a metric and people differ most, with their texts (Lee et al. 2021, 5.4).

DIFFERENCES_FILE = "differences.csv"
_NO_TYPE = "(no type)"


def refuse_unknown(names: Sequence[str], evaluated: Sequence[str]) -> None:
    """EvaluationError for a metric that is not evaluated."""
    for name in names:
        if name not in evaluated:
            raise EvaluationError(
                f"--differences {name}: that metric is not evaluated. There are: {', '.join(evaluated)}."
            )


def list_differences(
    table: AnswerTable,
    gathered: AnswerColumns,
    scored_answers: ScoredAnswers,
    names: Sequence[str],
    most: int = MOST,
) -> dict[str, Any]:
    """For each metric the answers with the largest differences in rank, and how many there are by type.

    The table is read once more for the texts of these answers alone.
    """
    by_metric = {name: largest_differences(scored_answers, name, most) for name in names}
    row_numbers = {each.row for differences in by_metric.values() for each in differences}
    rows = {at: row for at, row in enumerate(table.rows()) if at in row_numbers}

    def entry(each: Disagreement) -> dict[str, Any]:
        row, question = rows[each.row], gathered.questions[each.row]
        return {
            "row": each.row + 1,
            "id": row.id,
            "question": row.question or gathered.question_names[question],
            "system": gathered.system_names[gathered.systems[each.row]],
            "type": gathered.types[question] if gathered.types else "",
            "answer": row.answer,
            "references": row.references,
            "human": each.human,
            "metric": each.metric,
            "human_rank": each.human_rank,
            "metric_rank": each.metric_rank,
            "difference": each.difference,
        }

    metrics = {}
    for name, differences in by_metric.items():
        answers = [entry(each) for each in differences]
        counts = Counter(each["type"] or _NO_TYPE for each in answers)
        metrics[name] = {
            "answers": answers,
            "types": dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))),
        }
    return {"most": most, "metrics": metrics}


def difference_parts(differences: Differences) -> Iterator[Part]:
    """The list as rows of `differences.csv`."""
    for name, entry in differences.metrics.items():
        answers = entry.answers
        texts: dict[str, Sequence[str | int | None]] = {
            "name": [name] * len(answers),
            "row": [each.row for each in answers],
            "id": [each.id for each in answers],
            "question": [each.question for each in answers],
            "system": [each.system for each in answers],
            "type": [each.type for each in answers],
            "answer": [each.answer for each in answers],
            "references": [" | ".join(each.references) for each in answers],
        }
        numbers: dict[str, Floats] = {
            "human": np.array([each.human for each in answers], np.float64),
            "metric": np.array([each.metric for each in answers], np.float64),
            "human_rank": np.array([each.human_rank for each in answers], np.float64),
            "metric_rank": np.array([each.metric_rank for each in answers], np.float64),
            "difference": np.array([each.difference for each in answers], np.float64),
        }
        yield texts, numbers


# Single answers for the plots: all of them, or a sample that does not depend on the order of the rows.

#: As many points as a page needs; more cannot be told apart on it.
MOST_POINTS = 3000


@dataclass(frozen=True, slots=True)
class Points:
    """n answers: human score, scores of metrics, system and type of question; None where one is missing.

    `systems` and `types` may be empty. `of` is the number of answers that these were drawn from.
    """

    human: Sequence[float | None]
    metrics: Mapping[str, Sequence[float | None]]
    systems: Sequence[str] = ()
    types: Sequence[str] = ()
    of: int = 0

    def __len__(self) -> int:
        return len(self.human)

    @property
    def all(self) -> int:
        """How many answers there are."""
        return max(self.of, len(self))

    def pairs(self, metric: str) -> list[tuple[float, float]]:
        """(metric, human) of the answers that have both."""
        both = zip(self.metrics.get(metric, ()), self.human, strict=False)
        return [(a, b) for a, b in both if a is not None and b is not None]


NONE = Points((), {})


@dataclass(eq=False)
class Sample:
    """Takes answers one after another and keeps at most `most`, the same ones in whatever order.

    Kept are the answers whose hash under the seed is lowest, so memory does not grow with the file.
    """

    metrics: Sequence[str]
    seed: int = 0
    most: int = MOST_POINTS
    _heap: list[tuple[int, int, list[float | None], str, str]] = field(default_factory=list, repr=False)
    _seen: "count[int]" = field(default_factory=count, repr=False)
    _n: int = 0

    def add(
        self,
        key: str,
        human: float | None,
        values: Sequence[float | None],
        *,
        system: str = "",
        type: str = "",
    ) -> None:
        """Look at an answer; `values` are parallel to `metrics`, `key` says which answer it is.

        An answer without a human score is not kept: no plot can show it.
        """
        scores = [_finite(human), *map(_finite, values)]
        if scores[0] is None:
            return
        self._n += 1
        text = json.dumps([self.seed, key, system, type, scores])
        rank = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
        entry = (-rank, next(self._seen), scores, system, type)
        if len(self._heap) < self.most:
            heapq.heappush(self._heap, entry)
        else:
            heapq.heappushpop(self._heap, entry)

    def points(self) -> Points:
        """What was kept, in an order that does not depend on that of the file."""
        rows = sorted(self._heap, key=lambda each: (-each[0], str(each[2]), each[3], each[4]))
        return Points(
            human=[row[2][0] for row in rows],
            metrics={name: [row[2][at] for row in rows] for at, name in enumerate(self.metrics, start=1)},
            systems=[row[3] for row in rows],
            types=[row[4] for row in rows],
            of=self._n,
        )


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


POINTS_FILE = "points.json"


def points_of(done: EvaluationResult, seed: int) -> Points:
    """A sample of answers that does not depend on the order of the rows."""
    answers = done.answers
    names = sorted(answers.metrics)
    sample = Sample(names, seed=seed)
    columns: list[npt.NDArray[Any]] = [answers.questions, answers.systems, answers.human]
    columns += [answers.metrics[name] for name in names]
    for begin in range(0, len(answers), CHUNK):
        chunk = (column[begin : begin + CHUNK].tolist() for column in columns)
        for question, system, human, *values in zip(*chunk, strict=True):
            sample.add(
                answers.question_names[question],
                human,
                values,
                system=answers.system_names[system],
                type=answers.types[question] if answers.types else "",
            )
    return sample.points()


def points_file(points: Points) -> Write:
    """Write what the scatter plots draw, as JSON."""

    def write(file: IO[bytes]) -> None:
        file.write(json.dumps(asdict(points), ensure_ascii=False, allow_nan=False).encode())

    return write


def points_in(file: IO[bytes]) -> Points:
    """Points from a file; none where it is not one."""
    try:
        return Points(**json.load(file))
    except (TypeError, ValueError):
        return NONE
