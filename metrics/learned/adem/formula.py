"""ADEM's score, its loss and the gradient of it, and the projection of its vectors
(Lowe et al. 2017, equations 1 and 2, section 5.1).

    score = (c' M a + r' N a - alpha) / beta         c context, r reference, a response
    loss  = mean of (score - human)^2 + penalty (sum of |M| + sum of |N|)

C-ADEM has no N, R-ADEM no M. Of several references the one with the highest r' N a counts, as with our other
metrics; the paper has one. The paper prints a sum over examples, which would make the penalty mean less the
more examples there are; we take the mean of a batch. alpha and beta are set before training, such that the
examples span a scale while M and N are the identity, and never change.
"""

from dataclasses import dataclass, replace

import numpy as np

from metrics.base import Floats
from metrics.errors import MetricError
from metrics.texts import Places


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """k examples along n components.

    `references` is (k, R, n): an example with fewer than R references repeats its first, which changes no
    maximum. What a form has no use for may be of any value.
    """

    contexts: Floats
    references: Floats
    responses: Floats

    def __len__(self) -> int:
        return len(self.responses)

    def rows(self, which: Places) -> "Terms":
        """Some of the examples."""
        return Terms(self.contexts[which], self.references[which], self.responses[which])

    def along(self, n: int) -> "Terms":
        """The same along the first `n` components alone."""
        return Terms(self.contexts[:, :n], self.references[:, :, :n], self.responses[:, :n])


@dataclass(frozen=True, slots=True, eq=False)
class Parameters:
    """M and N (n, n), None where the form has none, and what brings products to the scale."""

    m: Floats | None
    n: Floats | None
    alpha: float = 0.0
    beta: float = 1.0

    @property
    def size(self) -> int:
        """Number of components."""
        some = self.m if self.m is not None else self.n
        return 0 if some is None else len(some)

    @property
    def norm(self) -> float:
        """L1 norm of what is learned."""
        return sum(float(np.abs(matrix).sum()) for matrix in (self.m, self.n) if matrix is not None)

    def before(self) -> "Parameters":
        """As it was before training: both matrices the identity."""
        identity = np.eye(self.size)
        return replace(
            self, m=None if self.m is None else identity, n=None if self.n is None else identity.copy()
        )


def started(terms: Terms, *, context: bool, reference: bool, scale: tuple[float, float]) -> Parameters:
    """Identities, with alpha and beta such that the scores of these examples span the scale."""
    n = terms.responses.shape[1]
    plain = Parameters(np.eye(n) if context else None, np.eye(n) if reference else None)
    products, _ = _products(plain, terms)
    least, most = float(products.min()), float(products.max())
    if not most > least:
        raise MetricError("All examples are equally alike; ADEM cannot learn to tell them apart.")
    beta = (most - least) / (scale[1] - scale[0])
    return replace(plain, alpha=least - scale[0] * beta, beta=beta)


def scores(parameters: Parameters, terms: Terms) -> Floats:
    """ADEM's score of each example (k)."""
    return (_products(parameters, terms)[0] - parameters.alpha) / parameters.beta


def loss(parameters: Parameters, terms: Terms, human: Floats, penalty: float) -> float:
    """Mean squared error, and the penalty."""
    error = scores(parameters, terms) - human
    return float((error**2).mean()) + penalty * parameters.norm


def gradient(
    parameters: Parameters, terms: Terms, human: Floats, penalty: float
) -> tuple[Floats | None, Floats | None]:
    """Of the loss, by M and by N; the penalty of an entry that is 0 pulls it nowhere."""
    products, counted = _products(parameters, terms)
    error = (products - parameters.alpha) / parameters.beta - human
    pull = (2 / (parameters.beta * len(terms)) * error)[:, None] * terms.responses
    by_m = by_n = None
    if parameters.m is not None:
        by_m = terms.contexts.T @ pull + penalty * np.sign(parameters.m)
    if parameters.n is not None:
        by_n = counted.T @ pull + penalty * np.sign(parameters.n)
    return by_m, by_n


def _products(parameters: Parameters, terms: Terms) -> tuple[Floats, Floats]:
    """c' M a + r' N a of each example (k), and the reference that counts (k, n)."""
    found = np.zeros(len(terms))
    counted = terms.references[:, 0]
    if parameters.m is not None:
        found += ((terms.responses @ parameters.m.T) * terms.contexts).sum(1)
    if parameters.n is not None:
        images = terms.responses @ parameters.n.T
        if terms.references.shape[1] == 1:
            found += (images * counted).sum(1)
        else:
            each = (terms.references * images[:, None]).sum(2)
            best = each.argmax(1)
            rows = np.arange(len(terms))
            found += each[rows, best]
            counted = terms.references[rows, best]
    return found, counted


# Principal components of vectors (Pearson 1901; Lowe et al. 2017, section 5.1).


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
