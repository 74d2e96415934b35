"""Attention checks: who failed too many of the items whose answer is known.

Whether a response to a check is accepted is decided where the check is defined; here only outcomes count.
"""

import numpy as np
import numpy.typing as npt

from metrics.agreement.ratings import Codes
from metrics.agreement.verdicts import Verdicts

RULE = "attention checks"


def check_verdicts(
    workers: Codes,
    presented: npt.ArrayLike,
    failed: npt.ArrayLike,
    *,
    n_workers: int | None = None,
    failures: int = 2,
    least: int = 4,
) -> Verdicts:
    """Removes a worker with at least `failures` failed checks when at least `least` were presented.

    The three columns have a row per worker, or several that are added up: also one per check that was
    presented, with presented 1 and failed 0 or 1. A check left unanswered was presented and is not failed.
    With fewer presented than `least` a worker is undetermined and stays, whatever they failed: a rule of any
    failure loses 11.5 % of honest workers at a lapse rate of 3 %. That rule is ADEM's (Lowe et al. 2017,
    "any failure"): `failures=1, least=1`.
    """
    size = n_workers if n_workers is not None else (int(workers.max()) + 1 if len(workers) else 0)
    shown, wrong = _added(workers, presented, size), _added(workers, failed, size)
    if (wrong > shown).any() or (wrong < 0).any():
        raise ValueError("a worker cannot have failed more attention checks than were presented")
    enough = shown >= least
    return Verdicts(
        rule=RULE,
        removed=enough & (wrong >= failures),
        undetermined=~enough,
        value=wrong.astype(np.float64),
        n=shown,
        words="failed {value:.0f} of {n} attention checks",
        words_undetermined=f"was shown {{n}} attention checks; a decision needs {least}",
    )


def _added(workers: Codes, numbers: npt.ArrayLike, size: int) -> npt.NDArray[np.int64]:
    column = np.asarray(numbers, dtype=np.float64)
    if column.shape != workers.shape:
        raise ValueError("there must be as many numbers as workers")
    return np.rint(np.bincount(workers, weights=column, minlength=size)).astype(np.int64)
