"""Statistics of groups of numbers, all groups at once."""

import numpy as np
import numpy.typing as npt


def medians(
    groups: npt.NDArray[np.integer], values: npt.NDArray[np.floating], size: int
) -> npt.NDArray[np.float64]:
    """The median of the values of each group 0 … size - 1, nan for a group without values."""
    n = np.bincount(groups, minlength=size)
    ordered = values[np.lexsort((values, groups))]
    first = np.cumsum(n) - n
    found = np.full(size, np.nan)
    some = n > 0
    low, high = first + (n - 1) // 2, first + n // 2
    found[some] = (ordered[low[some]] + ordered[high[some]]) / 2
    return found
