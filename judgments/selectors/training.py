"""How people did in a training."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from crowd.counted_work import counting
from crowd.models import Assignment, Stage


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """One worker: how many examples they did, and at how many their first choice was right."""

    worker: int
    done: int
    right_at_first: int


def trained(stage: Stage) -> Iterator[TrainingResult]:
    """Everybody whose work in this stage counts, by their keys; in one statement."""
    found: dict[int, dict[str, bool]] = defaultdict(dict)
    rows = Assignment.objects.filter(counting(), stage=stage, response__isnull=False)
    for worker, response in rows.order_by("worker", "pk").values_list("worker", "response").iterator(1000):
        for unit, said in (response or {}).items():
            found[worker].setdefault(unit, bool(said["right_at_first"]))
    for worker, lessons in found.items():
        yield TrainingResult(worker, len(lessons), sum(lessons.values()))
