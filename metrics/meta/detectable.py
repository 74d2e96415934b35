"""The smallest true difference between two metrics that a test of this size would find.

"No significant difference" says little without it: with 100 answers a difference of .1 between two
correlations is mostly missed. Where the test statistic is about normal with standard error SE,

    mdd = (z(1 - level / 2) + z(power)) * SE,

with level .05 and power .8: 2.80 SE. SE comes from Williams' test for two dependent correlations (Williams
1959; Steiger 1980, formula 7), or is the standard deviation of the permuted differences.
"""

import math
from statistics import NormalDist

from metrics.meta.figure import Figure

LEVEL = 0.05
POWER = 0.8


def detectable(error: float, *, level: float = LEVEL, power: float = POWER) -> Figure:
    """The minimal detectable difference for a standard error; none where there is no standard error."""
    if math.isnan(error):
        return Figure(None, "the spread of the difference is not known")
    normal = NormalDist()
    return Figure((normal.inv_cdf(1 - level / 2) + normal.inv_cdf(power)) * error)


def williams_error(a: float, b: float, between: float, n: int) -> float:
    """Standard error of the difference of two correlations a and b with the same third thing.

    `between` is the correlation of the two with each other, all over the same n answers; Williams' t is
    (a - b) / this, with n - 3 degrees of freedom. nan for n < 4 or if the two are one.
    """
    if n < 4 or abs(between) >= 1:
        return math.nan
    determinant = 1 - a * a - b * b - between * between + 2 * a * b * between
    mean = (a + b) / 2
    spread = 2 * (n - 1) / (n - 3) * determinant + mean * mean * (1 - between) ** 3
    return math.sqrt(max(spread, 0.0) / ((n - 1) * (1 + between)))
