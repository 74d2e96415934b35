"""Single answers for the plots: all of them, or a sample that does not depend on the order of the rows."""

import hashlib
import heapq
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import count
from typing import IO

from core.files.atomic import Write
from evaluations.table_evaluation import EvaluationResult

#: As many points as a page needs; more cannot be told apart on it.
MOST = 3000


@dataclass(frozen=True, slots=True)
class Points:
    """n answers: human score, scores of metrics, system and type of question; None where one is missing.

    `systems` and `types` may be empty. `of` is the number of answers that these were drawn from.
    """

    human: Sequence[float | None]
    metrics: Mapping[str, Sequence[float | None]]
    systems: Sequence[str] = ()
    types: Sequence[str] = ()
    of: int = 0

    def __len__(self) -> int:
        return len(self.human)

    @property
    def all(self) -> int:
        """How many answers there are."""
        return max(self.of, len(self))

    def pairs(self, metric: str) -> list[tuple[float, float]]:
        """(metric, human) of the answers that have both."""
        both = zip(self.metrics.get(metric, ()), self.human, strict=False)
        return [(a, b) for a, b in both if a is not None and b is not None]


NONE = Points((), {})


@dataclass(eq=False)
class Sample:
    """Takes answers one after another and keeps at most `most`, the same ones in whatever order.

    Kept are the answers whose hash under the seed is lowest, so memory does not grow with the file.
    """

    metrics: Sequence[str]
    seed: int = 0
    most: int = MOST
    _kept: list[tuple[int, int, list[float | None], str, str]] = field(default_factory=list, repr=False)
    _seen: "count[int]" = field(default_factory=count, repr=False)
    _n: int = 0

    def add(
        self,
        key: str,
        human: float | None,
        values: Sequence[float | None],
        *,
        system: str = "",
        type: str = "",
    ) -> None:
        """Look at an answer; `values` are parallel to `metrics`, `key` says which answer it is.

        An answer without a human score is not kept: no plot can show it.
        """
        scores = [_finite(human), *map(_finite, values)]
        if scores[0] is None:
            return
        self._n += 1
        text = json.dumps([self.seed, key, system, type, scores])
        rank = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
        entry = (-rank, next(self._seen), scores, system, type)
        if len(self._kept) < self.most:
            heapq.heappush(self._kept, entry)
        else:
            heapq.heappushpop(self._kept, entry)

    def points(self) -> Points:
        """What was kept, in an order that does not depend on that of the file."""
        rows = sorted(self._kept, key=lambda each: (-each[0], str(each[2]), each[3], each[4]))
        return Points(
            human=[row[2][0] for row in rows],
            metrics={name: [row[2][at] for row in rows] for at, name in enumerate(self.metrics, start=1)},
            systems=[row[3] for row in rows],
            types=[row[4] for row in rows],
            of=self._n,
        )


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


FILE = "points.json"


def points_of(done: EvaluationResult, seed: int) -> Points:
    """A sample of answers that does not depend on the order of the rows."""
    judged = done.judged
    names = sorted(judged.metrics)
    sample = Sample(names, seed=seed)
    columns = [judged.metrics[name].tolist() for name in names]
    questions, systems = judged.questions.tolist(), judged.systems.tolist()
    for row, human in enumerate(judged.human.tolist()):
        question = questions[row]
        sample.add(
            judged.question_names[question],
            human,
            [column[row] for column in columns],
            system=judged.system_names[systems[row]],
            type=judged.types[question] if judged.types else "",
        )
    return sample.points()


def points_file(points: Points) -> Write:
    """Write what the scatter plots draw, as JSON."""

    def write(file: IO[bytes]) -> None:
        file.write(json.dumps(asdict(points), ensure_ascii=False, allow_nan=False).encode())

    return write


def points_in(file: IO[bytes]) -> Points:
    """Points from a file; none where it is not one."""
    try:
        return Points(**json.load(file))
    except (TypeError, ValueError):
        return NONE
