"""A researcher's side of the annotation app: queries come in, stages open, rounds run.

`COMMANDS` inside, `Annotating` outside, as in `tests.browser.campaign`.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from tests.browser.campaign import Campaign, end_stages, new_endpoint, run_jobs, tick_thrice


class Annotating(Campaign):
    """Projects of queries on a running server."""

    module = "tests.browser.annotating"

    def project(self, *queries: dict[str, Any], start_at: str = "screening", rules: bool = True) -> str:
        """Import these lines of a query log, if any, into a new project; its short name."""
        slug: str = self.ask("project", queries=queries, start_at=start_at, rules=rules)
        return slug

    def stage(self, project: str, kind: str, **fields: Any) -> str:
        """Open a stage of this kind and offer its HITs; the title that workers read."""
        title: str = self.ask("stage", url=self._server.url, project=project, kind=kind, **fields)
        return title

    def queries(self, project: str) -> dict[str, dict[str, Any]]:
        """What became of the project's queries, by their ids."""
        found: dict[str, dict[str, Any]] = self.ask("queries", project=project)
        return found

    def answered(self, query: str, passages: list[str], answers: list[str]) -> dict[str, str]:
        """A project in the middle of its work with these texts everywhere.

        What is returned has the project's `name` and the addresses of its desk pages.
        """
        pages: dict[str, str] = self.ask(
            "answered", url=self._server.url, query=query, passages=passages, answers=answers
        )
        return pages

    def waiting(self, queries: int, answers: int) -> str:
        """A project in which so many answers to each of so many queries wait for a reviewer; its name."""
        slug: str = self.ask("waiting", url=self._server.url, queries=queries, answers=answers)
        return slug

    def rewrite_path(self, text: str) -> str:
        """The page on which the author of this answer writes it again."""
        path: str = self.ask("rewrite_path", text=text)
        return path


def _project(*, queries: list[dict[str, Any]], start_at: str, rules: bool) -> str:
    from annotation.importing.selection import LONGEST, RULES
    from annotation.services.importing import Options, import_queries
    from core.projects.models import Project
    from core.projects.services import create_project

    number = Project.objects.count() + 1
    project = create_project(slug=f"distilling-{number}", title="Distilling", budget_cents=50_000)
    options = Options(
        start_at=start_at, without=() if rules else tuple(RULES), longest=LONGEST if rules else 100_000
    )
    if not queries:
        return str(project.slug)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.jsonl"
        log.write_text("".join(json.dumps(line) + "\n" for line in queries))
        report = import_queries(project=project, path=log, options=options)
    assert report["stored"] == len(queries), report
    return str(project.slug)


def _stage(*, url: str, project: str, kind: str, **fields: Any) -> str:
    from core.projects.models import Project
    from crowd.models import Stage
    from crowd.services.stages import create_stage, open_stage

    title = f"{kind.title()} {Stage.objects.count() + 1}"
    earlier = Stage.objects.filter(project__slug=project).select_related("endpoint").first()
    stage = create_stage(
        project=Project.objects.get(slug=project),
        slug=kind,
        title=title,
        kind=kind,
        endpoint=earlier.endpoint if earlier else new_endpoint(url),
        task_title=title,
        task_description="Read everything before you answer.",
        reward_cents=5,
        budget_cents=10_000,
        **({"redundancy": 1} | fields),
    )
    open_stage(stage=stage)
    tick_thrice()
    return title


def _queries(*, project: str) -> dict[str, dict[str, Any]]:
    from annotation.models import PassageSelection, Query

    return {
        query.key: {
            "status": query.status,
            "votes": [vote.intent for vote in query.screening_votes.all()],
            "selections": [
                {"passages": each.passages, "conflicts": each.conflicts}
                for each in PassageSelection.objects.filter(query=query)
            ],
            "answers": [
                {
                    "text": answer.text,
                    "opinion": answer.opinion,
                    "state": answer.state,
                    "reasons": [review.reason for review in answer.reviews.all() if review.reason],
                    "worker": answer.worker.external_id,
                    "telemetry": answer.assignment.telemetry,
                    "flags": list(answer.flags.values_list("name", flat=True)),
                }
                for answer in query.answers.select_related("worker", "assignment").order_by("pk")
            ],
        }
        for query in Query.objects.filter(project__slug=project)
    }


def _waiting(*, url: str, queries: int, answers: int) -> str:
    from annotation.models import Query
    from annotation.services.query_answers import record_answer
    from core.projects.models import Project
    from crowd.kinds import kind_of
    from crowd.models import Hit, Stage
    from tests.annotation import world
    from tests.taskpage.world import make_stage

    topics = ("harbour", "market", "bridge", "station", "library", "museum", "castle", "garden")
    passage = "It lies in the north of the town, where the river meets the sea, and has been there for long."
    lines = [
        {
            "id": f"q{number}",
            "query": f"where is the {topics[number % len(topics)]} of town {number}",
            "passages": [{"id": "p1", "text": passage, "title": "The town", "is_selected": 1}],
        }
        for number in range(queries)
    ]
    slug = _project(queries=lines, start_at="distillation", rules=False)
    project = Project.objects.get(slug=slug)
    stage = make_stage(
        "distillation",
        project=project,
        endpoint=new_endpoint(url),
        kind="distillation",
        title="Distillation",
        config={},
        redundancy=answers,
        approve_at_once=False,
    )
    rows = list(Query.objects.filter(project=project).order_by("pk"))
    telemetry = {"active_ms": 40_000, "keystrokes": 90}
    for row in rows:
        for text in ("North.", "By the sea.", "At the mouth of the river.", "Up there.", "Where it was.")[
            :answers
        ]:
            work = world.make_work(stage, f"A{row.key}{text[:2]}".upper(), telemetry=telemetry)
            record_answer(assignment=work, query=row.pk, response={"text": text})
    kind_of(stage).settle(stage)
    # Nothing of this is at a marketplace; a later round has nothing to ask about it.
    Hit.objects.filter(stage=stage).update(state=Hit.State.CLOSED)
    Stage.objects.filter(pk=stage.pk).update(status=Stage.Status.CLOSED)
    return slug


