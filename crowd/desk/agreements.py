"""Agreement over a project: one row per stage, from the apps that know how their people can agree.

Each is a part of its app's extension:

    Source(("judging",), rows_of)

`rows_of(stages, quick)` gives the rows of these stages by key. With `quick` it works nothing out: it gives
what is stored or was worked out before, and leaves out the rest.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.extensions import parts_of
from core.projects.models import Project
from crowd.models import Stage
from metrics.agreement.quotes import counted

#: Krippendorff's lowest limit for tentative conclusions (Content Analysis, 2004, chapter 11): alpha of 0.667.
TARGET = 2 / 3
#: Below so many items nothing is said to be below the target.
ENOUGH = 20


@dataclass(frozen=True, slots=True)
class SourceAgreement:
    """Agreement among the people of one of several sources of a stage, before filters; None with a reason."""

    source: str
    ratings: int
    workers: int
    alpha: float | None
    low: float | None
    high: float | None
    reason: str = ""

    @property
    def words(self) -> str:
        """In one line, for a file: `links 0.52 (0.40 to 0.61), 120 judgments by 14 judges`."""
        if self.alpha is None:
            found = f"none ({self.reason})"
        elif self.low is None or self.high is None:
            found = f"{self.alpha:.2f}"
        else:
            found = f"{self.alpha:.2f} ({self.low:.2f} to {self.high:.2f})"
        judgments, judges = counted(self.ratings, "judgment"), counted(self.workers, "judge")
        return f"{self.source} {found}, {judgments} by {judges}"


@dataclass(frozen=True, slots=True)
class Row:
    """Agreement in a stage: before anything was filtered, and after; None where it is not defined or known.

    `low` and `high` are the 95 % interval of the last of the two that is there. `items` is what it rests on,
    `of` says of what ("queries", "answers"). `note` says why a number is missing. `address` leads to the
    stage's report.
    """

    measure: str
    before: float | None
    after: float | None
    low: float | None
    high: float | None
    items: int
    of: str
    address: str
    note: str = ""
    signature: str = ""
    target: float = TARGET
    sources: tuple[SourceAgreement, ...] = ()

    @property
    def by_source(self) -> str:
        """All sources in one cell; empty where the stage has one."""
        return "; ".join(each.words for each in self.sources)

    @property
    def now(self) -> float | None:
        """After filters, or before where there are none."""
        return self.before if self.after is None else self.after

    @property
    def below(self) -> bool:
        """Under the target, and on enough items to say so."""
        return self.now is not None and self.now < self.target and self.items >= ENOUGH


Rows = Callable[[Sequence[Stage], bool], Mapping[int, Row]]


@dataclass(frozen=True, slots=True)
class Source:
    """The kinds of stages that an app has rows for, and where to ask for them."""

    kinds: tuple[str, ...]
    rows: Rows


def rows(stages: Sequence[Stage], *, quick: bool = False) -> dict[int, Row]:
    """Rows of these stages by their keys; stages of kinds that nobody has rows for are left out."""
    found: dict[int, Row] = {}
    for source in parts_of(Source):
        mine = [stage for stage in stages if stage.kind in source.kinds]
        if mine:
            found |= source.rows(mine, quick)
    return found


def of_project(project: Project, *, quick: bool = False) -> list[tuple[Stage, Row | None]]:
    """All stages of a project in the order in which they were made, each with its row."""
    stages = list(Stage.objects.filter(project=project).select_related("project").order_by("pk"))
    known = rows(stages, quick=quick)
    return [(stage, known.get(stage.pk)) for stage in stages]
