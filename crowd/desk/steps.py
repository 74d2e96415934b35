"""The next steps of a new project, which tick themselves off; they leave the overview once all are done.

Each is a part of its app's extension:

    Step("queries", "Import queries", "…", "annotation:import_new", done=…, wanted=…, position=20)
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from core.extensions import parts_of
from core.projects.models import Membership, Project
from crowd.models import Stage


def _always(_: Project, __: frozenset[str]) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do: where, whether it is done, and whether a project with these kinds of stages wants it.

    `needed`: the list stays until it is done.
    """

    name: str
    label: str
    what: str
    url_name: str
    done: Callable[[Project], bool]
    position: int
    wanted: Callable[[Project, frozenset[str]], bool] = _always
    needed: bool = True


@dataclass(frozen=True, slots=True)
class StepView:
    """A step as the page draws it."""

    step: Step
    done: bool
    address: str


def section(project: Project) -> Mapping[str, Any] | None:
    """Context of `desk/next_steps.html`; None for a project that does its work."""
    if project.read_only:
        return None
    rows = Stage.objects.filter(project=project).order_by("pk")
    stages = list(rows.values_list("slug", "kind", "opened_at"))
    if any(opened_at for _, _, opened_at in stages):
        return None
    kinds = frozenset(kind for _, kind, _ in stages)
    shown = [
        StepView(step, step.done(project), reverse(step.url_name, args=[project.slug]))
        for step in sorted(parts_of(Step), key=lambda step: step.position)
        if step.wanted(project, kinds)
    ]
    if stages:
        first = [project.slug, stages[0][0]]
        shown.extend(StepView(step, False, reverse(step.url_name, args=first)) for step in (_TRY, _OPEN))
    return {"steps": shown, "following": next((each for each in shown if not each.done), None)}


_TRY = Step(
    "try",
    "Try the first task",
    "The worker's page with your own queries, wide and on a phone. Nothing is stored.",
    "desk:try",
    done=lambda _: False,
    position=85,
    needed=False,
)
_OPEN = Step(
    "open",
    "Open the first stage",
    "Look at what it costs and what an hour pays, try the task yourself, then open it.",
    "desk:opening",
    done=lambda _: False,
    position=90,
)
#: A stage to begin with, and people.
STEPS = (
    Step(
        "stage",
        "Make a stage",
        "A stage asks people one kind of thing. It begins as a draft.",
        "desk:new_stage",
        done=lambda project: Stage.objects.filter(project=project).exists(),
        position=10,
    ),
    Step(
        "members",
        "Invite members",
        "Viewers look, managers review work, owners also spend. You can do it later, too.",
        "desk:members",
        done=lambda project: Membership.objects.filter(project=project).count() > 1,
        position=80,
        needed=False,
    ),
)
