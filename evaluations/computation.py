"""Computing an evaluation of a release: read, score, compare with people, write the files of the report."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from django.conf import settings

from core.files.atomic import write_together
from evaluations.choices import choose
from evaluations.errors import EvaluationError
from evaluations.external.join import JoinedTable
from evaluations.external.score_columns import values_of
from evaluations.learned.pinned_models import models_of
from evaluations.models import Evaluation, ExternalScores
from evaluations.plans import EvaluationPlan
from evaluations.plot_points import FILE as POINTS
from evaluations.plot_points import points_file, points_of
from evaluations.report_page import pages
from evaluations.spreading.crews import Crews
from evaluations.spreading.part_runner import PartRunner
from evaluations.table_evaluation import Options, files_of, run_evaluation
from evaluations.tables.release_table import open_release
from evaluations.tables.rows import AnswerTable
from releases.stored_files import fetched

_SENTENCES = re.compile(r"(?<=[.!?]) +(?=[A-Z])")
Progress = Callable[[int, int, str], None]


def compute(
    evaluation: Evaluation, plan: EvaluationPlan, folder: Path, *, spread: PartRunner, progress: Progress
) -> dict[str, Any]:
    """Write the files of the report into an empty folder; the report.

    EvaluationError or MetricError where the release cannot be evaluated so.
    """
    with _table(evaluation, plan) as table:
        chosen = choose(table, metrics=plan.metrics, profile=plan.profile, models=models_of(plan))
        options = Options(
            seed=plan.seed,
            replicates=plan.replicates,
            draws=plan.draws,
            protocols=plan.protocols,
            gap=plan.gap,
            version=settings.DISTILLERY_VERSION,
        )
        done = run_evaluation(
            table,
            chosen,
            options,
            progress=progress,
            spread=spread,
            crews=Crews(spread),
            titles=_titles(evaluation, plan),
        )
        done.report["warnings"] = [without_options(each) for each in done.report["warnings"]]
        progress(0, 0, "Writing the report")
        points = points_of(done, plan.seed)
        files = {
            **files_of(table, done),
            **pages(done.report, points),
            POINTS: points_file(points),
        }
        write_together({folder / name: write for name, write in files.items()})
    return done.report


def without_options(words: str) -> str:
    """A note without sentences that name options of the command line: here is a form instead."""
    kept = [each for each in _SENTENCES.split(words) if "--" not in each]
    return " ".join(kept) if kept else words


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
        fetched(evaluation.release) as folder,
        open_release(folder, stage=plan.stage, scored=True) as opened,
    ):
        table = cast("AnswerTable", opened)
        yield cast("AnswerTable", JoinedTable(table, columns)) if columns else table


def _external(evaluation: Evaluation, name: str, digest: str) -> ExternalScores:
    rows = ExternalScores.objects.defer("body").filter(release=evaluation.release_id, name=name, kept=True)
    found = rows.filter(digest=digest).first()
    if found is None:
        raise EvaluationError(f"The scores {name!r} are no longer there. Upload them again.")
    return found
