"""The study files of the papers, applied, run by simulated workers and released on a running server.

    python -m tests.study.papers

It is a process with the server's settings; it prints what came of each as JSON. Files are taken as they are,
but for the marketplace's address and, where a file asks for surveys of 180 answers, for smaller ones.
"""

import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402

from annotation import simulation  # noqa: E402
from annotation.importing.selection import RULES  # noqa: E402
from annotation.models import Answer, Query  # noqa: E402
from annotation.services.importing import Options as QueryOptions  # noqa: E402
from annotation.services.importing import import_queries  # noqa: E402
from core.projects.models import Project  # noqa: E402
from crowd.kinds import Habit, Profile  # noqa: E402
from crowd.models import Assignment, Claim, Stage  # noqa: E402
from crowd.services.stages import open_stage  # noqa: E402
from crowd.services.tick import tick  # noqa: E402
from crowd.simulation.accounts import accounts  # noqa: E402
from crowd.simulation.run import Crowd  # noqa: E402
from crowd.study.planning import apply, plan  # noqa: E402
from crowd.study.reader import read  # noqa: E402
from judgments.models import FilterRun, Judgment  # noqa: E402
from judgments.services import filter_runs  # noqa: E402
from judgments.services.imports import import_candidates  # noqa: E402
from marketplace.accounts.people import create_requester  # noqa: E402
from marketplace.money.deposits import deposit  # noqa: E402
from releases.build import release_now  # noqa: E402
from releases.options import Options as ReleaseOptions  # noqa: E402

PAPERS = Path(__file__).resolve().parent.parent.parent / "examples" / "papers"
PEOPLE = 28
CAREFUL = Profile("careful", Habit.KNOWS, pace=1.0, spread=0.3)
RANDOM = Profile("random", Habit.RANDOM, pace=1.0, spread=0.3)
#: They fail every attention check, whatever the chance.
REVERSED = Profile("reversed", Habit.REVERSED, pace=1.0, spread=0.3)

_FIT = {"kind": "informational", "unambiguous": "yes", "answerable": "yes", "sensitive": "no", "adult": "no"}
#: Queries with passages, references and what is true of them: the second is to be excluded.
QUERIES: list[dict[str, Any]] = [
    {
        "id": key,
        "query": query,
        "type": kind,
        "yes_no": "yes" if kind == "" else "",
        "passages": [
            {"id": f"{key}-a", "text": passage, "is_selected": 1},
            {"id": f"{key}-b", "text": "The weather was fine all week, and the shops were open late."},
        ],
        "truth": {**_FIT, "passages": [f"{key}-a"], "answers": answers, **truth},
    }
    for key, query, kind, passage, answers, truth in (
        (
            "q1",
            "how long does bread keep",
            "DESCRIPTION",
            "Bread keeps for three to four days in a paper bag, and for months when it is frozen.",
            ["It keeps for three or four days.", "A few days, and months in the freezer."],
            {},
        ),
        (
            "q2",
            "free film download",
            "DESCRIPTION",
            "Films can be bought.",
            ["none"],
            {"kind": "transactional"},
        ),
        (
            "q3",
            "where is the old harbour",
            "LOCATION",
            "The old harbour lies in the north of Kiel, where the canal meets the sea.",
            ["In the north of Kiel.", "It lies in Kiel, by the canal."],
            {},
        ),
        (
            "q4",
            "can dogs eat apples",
            "",
            "Dogs can eat apples without the seeds, which are not good for them.",
            ["Yes, without the seeds.", "Dogs can eat them, but not the seeds."],
            {},
        ),
    )
]
_LAST = (
    "just beat the last level, want a cookie?",
    "were the oysters worth the wait?",
    "my train is late again this morning",
    "has anybody seen my other shoe?",
    "i am thinking about a garden with herbs",
    "we could watch a film on friday",
    "the coffee machine at work is broken",
    "what did your sister say about the trip?",
)
DIALOGUES: list[dict[str, Any]] = [
    {
        "id": f"d{number}",
        "history": ["hello there, how was your day?", f"quite long, it was number {number} of this week"],
        "query": text,
        "references": [f"that is what i thought when i heard of it the {number}th time"],
        "truth": {
            "continuations": [f"well, I never knew that about the {text.split()[-1].strip('?')}"],
            "scores": {"tfidf": 1 + number % 3, "de": 2 + number % 3, "hred": 3 + number % 3, "human": 5},
            "scale": [1, 5],
        },
    }
    for number, text in enumerate(_LAST)
]


