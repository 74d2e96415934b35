"""What a rule says about each worker: removed, or not decided, on what value and from how much evidence."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metrics.agreement.ratings import Mask


@dataclass(frozen=True, slots=True, eq=False)
class Verdicts:
    """One rule's verdict on every worker; arrays of length n_workers, in the order of their codes.

    `removed` and `undetermined` never both hold: an undetermined worker stays and is flagged. `value` is what
    the rule looked at (nan: there is none), `n` how much evidence it had. `words` is the reason in words, a
    format with `value` and `n`.
    """

    rule: str
    removed: Mask
    undetermined: Mask
    value: npt.NDArray[np.float64]
    n: npt.NDArray[np.int64]
    words: str
    words_undetermined: str = ""

    def reason(self, worker: int) -> str:
        """Why this worker is removed or undetermined; empty for the others."""
        if self.removed[worker]:
            return self._filled(self.words, worker)
        return self._filled(self.words_undetermined, worker) if self.undetermined[worker] else ""

    def _filled(self, words: str, worker: int) -> str:
        return words.format(value=float(self.value[worker]), n=int(self.n[worker]))
