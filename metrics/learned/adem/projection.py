"""Principal components of vectors (Pearson 1901; Lowe et al. 2017, section 5.1)."""

from dataclasses import dataclass

import numpy as np

from metrics.base import Floats
from metrics.errors import MetricError


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """`mean` (width) and the first components (n, width), the one of most variance first.

    `shares` (n) of the variance lie along each. The first m of them are the components of m dimensions.
    """

    mean: Floats
    components: Floats
    shares: Floats

    @classmethod
    def of(cls, vectors: Floats, n: int) -> "Projection":
        """The first `n` components of some vectors; fewer where the vectors have fewer."""
        mean = vectors.mean(0)
        _, lengths, directions = np.linalg.svd(vectors - mean, full_matrices=False)
        variances = lengths**2
        whole = variances.sum()
        if whole <= 0:
            raise MetricError("All texts have the same vector; nothing can be learned from them.")
        rank = int(np.count_nonzero(lengths > lengths[0] * max(vectors.shape) * np.finfo(np.float64).eps))
        kept = directions[: min(n, rank)]
        largest = np.abs(kept).argmax(1)
        signs = np.sign(kept[np.arange(len(kept)), largest])
        return cls(mean, kept * signs[:, None], variances[: len(kept)] / whole)

    def __call__(self, vectors: Floats, n: int | None = None) -> Floats:
        """Vectors (v, width) along the first `n` components (v, n)."""
        found: Floats = (vectors - self.mean) @ self.components[:n].T
        return found