def answers_to(queries: list[dict[str, Any]], *systems: str) -> list[dict[str, Any]]:
    """A line per system and query; no two are the same."""
    return [
        {
            "query_id": query["id"],
            "system": system,
            "answer": f"{system} says that the {query['query'].split()[-1]} of {query['id']} is fine",
            "opinion": "Yes" if query.get("yes_no") else "",
        }
        for query in queries
        for system in systems
    ]


def applied(name: str, environment: Mapping[str, str], smaller: Mapping[str, str] | None = None) -> Project:
    """The project of a paper's file, with other texts for some of its own."""
    text = (PAPERS / f"{name}.toml").read_text("utf-8")
    address = f'preset = "local"\nurl = "{settings.TASK_URL}/mturk/api"'
    for old, new in {'preset = "local"': address, **(smaller or {})}.items():
        assert old in text, old
        text = text.replace(old, new, 1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.toml"
        path.write_text(text, "utf-8")
        study = read(str(path))
        apply(study, plan(study, environment, to_apply=True), environment)
    return Project.objects.get(slug=f"paper-{name}")


def imported(project: Project, lines: list[dict[str, Any]], *, start_at: str = "screening") -> None:
    """Queries, by the importer."""
    options = QueryOptions(start_at=start_at, without=tuple(RULES))
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.jsonl"
        log.write_text("".join(json.dumps(line) + "\n" for line in lines))
        report = import_queries(project=project, path=log, options=options)
    assert report["stored"] == len(lines), report


def responses(project: Project, lines: list[dict[str, Any]]) -> None:
    """Answers of systems, by the importer."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "answers.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        report = import_candidates(project=project, path=file)
    assert report["counts"]["used"] == len(lines), report


class Campaign:
    """Runs the stages of a project with the people of the server."""

    def __init__(self, owner: User) -> None:
        self.owner, self.troubles = owner, []

    def run(self, project: Project, slug: str, *people: Profile, after: int = 0) -> Stage:
        """Open a stage, let people work, approve all of it; `after` so many others of the server."""
        stage = Stage.objects.select_related("project", "endpoint").get(project=project, slug=slug)
        open_stage(stage=stage, actor=self.owner)
        known = accounts(settings.TASK_URL, PEOPLE)[after : after + len(people)]
        said = Crowd(stage, people, known, seed=7, threads=4, fast=True).run().facts()
        self.troubles += said["troubles"]
        self.decide(stage)
        return stage

    def decide(self, stage: Stage) -> None:
        """Approve all work, and all answers that checks flagged; then the rounds that pay."""
        simulation.approve_answers(stage=stage, actor=self.owner)
        simulation.approve_work(stage=stage, actor=self.owner)
        for _ in range(3):
            tick()

    def released(self, project: Project, **found: Any) -> dict[str, Any]:
        """Release the project; rows by table, the kinds of its card, and what else was `found`."""
        kept: dict[str, Any] = {}

        def look(folder: Path) -> None:
            manifest = json.loads((folder / "manifest.json").read_text())
            kept["rows"] = {table["name"]: sum(table["rows"].values()) for table in manifest["tables"]}
            kept["card"] = (folder / "README.md").read_text()
            for table in ("answers", "candidates", "scores", "sources"):
                path = next(folder.rglob(f"{table}/train.jsonl"), None) or next(
                    folder.rglob(f"{table}*.jsonl"), None
                )
                kept[table] = [json.loads(line) for line in path.open()] if path else []

        options = ReleaseOptions(formats=("jsonl", "mt-metrics-eval"))
        release_now(project, options=options, accepting="Made up.", actor=self.owner, copy=look)
        return {
            **kept,
            "stages": {
                stage.slug: Claim.objects.filter(stage=stage, assignment__state="approved").count()
                for stage in Stage.objects.filter(project=project)
            },
            **found,
        }


def of_distillation(campaign: Campaign, keys: Mapping[str, str]) -> dict[str, Any]:
    """Paper 000: three stages."""
    project = applied("000", keys)
    unselected = [
        {
            **line,
            "passages": [{k: v for k, v in each.items() if k != "is_selected"} for each in line["passages"]],
        }
        for line in QUERIES[:2]
    ]
    imported(project, unselected)
    campaign.run(project, "screening", *[CAREFUL] * 3)
    campaign.run(project, "curation", CAREFUL)
    campaign.run(project, "distillation", *[CAREFUL] * 22, after=3)
    writers = Answer.objects.filter(stage__project=project).values("worker").distinct()
    return campaign.released(
        project,
        status=dict(Query.objects.filter(project=project).values_list("key", "status")),
        writers=writers.count(),
    )


def of_kpqa(campaign: Campaign, keys: Mapping[str, str]) -> dict[str, Any]:
    """Paper 002: ten judges per answer, then the z filter."""
    project = applied("002", keys)
    lines = [{**QUERIES[0], "references": QUERIES[0]["truth"]["answers"]}]
    imported(project, lines, start_at="distillation")
    responses(project, answers_to(lines, "unilm", "mhpgm"))
    stage = campaign.run(project, "judging", *[CAREFUL] * 8, *[RANDOM] * 3)
    run = filter_runs.apply(stage=stage, recipe="kpqa-2021", parameters={}, actor=campaign.owner)
    judged = Judgment.objects.filter(stage=stage).values_list("candidate", "worker")
    return campaign.released(
        project,
        judges=sorted(len({who for each, who in judged if each == one}) for one in {c for c, _ in judged}),
        filtered=_removed(run),
    )


def of_labels(campaign: Campaign, keys: Mapping[str, str]) -> dict[str, Any]:
    """Paper 003: answers with labels, then two annotators per answer of five systems' (here two)."""
    project = applied("003", keys)
    lines = [QUERIES[0], QUERIES[2], QUERIES[3]]
    imported(project, lines, start_at="distillation")
    campaign.run(project, "labels", *[CAREFUL] * 3)
    responses(project, answers_to(lines, "bidaf", "rnet"))
    stage = campaign.run(project, "scores", *[CAREFUL] * 3, after=3)
    judged = list(Judgment.objects.filter(stage=stage).values_list("candidate", flat=True))
    return campaign.released(project, judges=sorted({judged.count(each) for each in judged}))


def of_dialogues(campaign: Campaign, keys: Mapping[str, str]) -> dict[str, Any]:
    """Paper 004: continuations, then surveys of four responses per dialogue, checks and the kappa filter."""
    smaller = {
        "units_per_hit = 19 ": "units_per_hit = 4 ",
        "redundancy = 1\nunits_per_hit = 180 ": "redundancy = 2\nunits_per_hit = 4 ",
    }
    project = applied("004", keys, smaller)
    imported(project, DIALOGUES)
    campaign.run(project, "continuation", *[CAREFUL] * 3)
    responses(project, answers_to(DIALOGUES, "tfidf", "de", "hred"))
    stage = campaign.run(project, "survey", *[CAREFUL] * 4, *[REVERSED] * 4, after=3)
    reversed_ones = {account.worker_id for account in accounts(settings.TASK_URL, PEOPLE)[7:11]}
    run = filter_runs.apply(stage=stage, recipe="adem-2017", parameters={}, actor=campaign.owner)
    wrote = set(Answer.objects.filter(stage__project=project).values_list("query", "worker"))
    judged = set(Judgment.objects.filter(stage=stage).values_list("candidate__query", "worker"))
    judging = set(Judgment.objects.filter(stage=stage).values_list("worker__external_id", flat=True))
    removed = set(run.verdicts.filter(removes=True).values_list("worker__external_id", flat=True))
    return campaign.released(
        project,
        turns=len(Query.objects.get(project=project, key="d0").context),
        judged_own=[list(each) for each in wrote & judged],
        per_survey=sorted({len(row) for row in _responses(stage)}),
        writers=len({worker for _, worker in wrote}),
        judges=len({worker for _, worker in judged}),
        removed=sorted(removed - reversed_ones),
        kept_reversed=sorted((judging & reversed_ones) - removed),
        filtered=_removed(run),
        recipe=run.parameters,
    )


def _responses(stage: Stage) -> list[Mapping[str, Any]]:
    good = Assignment.objects.filter(stage=stage, state__in=Assignment.GOOD)
    return list(good.values_list("response", flat=True))


def _removed(run: FilterRun) -> dict[str, int]:
    rules = run.verdicts.filter(removes=True, judgment__isnull=False).values_list("rule", flat=True)
    return {rule: list(rules).count(rule) for rule in sorted(set(rules))}


def main() -> None:
    """All papers, one after the other."""
    requester, key = create_requester(name="Reading lab", fee_profile="none-1")
    deposit(requester=requester, cents=10_000_000)
    keys = {"LOCAL_ACCESS_KEY": key.access_key, "LOCAL_SECRET": key.secret}
    campaign = Campaign(User.objects.create_superuser("ada"))
    found: dict[str, Any] = {
        "000": of_distillation(campaign, keys),
        "002": of_kpqa(campaign, keys),
        "003": of_labels(campaign, keys),
        "004": of_dialogues(campaign, keys),
    }
    sys.stdout.write(json.dumps({**found, "troubles": campaign.troubles}))


if __name__ == "__main__":
    main()
