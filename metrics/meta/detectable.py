"""The smallest true difference between two metrics that a test of this size would find.

"No significant difference" says little without it: with 100 answers a difference of .1 between two
correlations is mostly missed. Where the difference is about normal with standard error SE,

    mdd = (z(1 - level / 2) + z(power)) SE,

with level .05 and power .8: 2.80 SE. SE is what the test itself works with: for Williams' test the standard
error of the difference of two dependent correlations (Williams 1959; Steiger 1980, formula 7), for a
permutation test the spread of the differences over its draws, for the bootstrap that over its samples.
"""

from statistics import NormalDist

from metrics.figure import Figure

LEVEL = 0.05
POWER = 0.8
UNKNOWN = "the spread of the difference is not known"
NONE = "no draw changes the difference"


def detectable(error: float | None, *, level: float = LEVEL, power: float = POWER) -> Figure:
    """The minimal detectable difference for a standard error; none where that is not known or 0."""
    if error is None:
        return Figure(None, UNKNOWN)
    if error <= 0:
        return Figure(None, NONE)
    normal = NormalDist()
    return Figure((normal.inv_cdf(1 - level / 2) + normal.inv_cdf(power)) * error)
