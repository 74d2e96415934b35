"""Metrics that need a trained model: what `distributions/learned` adds to the catalogue.

It is found by its entry point, because processes that score, and `metrics` alone, have no Django. Without it
`LearnedMetrics` takes its place, which names each metric and says what to install.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, NoReturn

from metrics.errors import MetricError
from metrics.model_folders import Choice
from metrics.profiles import Profile

if TYPE_CHECKING:
    from metrics.texts import Floats, Metric

GROUP = "distillery.metrics"
PACKAGE, INSTALL = "distillery-learned", "pip install ./distributions/learned"
_SHORT = 12


@dataclass(frozen=True, slots=True)
class EncoderFolder:
    """An encoder's folder, its name as it was given, layers, and digest of its files (64 hex digits)."""

    folder: str
    name: str
    layers: int
    digest: str

    @property
    def signature(self) -> str:
        """As it is in the signature of every score."""
        return f"{self.name}-{self.digest[:_SHORT]}"

    def layer(self, number: int | None) -> int:
        """The layer that is asked for, the last one for None; MetricError where there is none such."""
        if number is None:
            return self.layers
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= self.layers:
            raise MetricError(
                f"The encoder {self.name} has no layer {number}; it has 0 (embeddings) to {self.layers}."
            )
        return number


class LearnedMetrics:
    """What the package provides; here without it."""

    def missing(self) -> str:
        """Why learned metrics cannot be trained or scored here, in words; empty if they can."""
        return f"{PACKAGE} is not installed: {INSTALL}"

    def make(self, name: str, profile: Profile) -> "Metric":
        """The metric of that name; one that cannot be scored says why (`lacks`)."""
        from metrics.texts import Metric  # numpy, only where metrics are made

        return Metric(name, name, name, self._measure, lacks=self.missing())

    def find_encoder(self, name: str) -> EncoderFolder:
        """The encoder in a folder or of a name on this machine; MetricError where there is none."""
        raise MetricError(f"The encoder {name} cannot be used: {self.missing()}.")

    def fetch_encoder(self, name: str) -> None:
        """Download an encoder by its name; MetricError where it cannot be had."""
        self.find_encoder(name)

    def weigh(self, model: Choice, pairs: Sequence[tuple[str, str]], cache: str) -> "list[Floats]":
        """The weight of each word of each answer to its question, by a KPQA model."""
        raise MetricError(f"Words cannot be weighed: {self.missing()}.")

    def _measure(self, *_: object) -> NoReturn:
        raise MetricError(f"It cannot be scored: {self.missing()}.")


@cache
def learned_metrics() -> LearnedMetrics:
    """Those of the package, or the place that it leaves."""
    return next((point.load()() for point in entry_points(group=GROUP)), LearnedMetrics())


def make(name: str, profile: Profile) -> "Metric":
    """The metric of that name, for the catalogue."""
    return learned_metrics().make(name, profile)
