"""What it costs when two raters disagree: the weights of weighted kappa (Cohen 1968)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metrics.agreement.counts import Floats

Weights = str | npt.ArrayLike

# A chance cost per rating below this is none: sums of fractions may leave 1e-17 of it.
NOTHING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Cost:
    """Weights of disagreement, shape (V, V), and the same as a product of two factors.

    apart[a, b] is the sum over r of given[a, r] and marks[r, b]; the first row of `marks` is ones. So marks,
    added up over a reference, say what any score costs against it. Quadratic weights need two beside the
    ones, others one for each score but the lowest.
    """

    apart: Floats
    given: Floats
    marks: Floats


def disagreement(weights: Weights, size: int) -> Floats:
    """Weights of disagreement, shape (size, size): by name (unweighted, linear, quadratic) or a matrix."""
    x = np.arange(size, dtype=np.float64)
    apart = np.abs(x[:, None] - x[None, :])
    if isinstance(weights, str):
        named = {"unweighted": np.minimum(apart, 1), "linear": apart, "quadratic": np.square(apart)}
        if weights not in named:
            raise ValueError(f"no weights of kappa: {weights}")
        return named[weights]
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (size, size) or np.diag(given).any() or (given < 0).any():
        raise ValueError(f"weights must be {size} x {size}, not negative, and 0 on the diagonal")
    return given


def cost_of(weights: Weights, size: int) -> Cost:
    """The weights with their factors."""
    apart = disagreement(weights, size)
    x = np.arange(size, dtype=np.float64)
    if isinstance(weights, str) and weights == "quadratic":
        return Cost(
            apart, np.stack([x * x, -2 * x, np.ones(size)], axis=1), np.stack([np.ones(size), x, x * x])
        )
    marks = np.vstack([np.ones(size), np.eye(size)[1:]])
    return Cost(apart, np.hstack([apart[:, :1], apart[:, 1:] - apart[:, :1]]), marks)
