"""True labels of items and confusions of workers: EM of Dawid & Skene (Applied Statistics 28, 1979).

For stages whose answers are categories. For scores 1-5 it is the wrong tool: it looks for a class that is
either right or wrong, and to it 4 is as far from 5 as 1 is.

Why not crowd-kit: for this one algorithm its package brings transformers, nltk, scikit-learn and pyarrow. A
few arrays give the same posteriors; a test holds them to those of crowd-kit 1.4.2 (same start from the shares
of votes, same rule to stop). One difference: crowd-kit's bound counts the prior once per rating, ours once
per item.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metrics.agreement.data import Floats, Ratings

_LEAST = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """What the EM found; column k stands for the score `scale.low + k`.

    `posterior`: items x labels, the chance of each label; nan for an item without ratings. `confusion`:
    workers x true label x given label, 0 for labels that the worker never gave. `priors`: share of each
    label.
    """

    posterior: Floats
    confusion: Floats
    priors: Floats
    rounds: int
    settled: bool

    @property
    def best(self) -> npt.NDArray[np.int64]:
        """Column of each item's likeliest label (of equals the lowest); -1 for items without ratings."""
        known = ~np.isnan(self.posterior).any(axis=1)
        best = np.full(len(self.posterior), -1, dtype=np.int64)
        best[known] = self.posterior[known].argmax(axis=1)
        return best


def dawid_skene(ratings: Ratings, *, most_rounds: int = 100, tolerance: float = 1e-5) -> Labels:
    """Labels of all items and confusions of all workers.

    It stops when the evidence lower bound, divided by the number of ratings, gains less than `tolerance`.
    """
    model = _Model(ratings)
    posterior = model.vote_shares()
    priors, confusion = model.maximise(posterior)
    bound, settled, rounds = -np.inf, not len(ratings), 0
    while not settled and rounds < most_rounds:
        rounds += 1
        posterior = model.expect(priors, confusion)
        priors, confusion = model.maximise(posterior)
        before, bound = bound, model.bound(posterior, priors, confusion) / len(ratings)
        settled = bool(bound - before < tolerance)
    return Labels(posterior, confusion, priors, rounds, settled)


class _Model:
    """Ratings as a sparse matrix, items x cells, a cell being one label of one worker."""

    def __init__(self, ratings: Ratings) -> None:
        from scipy.sparse import csr_array

        self.size = ratings.scale.size
        self.workers = ratings.n_workers
        labels = ratings.scores.astype(np.int64) - ratings.scale.low
        cells = ratings.workers.astype(np.int64) * self.size + labels
        shape = (ratings.n_items, self.workers * self.size)
        self.met = csr_array((np.ones(len(ratings)), (ratings.items, cells)), shape=shape)
        self.met_by = self.met.T.tocsr()
        self.rated = self.met.sum(axis=1) > 0
        self.given = (self.met.sum(axis=0) > 0)[:, None]

    def vote_shares(self) -> Floats:
        """Share of an item's ratings that have each label."""
        votes = self.met @ np.tile(np.eye(self.size), (self.workers, 1))
        return self._only_rated(votes / np.maximum(votes.sum(axis=1, keepdims=True), 1))

    def maximise(self, posterior: Floats) -> tuple[Floats, Floats]:
        """Priors and confusions from the labels."""
        known = posterior[self.rated]
        priors = known.mean(axis=0) if len(known) else np.full(self.size, np.nan)
        counts = np.maximum(self.met_by @ np.nan_to_num(posterior), _LEAST)
        counts = np.where(self.given, counts, 0.0).reshape(-1, self.size, self.size).transpose(0, 2, 1)
        return priors, counts / np.maximum(counts.sum(axis=2, keepdims=True), _LEAST)

    def expect(self, priors: Floats, confusion: Floats) -> Floats:
        """Labels from priors and confusions."""
        logs = self._logs(priors, confusion)
        chances = np.exp(logs - logs.max(axis=1, keepdims=True))
        return self._only_rated(chances / chances.sum(axis=1, keepdims=True))

    def bound(self, posterior: Floats, priors: Floats, confusion: Floats) -> float:
        """Evidence lower bound: expected log likelihood and the entropy of the labels."""
        known = posterior[self.rated]
        logs = self._logs(priors, confusion)[self.rated]
        return float((known * (logs - np.log(np.maximum(known, _LEAST)))).sum())

    def _logs(self, priors: Floats, confusion: Floats) -> Floats:
        """Of prior times likelihood, items x labels."""
        by_cell = confusion.transpose(0, 2, 1).reshape(-1, self.size)
        logs = np.log(np.where(self.given, by_cell, 1.0))
        total: Floats = np.log(np.maximum(priors, _LEAST)) + self.met @ logs
        return total

    def _only_rated(self, values: Floats) -> Floats:
        return np.where(self.rated[:, None], values, np.nan)
