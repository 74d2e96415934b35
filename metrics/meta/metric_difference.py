"""What a test of "is metric A better than metric B?" says."""

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from metrics.meta.rows import Grouping
from metrics.meta.statistics import AnyStatistic

Method = Literal["perm_inputs", "perm_both", "perm_systems", "williams", "bootstrap"]
METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """Statistic of `a` - statistic of `b` over the n answers that have both scores, and its two-sided
    p-value.

    `null_sd` is the standard deviation of the difference under the hypothesis that there is none (its root
    mean square over the draws), from which a minimal detectable difference follows; for the bootstrap it is
    the standard error. `p` is None, with a reason, where one of the two statistics is not defined.
    """

    a: str
    b: str
    statistic: AnyStatistic
    grouping: Grouping
    method: Method
    delta: float | None
    p: float | None
    n: int
    null_sd: float | None = None
    p_holm: float | None = None
    reason: str = ""

    def corrected(self, p_holm: float | None) -> "MetricDifference":
        """The same with the p-value after Holm's correction."""
        return replace(self, p_holm=p_holm)

    def as_json(self) -> dict[str, Any]:
        """As JSON has it."""
        said: dict[str, Any] = {
            "a": self.a,
            "b": self.b,
            "statistic": self.statistic,
            "grouping": self.grouping,
            "method": self.method,
            "delta": self.delta,
            "p": self.p,
            "p_holm": self.p_holm,
            "n": self.n,
        }
        if self.p is None:
            said["reason"] = self.reason
        return said
