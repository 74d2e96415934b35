"""Ratings of a stage as columns with the keys behind their codes, whatever was rated."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crowd.models import Worker

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from metrics.agreement.data import Codes, Ratings

    Keys = npt.NDArray[np.integer]

_CHUNK = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class StageRatings:
    """A stage's good judgments in the order of submission, and what belongs to their rows and codes.

    `judgments` are keys and `of_assignment` codes, one per row of `ratings`; `candidates`, `workers` and
    `assignments` are the keys behind the codes. `item_names` of `ratings` are units, `worker_names` ids at
    the marketplace. Assignments are there where they were asked for.
    """

    ratings: "Ratings"
    judgments: "Keys"
    candidates: "Keys"
    workers: "Keys"
    assignments: "Keys | None" = None
    of_assignment: "Codes | None" = None

    @property
    def last(self) -> int:
        """Key of the newest judgment, 0 for none."""
        return int(self.judgments.max()) if len(self.judgments) else 0


def names_of(workers: Sequence[int]) -> list[str]:
    """The ids of workers at their marketplace."""
    worker_names: dict[int, str] = {}
    for chunk in chunks_of(workers):
        worker_names.update(Worker.objects.filter(pk__in=chunk).values_list("pk", "external_id"))
    return [worker_names[worker] for worker in workers]


def chunks_of(keys: Iterable[int]) -> Iterator[list[int]]:
    """Keys, few enough at a time for one statement."""
    key_list = list(keys)
    for start in range(0, len(key_list), _CHUNK):
        yield key_list[start : start + _CHUNK]
