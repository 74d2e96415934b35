"""Which of two metrics agrees better with people: the test of Williams, and how many items it needs.

Both metrics score the same items, so their correlations with the human scores depend on each other. Test:
Williams, JRSS B 21 (1959), in the form of Steiger, Psychological Bulletin 87 (1980), formula 7; for metrics
first used by Graham & Baldwin (EMNLP 2014).
"""

from dataclasses import dataclass
from math import copysign, inf, sqrt

from metrics.agreement.figure import Figure
from metrics.agreement.planning import MOST_ITEMS, TOO_MANY

LEAST_ITEMS = 4
FEW_ITEMS = "not defined: fewer than four items"
IMPOSSIBLE = "not defined: three correlations like these cannot occur together"
SAME_METRIC = "not defined: the two metrics score all items alike"
SAME_CORRELATION = "not defined: both metrics correlate with people alike, there is nothing to find"


@dataclass(frozen=True, slots=True)
class Three:
    """Pearson correlations: people with metric a, people with metric b, the metrics with each other."""

    human_a: float
    human_b: float
    between: float

    @property
    def determinant(self) -> float:
        """Of the 3 x 3 correlation matrix; below zero no data can have these correlations."""
        a, b, c = self.human_a, self.human_b, self.between
        return 1 - a * a - b * b - c * c + 2 * a * b * c


@dataclass(frozen=True, slots=True)
class Williams:
    """Statistic t with `df` degrees of freedom, and its two-sided probability."""

    t: float
    df: int
    p: float


def williams(three: Three, n: int) -> Williams | Figure:
    """Test on n items that both metrics correlate equally with people."""
    from scipy.special import stdtr  # noqa: PLC0415 - only tests and planning need scipy

    reason = _reason(three, n)
    if reason:
        return Figure(None, reason)
    t = _statistic(three, n)
    return Williams(t, n - 3, 2 * float(stdtr(n - 3, -abs(t))))


def power_for_metrics(three: Three, n: int, *, level: float = 0.05) -> Figure:
    """Chance that n items show which metric is better if the true correlations are these.

    Near enough: the statistic is taken as normal around its value at the true correlations. The correlations
    must be those with the human scores of the study, not with endless raters: see `attenuated`.
    """
    from scipy.special import ndtr, stdtrit  # noqa: PLC0415 - only tests and planning need scipy

    reason = _reason(three, n)
    if reason:
        return Figure(None, reason)
    critical = float(stdtrit(n - 3, 1 - level / 2))
    shift = abs(_statistic(three, n))
    return Figure(float(ndtr(shift - critical) + ndtr(-shift - critical)))


def items_for_metrics(three: Three, *, power: float = 0.8, level: float = 0.05) -> Figure:
    """The fewest items with this power (a whole number)."""
    reason = _reason(three, LEAST_ITEMS)
    if not reason and three.human_a == three.human_b:
        reason = SAME_CORRELATION
    if reason:
        return Figure(None, reason)

    def enough(n: int) -> bool:
        found = power_for_metrics(three, n, level=level).value
        return found is not None and found >= power

    low, high = LEAST_ITEMS - 1, LEAST_ITEMS
    while not enough(high):
        low, high = high, high * 2
        if low > MOST_ITEMS:
            return Figure(None, TOO_MANY)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return Figure(float(high))


def attenuated(correlation: float, reliability: float) -> float:
    """The correlation that a metric shows with human scores of this reliability (Spearman 1904).

    `correlation` is the one with scores of endless raters.
    """
    return correlation * sqrt(reliability)


def _statistic(three: Three, n: int) -> float:
    a, b, c = three.human_a, three.human_b, three.between
    if a == b:
        return 0.0
    mean = (a + b) / 2
    below = 2 * (n - 1) / (n - 3) * max(three.determinant, 0.0) + mean * mean * (1 - c) ** 3
    return (a - b) * sqrt((n - 1) * (1 + c) / below) if below > 0 else copysign(inf, a - b)


def _reason(three: Three, n: int) -> str:
    if n < LEAST_ITEMS:
        return FEW_ITEMS
    if max(abs(three.human_a), abs(three.human_b), abs(three.between)) > 1 or three.determinant < -1e-12:
        return IMPOSSIBLE
    return SAME_METRIC if three.between == 1 else ""
