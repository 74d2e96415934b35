"""What apps above add to pages of the desk: steps of the funnel, what needs a person, sections, first steps.

`crowd` knows no queries and no judgments. The extension of an app above says where to ask:

    OverviewSource("judgments", judged, position=20)
    Section("annotation/funnel.html", funnel_of)
    FirstStep("queries", "Import queries", "…", "annotation:import_new", done=…, applies=…, position=20)

`judged(project, entered)` gives what the app has to say now; `entered` is how many came through the last
step of the apps before it (None: there is none). It is asked once for a page. First steps of a new project
tick themselves off, and leave the overview once all are done.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString

from core.extensions import parts_of
from core.money import format_amount
from core.notices.conditions import everything_now
from core.notices.models import Notice
from core.projects.models import Membership, Project
from crowd.models import Endpoint, Stage, Worker
from crowd.selectors.known_people import list_cautions
from crowd.selectors.queues import waiting
from people.models import StudyLink


@dataclass(frozen=True, slots=True)
class Attention:
    """Something that somebody should look at: "now", "soon" or STOPPED, a sentence, where it is mended."""

    level: str
    sentence: str
    address: str = ""


#: The level of what keeps a stage from its end.
STOPPED = "cannot finish"


@dataclass(frozen=True, slots=True)
class Count:
    """Some of those that entered a step; `name` is one of NAMES and gives its colour and column.

    `label` follows the number: "5 tied". `address` lists them; empty where there is no such list.
    """

    name: str
    label: str
    count: int
    address: str = ""


#: What becomes of those that enter a step, in the order of the bar: came through, waits for people, waits for
#: a researcher, out, taken out.
NAMES = ("passed", "waiting", "undecided", "out", "withdrawn")


@dataclass(frozen=True, slots=True)
class Link:
    """Words and where they lead."""

    label: str
    address: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step: how many entered, and what became of them. `counts` begin with those that came through."""

    label: str
    entered: int
    counts: tuple[Count, ...]
    note: str = ""
    link: Link | None = None

    @property
    def passed(self) -> Count:
        """Those that came through."""
        return self.counts[0]


@dataclass(frozen=True, slots=True)
class OverviewPart:
    """What an app says of a project. `teach` is shown where the funnel would be while there are no steps."""

    steps: tuple[Step, ...] = ()
    attention: tuple[Attention, ...] = ()
    teach: str = ""
    teach_link: Link | None = None


Say = Callable[[Project, int | None], OverviewPart]


@dataclass(frozen=True, slots=True)
class OverviewSource:
    """An app and where to ask it; sources are asked by their `position`."""

    name: str
    say: Say
    position: int


def compose_overview(project: Project) -> OverviewPart:
    """What all apps say of a project, put together: steps in their order, what is pressing first."""
    sources = sorted(parts_of(OverviewSource), key=lambda each: each.position)
    parts: list[OverviewPart] = []
    for source in sources:
        before = [step.passed.count for part in parts for step in part.steps]
        parts.append(source.say(project, before[-1] if before else None))
    steps = [step for part in parts for step in part.steps]
    attention = sorted(
        (each for part in parts for each in part.attention), key=lambda each: _ORDER.index(each.level)
    )
    teach = next((part.teach for part in parts if part.teach), "")
    teach_link = next((part.teach_link for part in parts if part.teach_link), None)
    return OverviewPart(tuple(steps), tuple(attention), teach, teach_link)


# What needs somebody by the rules of notices, for a project's overview.

_ORDER = (STOPPED, "now", "soon")
#: Kinds of conditions of a stage that gets no more answers until somebody does something.
_STOPPED = ("blocked", "budget_reached")
_LEVELS: dict[str, str] = {Notice.Level.ALARM: "now", Notice.Level.WARNING: "soon"}


def say(project: Project, _: int | None) -> OverviewPart:
    """Alarms and warnings of this project as they are now; news are in the list of notices."""
    return OverviewPart(
        attention=tuple(
            Attention(STOPPED if each.kind in _STOPPED else _LEVELS[each.level], each.sentence, each.address)
            for each in everything_now(timezone.now())
            if each.project == project.pk and each.level in _LEVELS
        )
    )


