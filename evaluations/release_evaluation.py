"""Computing an evaluation of a release: read, score, compare with people, write the files of the report."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from math import nan
from pathlib import Path
from typing import Any, cast

from django.conf import settings

from core.allocation import return_large_blocks
from core.files.atomic import write_together
from core.progress import Progress
from evaluations.answer_table import AnswerTable, Row
from evaluations.choices import choose
from evaluations.errors import EvaluationError
from evaluations.executor import PartRunner, others
from evaluations.external_scores import values_of
from evaluations.model_shelf import models_of
from evaluations.models import Evaluation, ExternalScores
from evaluations.plans import EvaluationPlan
from evaluations.release_table import open_release
from evaluations.report.model import Report
from evaluations.report.page import pages
from evaluations.table_evaluation import (
    POINTS_FILE,
    Options,
    files_of,
    points_file,
    points_of,
    run_evaluation,
)
from metrics.metaeval.breakdown import sweep_of
from metrics.scoring import Crew, ProcessMetrics
from metrics.scoring import Part as ScoredPart
from metrics.texts import Answers, Metric
from releases.storage import fetched_folder


@dataclass(eq=False)
class JoinedTable:
    """The table with values of candidates under each name; nan where a candidate has none."""

    table: AnswerTable
    columns: Mapping[str, Mapping[str, float]]
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.external = list(self.columns)
        self.notes = self.table.notes

    def __getattr__(self, name: str) -> Any:
        return getattr(self.table, name)

    def rows(self) -> Iterator[Row]:
        """All rows in their order."""
        columns = list(self.columns.values())
        for row in self.table.rows():
            yield replace(row, external=tuple(column.get(row.id, nan) for column in columns))


#: Chunks that wait for each worker, so that none is idle while results are put together.
_AHEAD = 3


@dataclass(frozen=True, slots=True, eq=False)
class PartExecutor:
    """A crew of this job and its helpers. Few chunks are under way at a time, however many there are."""

    spread: PartRunner
    process_metrics: ProcessMetrics

    def survey(self, chunks: Iterable[Answers]) -> Iterator[list[object]]:
        """For each chunk what each metric's survey finds in it."""
        return self.spread.over(self.process_metrics.survey_one, chunks, ahead=_ahead())

    def score(self, chunks: Iterable[Answers]) -> Iterator[list[ScoredPart]]:
        """For each chunk what each metric says of it."""
        return self.spread.over(self.process_metrics.score_one, chunks, ahead=_ahead())


@dataclass(frozen=True, slots=True, eq=False)
class PartExecutors:
    """Makes the crew for metrics and what their surveys found."""

    spread: PartRunner

    def __call__(self, metrics: Sequence[Metric], surveys: Sequence[object]) -> AbstractContextManager[Crew]:
        """The crew."""
        return nullcontext(PartExecutor(self.spread, ProcessMetrics(metrics, surveys)))


def _ahead() -> int:
    return _AHEAD * (others() + 1)


_SENTENCES = re.compile(r"(?<=[.!?]) +(?=[A-Z])")


def compute(
    evaluation: Evaluation, plan: EvaluationPlan, folder: Path, *, spread: PartRunner, progress: Progress
) -> Report:
    """Write the files of the report into an empty folder; the report.

    EvaluationError or MetricError where the release cannot be evaluated so.
    """
    return_large_blocks()
    with _table(evaluation, plan) as table:
        choice = choose(table, metrics=plan.metrics, profile=plan.profile, models=models_of(plan))
        options = Options(
            seed=plan.seed,
            replicates=plan.replicates,
            draws=plan.draws,
            protocols=plan.protocols,
            gap=plan.gap,
            paired_bootstrap=plan.paired_bootstrap,
            sweeps=tuple(map(sweep_of, plan.sweeps)),
            reference_samples=plan.reference_samples,
            differences=plan.differences,
            version=settings.DISTILLERY_VERSION,
        )
        done = run_evaluation(
            table,
            choice,
            options,
            progress=progress,
            spread=spread,
            crews=PartExecutors(spread),
            titles=_titles(evaluation, plan),
        )
        warnings = tuple(without_options(each) for each in done.report.warnings)
        done = replace(done, report=done.report.model_copy(update={"warnings": warnings}))
        progress(0, 0, "Writing the report")
        points = points_of(done, plan.seed)
        files = {
            **files_of(table, done),
            **pages(done.report, points),
            POINTS_FILE: points_file(points),
        }
        write_together({folder / name: write for name, write in files.items()})
    return done.report


def without_options(text: str) -> str:
    """A note without sentences that name options of the command line: here is a form instead."""
    sentences = [each for each in _SENTENCES.split(text) if "--" not in each]
    return " ".join(sentences) if sentences else text


def _titles(evaluation: Evaluation, plan: EvaluationPlan) -> dict[str, str]:
    """How reports call scores from elsewhere."""
    names = [each.name for each in plan.external]
    rows = ExternalScores.objects.filter(release=evaluation.release_id, name__in=names, kept=True)
    return {name: says or name for name, says in rows.values_list("name", "says")}


@contextmanager
def _table(evaluation: Evaluation, plan: EvaluationPlan) -> Iterator[AnswerTable]:
    """The release with the scores from elsewhere that the plan names."""
    columns = {each.name: values_of(_external(evaluation, each.name, each.digest)) for each in plan.external}
    with (
        fetched_folder(evaluation.release) as folder,
        open_release(folder, stage=plan.stage, scored=True, field=plan.field) as table,
    ):
        yield cast("AnswerTable", JoinedTable(table, columns)) if columns else table


def _external(evaluation: Evaluation, name: str, digest: str) -> ExternalScores:
    rows = ExternalScores.objects.defer("body").filter(release=evaluation.release_id, name=name, kept=True)
    scores = rows.filter(digest=digest).first()
    if scores is None:
        raise EvaluationError(f"The scores {name!r} are no longer there. Upload them again.")
    return scores
