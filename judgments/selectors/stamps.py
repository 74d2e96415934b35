"""What a stage's judgments are at a moment, in a few numbers under which derived figures are cached."""

from dataclasses import dataclass

from django.db.models import Count, Max, Sum

from crowd.counted_work import not_counting
from crowd.models import Assignment, Stage
from crowd.selectors.stage_sizes import stage_figures
from judgments.models import FilterRun, Judgment


@dataclass(frozen=True, slots=True)
class Stamp:
    """Two equal stamps mean the same judgments that count and the same filters.

    `last` is the key of the newest judgment, `count` how many there are, whether they count or not; `spoilt`
    and `spoilt_sum` tell which assignments do not count; `run` is the filter run in force, 0 for none, and
    `remade` how often it was made again.
    """

    last: int
    count: int
    spoilt: int
    spoilt_sum: int
    run: int
    remade: int = 0

    def __str__(self) -> str:
        return f"{self.last}-{self.count}-{self.spoilt}-{self.spoilt_sum}-{self.run}{self.again}"

    @property
    def again(self) -> str:
        """Words that tell a run that was made again from what it was before."""
        return f" again {self.remade}" if self.remade else ""


def stamp_for_pages(stage: Stage) -> Stamp:
    """The stamp as pages need it: of a large stage some seconds old, but always with the run in force."""

    def key() -> str:
        run, remade = _in_force(stage)
        return f"judgments-stamp:{stage.pk}:{run}-{remade}"

    return stage_figures(stage, key, lambda: stamp_of(stage))


def _in_force(stage: Stage) -> tuple[int, int]:
    """The key of the filter run in force, 0 for none, and how often it was made again."""
    runs = FilterRun.objects.in_force().filter(stage=stage)
    run, remade = runs.values_list("pk", "summary__remade").first() or (0, 0)
    return run, remade or 0


def stamp_of(stage: Stage) -> Stamp:
    """The stamp of a stage's judgments now, in three questions that indexes answer."""
    judged = Judgment.objects.filter(stage=stage).aggregate(last=Max("pk"), count=Count("pk"))
    spoilt = Assignment.objects.filter(not_counting(), stage=stage).aggregate(
        count=Count("pk"), sum=Sum("pk")
    )
    run, remade = _in_force(stage)
    return Stamp(
        last=judged["last"] or 0,
        count=judged["count"],
        spoilt=spoilt["count"],
        spoilt_sum=spoilt["sum"] or 0,
        run=run,
        remade=remade,
    )
