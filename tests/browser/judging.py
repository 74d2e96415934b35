"""A researcher's side of judging: systems' answers come in, a stage opens, judgments are read.

`COMMANDS` inside, `Judgers` outside, as in `tests.browser.campaign`.
"""

from typing import Any

from tests.browser.campaign import Campaign, end_stages, new_endpoint, tick_thrice


class Judgers(Campaign):
    """Projects with answers to judge on a running server."""

    module = "tests.browser.judging"

    def stage(self, queries: list[dict[str, Any]], **fields: Any) -> str:
        """Open a judging stage about these queries and their answers; the title that workers read."""
        title: str = self.ask("stage", url=self._server.url, queries=queries, **fields)
        return title

    def judged(self, title: str) -> dict[str, list[Any]]:
        """What came of it: `judgments` as [query, system, score, aspects], `checks` as [source, passed]."""
        found: dict[str, list[Any]] = self.ask("judged", title=title)
        return found

    def answered(self, title: str) -> list[list[Any]]:
        """What came of a questionnaire, as [key of the unit, values, flipped]."""
        rows: list[list[Any]] = self.ask("answered", title=title)
        return rows

    def trial(self, title: str) -> str:
        """The address at which members try its task."""
        address: str = self.ask("trial", title=title)
        return address

    def measured(self, owner: str) -> dict[str, str]:
        """A stage with judgments, filters in force and a report; the addresses of its pages by name."""
        pages: dict[str, str] = self.ask("measured", owner=owner)
        return pages


def _stage(*, url: str, queries: list[dict[str, Any]], **fields: Any) -> str:
    from core.projects.models import Project
    from core.projects.services import create_project
    from crowd.models import Stage
    from crowd.services.stages import create_stage, open_stage
    from tests.judgments.judging_world import make_candidate, make_query

    number = Project.objects.count() + 1
    project = create_project(slug=f"judging-{number}", title="Judging", budget_cents=50_000)
    for position, each in enumerate(queries):
        query = make_query(
            project,
            each["query"],
            tuple(each["references"]),
            passages=tuple(each["passages"]),
            context=each.get("context", []),
            key=f"query-{position}",
        )
        for system, text in each["answers"].items():
            make_candidate(query, system, text)
    title = f"Judging {Stage.objects.count() + 1}"
    stage = create_stage(
        project=project,
        slug="judging",
        title=title,
        endpoint=new_endpoint(url),
        task_title=title,
        task_description="Read everything, then say how correct the answer is.",
        reward_cents=5,
        budget_cents=10_000,
        **({"kind": "judging", "redundancy": 1} | fields),
    )
    open_stage(stage=stage)
    tick_thrice()
    return title


def _judged(*, title: str) -> dict[str, list[Any]]:
    from judgments.models import CheckAnswer, Judgment
    from judgments.selectors.ratings import scale_of

    judgments = Judgment.objects.filter(stage__title=title).order_by("candidate")
    answers = CheckAnswer.objects.filter(check_item__stage__title=title).order_by("check_item__key")
    return {
        "judgments": [
            [
                row.candidate.query.key,
                row.candidate.system.name,
                scale_of(row.stage).number(row.score),
                row.aspects,
            ]
            for row in judgments.select_related("stage", "candidate__query", "candidate__system")
        ],
        "checks": [list(row) for row in answers.values_list("check_item__source", "passed")],
    }


def _answered(*, title: str) -> list[list[Any]]:
    from judgments.models import UnitResponse

    rows = UnitResponse.objects.filter(stage__title=title).order_by("unit__key")
    return [list(row) for row in rows.values_list("unit__key", "values", "flipped")]


def _trial(*, title: str) -> str:
    from django.urls import reverse

    from crowd.models import Stage

    stage = Stage.objects.select_related("project").get(title=title)
    return reverse("desk:try", args=[stage.project.slug, stage.slug])


def _measured(*, owner: str) -> dict[str, str]:
    from django.contrib.auth.models import User
    from django.urls import reverse

    from judgments.services import filter_runs, reports
    from tests.judgments.desk_world import check, judge, make_place, worker_of

    place = make_place()
    scores = {"A1": 5, "A2": 4, "A3": 2, "A4": 1}
    rows = [
        (f"q{query}/{system}", worker, max(1, (score + query) % 6))
        for query in range(12)
        for system in ("unilm", "mhpgm")
        for worker, score in scores.items()
    ]
    judge(place, rows)
    for worker, passed in {"A1": 4, "A2": 3, "A3": 1}.items():
        check(place, worker, [True] * passed + [False] * (4 - passed))
    actor = User.objects.get(username=owner)
    filter_runs.apply(stage=place.stage, recipe="default", parameters={}, actor=actor)
    reports.keep(reports.make(place.stage, lambda *_: None))
    fixed = {"project": place.project.slug, "stage": place.stage.slug}
    names = ("agreement", "filters", "scores", "judges", "planning")
    pages = {name: reverse(f"judgments:{name}", kwargs=fixed) for name in names}
    pages["preview"] = pages["filters"] + "?recipe=kpqa-2021&look=1&rules=z"
    pages["judge"] = reverse("judgments:judge", kwargs=fixed | {"pk": worker_of(place, "A1").pk})
    pages["systems"] = reverse("judgments:systems", args=[place.project.slug])
    system, candidate = place.systems["unilm"].pk, place.candidates["q1/unilm"].pk
    pages["system"] = reverse("judgments:system", args=[place.project.slug, system])
    pages["answer"] = reverse("judgments:candidate", args=[place.project.slug, candidate])
    pages["import"] = reverse("judgments:import_new", args=[place.project.slug])
    return pages


COMMANDS = {
    "end_stages": end_stages,
    "stage": _stage,
    "judged": _judged,
    "answered": _answered,
    "trial": _trial,
    "measured": _measured,
    "tick": tick_thrice,
}
