"""What apps add to a project's overview: steps of the funnel, and sentences about what needs somebody.

`crowd` knows no queries and no judgments. The extension of an app above says where to ask:

    OverviewSource("judgments", judged, position=20)

`judged(project, entered)` gives what the app has to say now; `entered` is how many came through the last
step of the apps before it (None: there is none). It is asked once for a page.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.utils import timezone

from core.extensions import parts_of
from core.notices.conditions import everything_now
from core.notices.models import Notice
from core.projects.models import Project
from crowd.models import Assignment
from web.cache import cached, is_large_table


@dataclass(frozen=True, slots=True)
class Attention:
    """Something that somebody should look at: "now" or "soon", a sentence, and where it is mended."""

    level: str
    sentence: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class Count:
    """Some of those that entered a step; `name` is one of NAMES and gives its colour and column.

    `words` follow the number: "5 tied". `address` lists them; empty where there is no such list.
    """

    name: str
    words: str
    count: int
    address: str = ""


#: What becomes of those that enter a step, in the order of the bar: came through, waits for people, waits for
#: a researcher, out, taken out.
NAMES = ("passed", "waiting", "undecided", "out", "withdrawn")


@dataclass(frozen=True, slots=True)
class Link:
    """Words and where they lead."""

    words: str
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
    steps: list[Step] = []
    attention: list[Attention] = []
    teach, teach_link = "", None
    for source in sorted(parts_of(OverviewSource), key=lambda each: each.position):
        own = source.say(project, steps[-1].passed.count if steps else None)
        steps += own.steps
        attention += own.attention
        teach, teach_link = teach or own.teach, teach_link or own.teach_link
    attention.sort(key=lambda each: each.level != "now")
    return OverviewPart(tuple(steps), tuple(attention), teach, teach_link)


# What needs somebody by the rules of notices, for a project's overview.

_LEVELS: dict[str, str] = {Notice.Level.ALARM: "now", Notice.Level.WARNING: "soon"}


def say(project: Project, _: int | None) -> OverviewPart:
    """Alarms and warnings of this project as they are now; news are in the list of notices.

    The rules look at all projects at once. Where that takes long, what they found is cached for a while.
    """
    now = timezone.now()
    large = is_large_table(Assignment)
    found = cached("conditions-now", now, lambda: everything_now(now), large=large)
    return OverviewPart(
        attention=tuple(
            Attention(_LEVELS[each.level], each.sentence, each.address)
            for each in found
            if each.project == project.pk and each.level in _LEVELS
        )
    )


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


def drawn(steps: Sequence[Step]) -> list[FunnelRow]:
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
