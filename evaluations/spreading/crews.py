"""Scoring chunks of answers as parts: what `metrics.parallel` does with processes, with Celery workers."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from evaluations.spreading.part_runner import PartRunner, others
from metrics.base import Metric
from metrics.parallel import Crew, Part, ProcessMetrics
from metrics.texts import Answers

#: Chunks that wait for each worker, so that none is idle while results are put together.
_AHEAD = 3


@dataclass(frozen=True, slots=True, eq=False)
class SharedCrew:
    """A crew of this job and its helpers. Few chunks are under way at a time, however many there are."""

    spread: PartRunner
    here: ProcessMetrics

    def survey(self, chunks: Iterable[Answers]) -> Iterator[list[object]]:
        """For each chunk what each metric's survey finds in it."""
        return self.spread.over(self.here.survey_one, chunks, ahead=_ahead())

    def score(self, chunks: Iterable[Answers]) -> Iterator[list[Part]]:
        """For each chunk what each metric says of it."""
        return self.spread.over(self.here.score_one, chunks, ahead=_ahead())


@dataclass(frozen=True, slots=True, eq=False)
class Crews:
    """Makes the crew for metrics and what their surveys found."""

    spread: PartRunner

    def __call__(self, metrics: Sequence[Metric], found: Sequence[object]) -> AbstractContextManager[Crew]:
        """The crew."""
        return nullcontext(SharedCrew(self.spread, ProcessMetrics(metrics, found)))


def _ahead() -> int:
    return _AHEAD * (others() + 1)