# Counts and states beside places of the sidebar.


def count_stages(project: Project) -> int:
    """All stages, drafts too."""
    return Stage.objects.filter(project=project).count()


def count_waiting(project: Project) -> int:
    """Decisions that wait for a person."""
    return sum(queue.count for queue in waiting(project))


def has_money(project: Project) -> bool:
    """Something may be spent here, or was."""
    return project.budget_cents > 0 or project.spent_cents > 0


def tell_spent(project: Project) -> str:
    """What was spent in all."""
    return format_amount(project.spent_cents, settings.MARKETPLACE_CURRENCY)


# The funnel of a project as it is drawn: a bar for each step, and the same as a table.

#: Heads of the table's columns, one for each of NAMES.
HEADS = ("Came through", "Waiting", "For a researcher", "Out", "Taken out")


@dataclass(frozen=True, slots=True)
class Bar:
    """A part of a step's bar: x and width of 100, which is as wide as the step that most entered."""

    name: str
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class FunnelRow:
    """A step with its bar; `cells` are its counts by NAMES, None where the step has no such part."""

    step: Step
    bars: tuple[Bar, ...]
    cells: tuple[Count | None, ...]

    @property
    def rest(self) -> list[Count]:
        """Those that did not come through, as far as there are any."""
        return [count for count in self.cells[1:] if count and count.count]


def draw_funnel(steps: Sequence[Step]) -> list[FunnelRow]:
    """All steps on one scale."""
    widest = max((step.entered for step in steps), default=0)
    return [_draw(step, 100 / widest if widest else 0.0) for step in steps]


def _draw(step: Step, scale: float) -> FunnelRow:
    by_name = {count.name: count for count in step.counts}
    bars, x = [], 0.0
    for name in NAMES:
        if name in by_name and by_name[name].count:
            width = round(by_name[name].count * scale, 3)
            bars.append(Bar(name, round(x, 3), width))
            x += width
    return FunnelRow(step, tuple(bars), tuple(by_name.get(name) for name in NAMES))


# Sections that apps add to pages


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the project's overview: a template, and its context for a project; None leaves it out."""

    template: str
    context: Callable[[Project], Mapping[str, Any] | None]


@dataclass(frozen=True, slots=True)
class WorkerSection:
    """A part of the page of a worker in a project; None as its context leaves it out."""

    template: str
    context: Callable[[Project, Worker], Mapping[str, Any] | None]


@dataclass(frozen=True, slots=True)
class SettingsSection:
    """A part of a page of settings: of a project, or with None of the user's own."""

    template: str
    context: Callable[[User, Project | None], Mapping[str, Any] | None]


def sections(project: Project) -> list[SafeString]:
    """The parts of a project's overview, rendered."""
    return _rendered(
        ((each.template, each.context(project)) for each in parts_of(Section)), {"project": project}
    )


def worker_sections(project: Project, worker: Worker) -> list[SafeString]:
    """The parts of a worker's page, rendered."""
    own = {"project": project, "worker": worker}
    return _rendered(
        ((each.template, each.context(project, worker)) for each in parts_of(WorkerSection)), own
    )


def settings_sections(user: User, project: Project | None, request: HttpRequest) -> list[SafeString]:
    """The parts of a page of settings, rendered with the request: they have forms."""
    own = {"project": project, "user": user}
    return _rendered(
        ((each.template, each.context(user, project)) for each in parts_of(SettingsSection)), own, request
    )


def _rendered(
    parts: Iterable[tuple[str, Mapping[str, Any] | None]],
    own: Mapping[str, Any],
    request: HttpRequest | None = None,
) -> list[SafeString]:
    return [
        render_to_string(template, {**own, **context}, request=request)
        for template, context in parts
        if context is not None
    ]


# First steps of a new project