def _rewrite_path(*, text: str) -> str:
    from django.urls import reverse

    from annotation.models import Answer
    from annotation.services import query_answers

    answer = Answer.objects.filter(text=text, state=Answer.State.REWRITE).latest("pk")
    return reverse("rewriting:rewrite", args=[query_answers.write_rewrite_token(answer.pk)])


def _answered(*, url: str, query: str, passages: list[str], answers: list[str]) -> dict[str, str]:
    from django.urls import reverse

    from annotation.models import Query
    from annotation.services.query_answers import record_answer
    from core.projects.models import Project
    from crowd.kinds import kind_of
    from crowd.models import Assignment, Hit, Stage
    from tests.annotation import world
    from tests.taskpage.world import make_stage

    slug = _project(
        queries=[
            {
                "id": name,
                "query": f"{query} {name}",
                "type": "LOCATION",
                "passages": [
                    {"id": f"p{rank}", "text": text, "title": text} for rank, text in enumerate(passages, 1)
                ],
            }
            for name in ("tied", "disputed", "answered", "also-answered")
        ],
        start_at="screening",
        rules=False,
    )
    project = Project.objects.get(slug=slug)
    rows = {row.key: row for row in Query.objects.filter(project=project)}
    screening, curation, distillation = (
        make_stage(
            kind,
            project=project,
            endpoint=new_endpoint(url),
            kind=kind,
            title=kind.title(),
            config=config,
            redundancy=count,
        )
        for kind, config, count in (
            ("screening", {}, 2),
            ("curation", {"merging": "exact", "highlights": True}, 2),
            ("distillation", {}, len(answers)),
        )
    )
    for row in rows.values():
        world.vote(screening, row)
        world.vote(screening, row, adult=False, answerable=row.key != "tied")
    kind_of(screening).settle(screening)
    for key in ("disputed", "answered", "also-answered"):
        world.select(curation, rows[key], "p1", highlights=[{"passage": "p1", "start": 0, "end": 4}])
        second = ["p2"] if key == "disputed" else ["p1"]
        conflict = {"a": "p1", "b": "p2", "trusted": "p1"}
        world.select(curation, rows[key], *second, conflicts=[conflict])
    world.select(curation, rows["disputed"])
    kind_of(curation).settle(curation)
    telemetry = {"active_ms": 4000, "keystrokes": 30, "pastes": 1, "pasted_characters": 90}
    for number, text in enumerate(answers):
        work = world.make_work(distillation, f"AWRITER{number}", telemetry=telemetry)
        entities = [{"start": 0, "end": len(text), "text": text}]
        for key in ("answered", "also-answered"):
            response = {"text": text, "entities": entities}
            record_answer(assignment=work, query=rows[key].pk, response=response)
    kind_of(distillation).settle(distillation)
    # Nothing of this is at a marketplace; a later round has nothing to ask about it.
    Assignment.objects.filter(stage__project=project).update(state=Assignment.State.APPROVED)
    Hit.objects.filter(stage__project=project).update(state=Hit.State.CLOSED)
    Stage.objects.filter(project=project).update(status=Stage.Status.CLOSED)
    in_project = {
        "project": "desk:project",
        "queries": "annotation:queries",
        "import": "annotation:import_new",
        "adjudication": "annotation:adjudication",
    }
    about = {"tied query": "tied", "disputed query": "disputed", "answered query": "answered"}
    of_stage = {
        "agreement of screening": ("annotation:agreement", screening),
        "agreement of curation": ("annotation:agreement", curation),
        "answers": ("annotation:answers", distillation),
        "writers": ("annotation:answer_writers", distillation),
        "spread": ("annotation:spread_of_answers", distillation),
    }
    answered = rows["answered"].pk
    writer = rows["answered"].answers.first().worker_id
    return {
        "name": slug,
        **{name: reverse(view, args=[slug]) for name, view in in_project.items()},
        **{name: reverse("annotation:query", args=[slug, rows[key].pk]) for name, key in about.items()},
        **{
            f"case of the {key}": reverse("annotation:case", args=[slug, rows[key].pk])
            for key in ("tied", "disputed")
        },
        **{name: reverse(view, args=[slug, stage.slug]) for name, (view, stage) in of_stage.items()},
        "metrics": reverse("evaluations:query", args=[slug, answered]),
        "review": reverse("annotation:answers_of_query", args=[slug, distillation.slug, answered]),
        "writer": reverse("annotation:answers_of_worker", args=[slug, distillation.slug, writer]),
    }


COMMANDS = {
    "end_stages": end_stages,
    "project": _project,
    "stage": _stage,
    "tick": tick_thrice,
    "queries": _queries,
    "answered": _answered,
    "waiting": _waiting,
    "rewrite_path": _rewrite_path,
    "run_jobs": run_jobs,
}
