"""What apps add to a project's overview: steps of the funnel, and sentences about what needs somebody.

`crowd` knows no queries and no judgments. The extension of an app above says where to ask:

    OverviewSource("judgments", judged, position=20)

`judged(project, entered)` gives what the app has to say now; `entered` is how many came through the last
step of the apps before it (None: there is none). It is asked once for a page.
"""

from collections.abc import Callable
from dataclasses import dataclass

from core.extensions import parts_of
from core.projects.models import Project


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