def _always(_: Project, __: frozenset[str]) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class FirstStep:
    """One thing to do: where, whether it is done, and whether a project with these kinds of stages wants it.

    `done` is None where it is done once there is a stage. `needed`: the list stays until it is done.
    """

    name: str
    label: str
    what: str
    url_name: str
    done: Callable[[Project], bool] | None
    position: int
    applies: Callable[[Project, frozenset[str]], bool] = _always
    needed: bool = True


@dataclass(frozen=True, slots=True)
class StepView:
    """A step as the page draws it."""

    step: FirstStep
    done: bool
    address: str
    stage: Stage | None = None

    def waits(self) -> bool:
        """Its stage cautions about opening it now, such as judging before there are correct answers."""
        return self.stage is not None and bool(list_cautions(self.stage))


def next_steps_section(project: Project) -> Mapping[str, Any] | None:
    """Context of `desk/next_steps.html`; None for a project that does its work."""
    steps = list_next_steps(project)
    return {"steps": steps, "following": _first_needed(steps)} if steps else None


def following_step(project: Project) -> StepView | None:
    """The first thing that is still to be done; None for a project that does its work."""
    return _first_needed(list_next_steps(project))


def _first_needed(steps: Iterable[StepView]) -> StepView | None:
    """The first that nothing speaks against; else the first."""
    needed = [each for each in steps if each.step.needed and not each.done]
    return next((each for each in needed if not each.waits()), next(iter(needed), None))


def list_next_steps(project: Project) -> list[StepView]:
    """What is to be done until every stage is open and people can come; nothing from then on."""
    if project.read_only:
        return []
    rows = Stage.objects.filter(project=project).select_related("endpoint", "project")
    stages = list(rows.order_by("pk"))
    drafts = [stage for stage in stages if stage.status == Stage.Status.DRAFT]
    by_link = any(stage.endpoint.protocol == Endpoint.Protocol.LINK for stage in stages)
    linked = not by_link or StudyLink.objects.filter(project=project).exists()
    if stages and not drafts and linked:
        return []
    kinds = frozenset(stage.kind for stage in stages)
    steps = [
        StepView(
            step,
            step.done(project) if step.done else bool(stages),
            reverse(step.url_name, args=[project.slug]),
        )
        for step in sorted(parts_of(FirstStep), key=lambda step: step.position)
        if step.applies(project, kinds)
    ]
    if drafts:
        steps.append(_of_stage(_TRY, drafts[0]))
        steps.extend(_of_stage(replace(_OPEN, label=f"Open {stage.title}"), stage) for stage in drafts)
    if by_link:
        steps.append(StepView(_LINK, linked, reverse(_LINK.url_name, args=[project.slug])))
    return steps


def _of_stage(step: FirstStep, stage: Stage) -> StepView:
    return StepView(step, False, reverse(step.url_name, args=[stage.project.slug, stage.slug]), stage)


_TRY = FirstStep(
    "try",
    "Try the first task",
    "The worker's page with your own queries, wide and on a phone. Nothing is stored.",
    "desk:try",
    done=lambda _: False,
    position=85,
    needed=False,
)
_OPEN = FirstStep(
    "open",
    "Open the first stage",
    "Look at what it costs and what an hour pays, try the task yourself, then open it.",
    "desk:opening",
    done=lambda _: False,
    position=90,
)
_LINK = FirstStep(
    "link",
    "Make a study link",
    "An address that you send: who opens it reads your consent text, then gets the first task.",
    "people:new_link",
    done=lambda _: False,
    position=95,
)
#: A stage to begin with, and people.
STEPS = (
    FirstStep(
        "stage",
        "Make a stage",
        "A stage asks people one kind of thing. It begins as a draft.",
        "desk:new_stage",
        done=None,
        position=10,
    ),
    FirstStep(
        "members",
        "Invite members",
        "Viewers look, managers review work, owners also spend. You can do it later, too.",
        "desk:members",
        done=lambda project: Membership.objects.filter(project=project).count() > 1,
        position=80,
        needed=False,
    ),
)
