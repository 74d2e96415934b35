"""What this app adds to others: kinds of stages, pages of the desk, notices, actions of the event log."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db.models import OuterRef, Subquery
from django.urls import reverse
from django.utils.translation import gettext_noop

from core.extensions import Extension
from core.jobs.models import Job
from core.notices.conditions import Condition, JobKindNotice, Rule, pages_of_project
from core.notices.conditions import Place as NoticePlace
from core.notices.models import Notice
from core.projects.services import EventActions
from crowd.desk.agreement import Source
from crowd.desk.beginnings import StagePreset
from crowd.desk.overview import OverviewSource, WorkerSection
from crowd.models import Stage
from crowd.selectors.people import Knowledge
from judgments.desk import overview
from judgments.judging_config import judging_config
from judgments.kinds import JudgeTraining, Judging
from judgments.models import AgreementReport
from judgments.questionnaire.kind import Questionnaire
from judgments.services import filter_runs
from web.api import ApiPart
from web.nav import Finder, Group, Page, Place

# Beginnings for judging systems' answers: the protocols of KPQA (paper 002) and of ADEM (paper 004).

_TRAINING: dict[str, Any] = {
    "slug": "training",
    "title": "Training for judges",
    "kind": "judge-training",
    "reward": "0.50",
    "redundancy": 200,
    "units_per_hit": 3,
    "expected_minutes": 3.0,
    "config": {
        "pass_share": 0.66,
        "lessons": [
            {
                "passage": "It is mostly made up of methane and is found with other fossil fuels, as in coal "
                "beds.",
                "question": "where does natural gas come from",
                "answer": "natural gas comes from canada .",
                "correct": "Natural gas is found with other fossil fuels, for example in coal beds.",
                "accepted": [1, 2],
                "reason": "Some of it may, but the question asks how it is found, and the passage says "
                "nothing of Canada.",
            },
            {
                "passage": "Water boils at 100 degrees Celsius at sea level.",
                "question": "boiling point of water",
                "answer": "about 212 degrees fahrenheit at sea level",
                "correct": "100 degrees Celsius.",
                "accepted": [4, 5],
                "reason": "It is the same temperature in another unit; other words can be just as correct.",
            },
            {
                "passage": "The Danube is 2,850 km long and flows through ten countries.",
                "question": "how long is the danube and how many countries does it cross",
                "answer": "2,850 km",
                "correct": "It is 2,850 km long and crosses ten countries.",
                "accepted": [2, 3, 4],
                "reason": "Half of the answer is missing, and the half that is there is right.",
            },
        ],
    },
}
_BRINGS = "Queries with references, and what systems answered to them, a line per answer."

CLASS = StagePreset(
    "class",
    "A class study",
    "People who come by a study link choose passages, write answers, and judge those of systems. Not paid.",
    brings="Queries, passages, and what systems answered: a table each.",
    title="A class study",
    budget="0.00",
    by_link=True,
    stages=(
        {
            "slug": "curation",
            "title": "Curation",
            "kind": "curation",
            "reward": "0.00",
            "redundancy": 1,
            "expected_minutes": 3.0,
        },
        {
            "slug": "distillation",
            "title": "Distillation",
            "kind": "distillation",
            "reward": "0.00",
            "redundancy": 3,
            "expected_minutes": 2.0,
            "approve": "by-hand",
        },
        {
            "slug": "judging",
            "title": "Judging",
            "kind": "judging",
            "reward": "0.00",
            "redundancy": 3,
            "units_per_hit": 2,
            "expected_minutes": 1.5,
        },
    ),
)
KPQA = StagePreset(
    "kpqa",
    "Judge answers, KPQA's protocol",
    "One answer per HIT, ten judges each, who passed a short training; scores from 1 to 5 for correctness.",
    brings=_BRINGS,
    title="How correct are the answers?",
    budget="2000.00",
    stages=(
        _TRAINING,
        {
            "slug": "judging",
            "title": "Judging, one answer per HIT",
            "kind": "judging",
            "reward": "0.15",
            "redundancy": 10,
            "expected_minutes": 0.7,
            "eligibility": [
                {"kind": "approval_rate", "op": "GreaterThan", "values": [95]},
                {"kind": "passed", "op": "Exists", "values": ["training"], "hide": "discover"},
            ],
        },
    ),
)
_SURVEY: dict[str, Any] = {
    "slug": "survey",
    "title": "Judging, surveys",
    "kind": "judging",
    "reward": "12.00",
    "redundancy": 1,
    "units_per_hit": 180,
    "checks_per_hit": 4,
    "max_hits_per_worker": 1,
    "expected_minutes": 70.0,
    "work_time": "3h",
    "approve": "by-hand",
}
ADEM = StagePreset(
    "adem",
    "Survey, ADEM's protocol",
    "Each judge gets one long survey: 45 queries of their own with the answers of four systems, five queries "
    "that everybody gets, and four attention checks.",
    brings=_BRINGS,
    title="A survey about answers",
    budget="400.00",
    stages=(
        {
            **_SURVEY,
            "config": {
                "passages": False,
                "shared_queries": 5,
                "question": "How good is this answer overall?",
                "labels": ["low quality", "rather low", "medium", "rather high", "high quality"],
                "aspects": [
                    {
                        "name": "topicality",
                        "question": "Is the answer about what was asked?",
                        "labels": ["not at all", "partly", "entirely"],
                    }
                ],
            },
        },
    ),
)
DIALOGUES = StagePreset(
    "dialogues",
    "Dialogue responses, ADEM's two rounds",
    "First people continue dialogues; then others judge what people and three systems said next, in surveys "
    "of 50 dialogues with four responses each, five of them in everybody's.",
    brings="Dialogues with a response each, and what systems responded, a line per response.",
    title="How good are the responses?",
    budget="900.00",
    stages=(
        {
            "slug": "continuation",
            "title": "Continuation",
            "kind": "continuation",
            "reward": "3.50",
            "redundancy": 1,
            "units_per_hit": 19,
            "checks_per_hit": 1,
            "expected_minutes": 20.0,
            "work_time": "2h",
            "approve": "by-hand",
            "config": {
                "checks": {
                    "Are you still there?\nPlease answer with the word lantern somewhere in it.": "lantern",
                    "Just to be sure that you read this:\nuse the word harbour in what you say.": "harbour",
                },
            },
        },
        {
            **_SURVEY,
            "config": {
                "passages": False,
                "shared_queries": 5,
                "reference": "none",
                "wording": "dialogue",
                "instructions": "Read each dialogue and what could be said next in it, then say how good "
                "that response is. A program or a person wrote it.",
                "question": "How good is this response overall?",
                "labels": ["low quality", "rather low", "medium", "rather high", "high quality"],
            },
        },
    ),
)


# Rules of this app about what its people should know; see `core.notices.conditions`.


def agreement_below_target(now: datetime) -> Iterator[Condition]:
    """Judging stages whose newest report has an alpha below the stage's `target_alpha`, in two queries.

    It is the cross-fitted alpha after removing workers, which a filter cannot lift by itself; without rules
    about workers it is alpha before any filter.
    """
    newest = AgreementReport.objects.filter(stage=OuterRef("pk")).order_by("-created_at", "-pk")
    rows = (
        Stage.objects.filter(kind="judging")
        .exclude(status=Stage.Status.DRAFT)
        .annotate(newest=Subquery(newest.values("pk")[:1]))
        .exclude(newest=None)
        .select_related("project")
        .order_by("pk")
    )
    stages = list(rows)
    alphas = dict(
        AgreementReport.objects.filter(pk__in=[stage.newest for stage in stages]).values_list(
            "stage", "report__alpha__after_workers__cross_fitted"
        )
    )
    for stage in stages:
        alpha = alphas.get(stage.pk)
        target = judging_config(stage).target_alpha
        if not isinstance(alpha, int | float) or alpha >= target:
            continue
        yield Condition(
            stage.project_id,
            "agreement",
            f"agreement:{stage.pk}",
            Notice.Level.WARNING,
            f"Judges of {stage.title} agree less than you asked for: Krippendorff's alpha is "
            f"{alpha:.2f}, the target {target:.2f}.",
            reverse("judgments:agreement", args=[stage.project.slug, stage.slug]),
        )


def pages_of_reports(jobs: Sequence[Job]) -> dict[int, NoticePlace]:
    """The pages that show the reports, by the jobs that make them."""
    keys = {job.pk: job.payload["stage"] for job in jobs if isinstance(job.payload.get("stage"), int)}
    rows = Stage.objects.filter(pk__in=set(keys.values())).values_list(
        "pk", "project", "project__slug", "slug"
    )
    pages = {
        pk: NoticePlace(project, reverse("judgments:agreement", args=[slug, stage]))
        for pk, project, slug, stage in rows
    }
    return {job: pages[stage] for job, stage in keys.items() if stage in pages}


EXTENSION = Extension(
    ApiPart("judgments.api"),
    Judging(),
    JudgeTraining(),
    Questionnaire(),
    filter_runs.JudgedWork(),
    CLASS,
    KPQA,
    ADEM,
    DIALOGUES,
    Finder("Systems", 30, overview.find_systems),
    Place(
        gettext_noop("Systems"),
        "systems",
        "judgments:systems",
        Group.COLLECT,
        45,
        icon="bot",
        count=overview.count_systems,
    ),
    Page(gettext_noop("Agreement"), "judgments:agreement", "agreement", kinds=("judging",)),
    Page(gettext_noop("Filters"), "judgments:filters", "filters", kinds=("judging", "questionnaire")),
    Page(gettext_noop("Scores"), "judgments:scores", "scores", kinds=("judging",)),
    Page(gettext_noop("Judges"), "judgments:judges", "judges", kinds=overview.KINDS_OF_JUDGES),
    Page(gettext_noop("Planning"), "judgments:planning", "planning", kinds=overview.KINDS_OF_JUDGES),
    Page(gettext_noop("Results"), "judgments:results", "results", kinds=("questionnaire",)),
    Page(gettext_noop("Units"), "judgments:units", "units", kinds=("questionnaire",)),
    OverviewSource("judgments", overview.say, position=20),
    Source(overview.KINDS, overview.rows_of),
    *(Knowledge(kind, overview.judge_figures, overview.stamp) for kind in overview.KINDS_OF_JUDGES),
    WorkerSection("judgments/parts/worker_plots.html", overview.plots),
    *overview.STEPS,
    Rule("agreement", agreement_below_target, kinds=("agreement",)),
    JobKindNotice("judgments.import", "An import of answers", pages_of_project("judgments:import_job")),
    JobKindNotice("judgments.report", "The report on agreement", pages_of_reports),
    EventActions(
        {
            "candidates.imported": "imported answers of systems",
            "units.imported": "imported units of a questionnaire",
            "candidates.human": "made held-out answers candidates",
            "candidates.exact": "set copies of references aside",
            "candidate.withdrawn": "took a system's answer out",
            "candidate.put_back": "put a system's answer back",
            "filter.applied": "applied filters to judgments",
            "filter.undone": "undid filters",
            "filter.remade": "decided again what filters decide",
        }
    ),
)
