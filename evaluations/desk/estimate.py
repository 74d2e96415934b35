"""About how long an evaluation takes, so that nobody waits for it in front of the page."""

from dataclasses import dataclass

#: From two evaluations on one slow core, 1,000 answers under 5 metrics (3.3 s) and 5,000 under 20 (26.5 s),
#: `benchmarks/metrics.py`, and for answers that a model reads `benchmarks/learned.py`; rounded to the slow
#: side. The start is mostly the plots of the page.
_SCORED_PER_SECOND = 10_000
#: Answers with their references that a model reads, and seconds until it is loaded.
_READ_PER_SECOND, _LOADED = 100, 10.0
_SECONDS_PER_DRAW = 1e-9
_SECONDS_PER_REPLICATE = 2.5e-7
_START = 8.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seconds on one core, in words."""

    seconds: float

    @property
    def words(self) -> str:
        """Rounded, for people."""
        if self.seconds < 15:
            return "some seconds"
        if self.seconds < 90:
            return "about a minute"
        if self.seconds < 5_400:
            return f"about {round(self.seconds / 60)} minutes"
        return f"about {round(self.seconds / 3_600)} hours"


def estimate(*, answers: int, metrics: int, replicates: int, draws: int, models: int = 0) -> Estimate:
    """Of metrics over answers with human scores, their intervals, and tests of every pair of metrics.

    `models` read every answer with its references.
    """
    pairs = metrics * (metrics - 1) / 2
    scoring = answers * metrics / _SCORED_PER_SECOND
    intervals = answers * metrics * replicates * _SECONDS_PER_REPLICATE
    tests = answers * pairs * draws * _SECONDS_PER_DRAW
    reading = models * (_LOADED + answers / _READ_PER_SECOND)
    return Estimate(_START + scoring + reading + intervals + tests)
