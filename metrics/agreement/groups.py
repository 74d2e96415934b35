"""Rows in groups, all groups at once."""

import numpy as np
import numpy.typing as npt


def stable_order(codes: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """The rows in the order of their codes (0 to 2^31 - 1), rows with the same code in their own order.

    Sorts the codes with their row numbers below them: several times as fast as numpy's stable argsort.
    """
    keys = codes.astype(np.int64)
    keys <<= 32
    keys |= np.arange(len(keys))
    keys.sort()
    keys &= (1 << 32) - 1
    return keys


def codes_in_use(codes: npt.NDArray[np.integer], size: int) -> tuple[npt.NDArray[np.int32], int]:
    """Codes from 0 to size - 1 as codes of those alone that are among them, in the same order; how many.

    As `np.unique` with its inverse, without sorting.
    """
    used = np.zeros(size, dtype=np.bool_)
    used[codes] = True
    places = np.cumsum(used, dtype=np.int32)
    places -= 1
    return places[codes], int(np.count_nonzero(used))


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
