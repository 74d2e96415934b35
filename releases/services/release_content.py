"""Everything that a release is written from, read once in one state of the database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from django.db.models import Count

from annotation.models import Answer
from core.projects.models import Project
from crowd.models import Stage
from judgments.judging_config import LABELS, labels_by_score
from judgments.models import Candidate, Judgment
from judgments.selectors.ratings import scale_of
from releases.options import Options
from releases.reports import accounts_of, agreement, costs, steps_of, without_accounts
from releases.rows.acceptance import answers_of, inside, queries_of
from releases.rows.reader import tables_of
from releases.rows.scope import FoundPassages, JudgedStage, Scope, scope_of, snapshot
from releases.spool import Spool, spooled
from releases.tables import Progress


@dataclass(frozen=True, slots=True)
class ReleaseTables:
    """The tables on disk, and what stands beside them.

    `about` has what was brought in, steps, stages with their recipes, and costs, for the digest of the
    content and the manifest. `reports` are those of judging stages by slug. `workers` wrote or judged;
    `simulated` of them are no people, `joined` workers came by another way and count once, `by_person` says
    whether it makes a difference that pseudonyms are those of people, and `simulated_rows` counts the rows of
    each table that are theirs.
    `found` counts the candidate passages by origin and ranker.
    """

    spool: Spool
    judged: Sequence[JudgedStage]
    about: dict[str, Any]
    reports: dict[str, dict[str, Any]]
    costs: dict[str, Any]
    workers: int
    simulated: int
    joined: int
    by_person: bool
    simulated_rows: dict[str, dict[str, int]]
    found: Mapping[tuple[str, str], FoundPassages]
    libraries: dict[str, str]

    @property
    def by_programs(self) -> bool:
        """Programs did something in place of people: as workers here, or in scores that were imported."""
        return self.simulated > 0 or bool(self.simulated_rows)


def gather(project: Project, options: Options, room: Path, progress: Progress) -> ReleaseTables:
    """Read a project into an empty folder."""
    progress(0, 0, "Splits")
    with snapshot() as using:
        scope = scope_of(project, options, using)
        spool = spooled(tables_of(scope), room, progress, _total(scope))
        steps = steps_of(scope, spool.rows, spool.verdicts)
        paid = costs(project)
        reports = {judged.stage.slug: agreement(judged, scope.people, progress) for judged in scope.judged}
        for slug, report in reports.items():
            report["in_release"] = _in_release(slug, report["n_ratings"], scope, spool)
        brought_in = _brought_in(scope)
    about = {
        "brought_in": brought_in,
        "steps": steps,
        "stages": [_stage(judged) for judged in scope.judged],
        "costs": paid,
        "project": [project.slug, project.title, project.language, project.licence],
        "redacted_spans": len(scope.redactions),
    }
    return ReleaseTables(
        spool,
        scope.judged,
        about,
        reports,
        paid,
        len(scope.people),
        scope.people.simulated_people,
        scope.people.joined,
        scope.people.joined > 0 or scope.people.by_person,
        {
            name: {"simulated": count, "of": sum(spool.rows[name].values())}
            for name, count in spool.simulated.items()
            if count
        },
        scope.found,
        {"pyarrow": version("pyarrow")},
    )


def _in_release(slug: str, reported: int, scope: Scope, spool: Spool) -> dict[str, Any]:
    """How many of a stage's good ratings are in the release, and why the others are not.

    Together they are those that its report is about and `later` ones, which came after the filters ran.
    """
    left_out = {why: n for (stage, why), n in sorted(scope.passed_over.items()) if stage == slug and n}
    ratings = sum(n for (stage, _), n in spool.verdicts.items() if stage == slug)
    later = ratings + sum(left_out.values()) - reported
    return {"ratings": ratings, "left_out": left_out, "later": later}


def _brought_in(scope: Scope) -> dict[str, int]:
    """How many queries and answers are in the release of each group that a person brought in."""
    if not scope.include:
        return {}
    queries = queries_of(scope.project, scope.using, scope.include)
    answers = answers_of(scope.project, scope.using).filter(
        query__in=queries.filter(why__in=inside(scope.include)).values("pk")
    )
    counts: dict[str, int] = {}
    for rows in (queries, answers):
        counts |= dict(rows.order_by().values_list("why").annotate(n=Count("pk")))
    return {name: counts[name] for name in scope.include if counts.get(name)}


def _total(scope: Scope) -> int:
    """About how many rows there will be."""
    answers = Answer.objects.using(scope.using).filter(query__project=scope.project).count()
    judgments = sum(
        Judgment.objects.using(scope.using).filter(stage=judged.stage).count() for judged in scope.judged
    )
    candidates = Candidate.objects.using(scope.using).filter(system__project=scope.project).count()
    return len(scope.queries) + answers + 2 * candidates + judgments


def _stage(judged: JudgedStage) -> dict[str, Any]:
    """A judging stage with the filters that are in force in it."""
    stage, run = judged.stage, judged.run
    said: dict[str, Any] = {"stage": stage.slug, "title": stage.title, "kind": stage.kind, "filters": None}
    if run is not None:
        said["filters"] = {
            "recipe": run.recipe,
            "parameters": without_accounts(
                {name: run.parameters[name] for name in sorted(run.parameters)}, accounts_of(judged)
            ),
            "seed": run.seed,
        }
    return said


def scale_in_words(stage: Stage) -> dict[str, Any]:
    """A judging stage's scale for the manifest; `labels` say what scores mean, by the score in words."""
    options, scale = stage.config if isinstance(stage.config, dict) else {}, scale_of(stage)
    labels = labels_by_score(options.get("scale", "labels"), options.get("labels") or LABELS, scale)
    least, most = scale.ends
    return {"least": least, "most": most, "step": scale.step, "labels": labels}
