"""A researcher's side of judging: systems' answers come in, a stage opens, judgments are read.

`python -m tests.browser.judging` inside, `Judgers` outside, as in `tests.browser.campaign`.
"""

from typing import Any

from tests.browser.campaign import Campaign, new_endpoint, tick_thrice
from tests.inside import serve


class Judgers(Campaign):
    """Projects with answers to judge on a running server; a context manager."""

    module = "tests.browser.judging"

    def stage(self, queries: list[dict[str, Any]], **fields: Any) -> str:
        """Open a judging stage about these queries and their answers; the title that workers read."""
        title: str = self.ask("stage", url=self._server.url, queries=queries, **fields)
        return title

    def judged(self, title: str) -> dict[str, list[Any]]:
        """What came of it: `judgments` as [query, system, score, aspects], `checks` as [source, passed]."""
        found: dict[str, list[Any]] = self.ask("judged", title=title)
        return found


def _stage(*, url: str, queries: list[dict[str, Any]], **fields: Any) -> str:
    from crowd.models import Stage
    from crowd.services.stages import create_stage, open_stage
    from projects.models import Project
    from projects.services import create_project
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

    judgments = Judgment.objects.filter(stage__title=title).order_by("candidate")
    answers = CheckAnswer.objects.filter(check_item__stage__title=title).order_by("check_item__key")
    return {
        "judgments": [
            list(row)
            for row in judgments.values_list(
                "candidate__query__key", "candidate__system__name", "score", "aspects"
            )
        ],
        "checks": [list(row) for row in answers.values_list("check_item__source", "passed")],
    }


if __name__ == "__main__":
    serve({"stage": _stage, "judged": _judged, "tick": tick_thrice})
