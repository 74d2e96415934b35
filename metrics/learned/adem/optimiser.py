"""Adam on ADEM's loss, and when to stop (Kingma and Ba 2015; Lowe et al. 2017, section 5.1)."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from metrics.base import Floats
from metrics.learned.adem.formula import Parameters, Terms, gradient, loss, scores
from metrics.learned.adem.settings import ERROR, Settings
from metrics.metaeval.correlation import column_correlation
from metrics.texts import Places

_KEPT, _KEPT_SQUARES, _TINY = 0.9, 0.999, 1e-8


@dataclass(frozen=True, slots=True)
class Epoch:
    """After an epoch; number 0 is before training.

    `train` is the loss with its penalty, `validation` the mean squared error alone. A correlation is None
    where all scores of validation are the same.
    """

    number: int
    train: float
    validation: float
    pearson: float | None
    spearman: float | None

    def worth(self, judge: str) -> float:
        """The more the better, to one who judges by the error or by Pearson's correlation."""
        if judge == ERROR:
            return -self.validation
        return -math.inf if self.pearson is None else self.pearson

    def as_json(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "epoch": self.number,
            "train": self.train,
            "validation": self.validation,
            "pearson": self.pearson,
            "spearman": self.spearman,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Examples with people's scores."""

    terms: Terms
    human: Floats


@dataclass(frozen=True, slots=True, eq=False)
class BestEpoch:
    """The parameters of the epoch that was best on validation, the first of equals."""

    parameters: Parameters
    history: tuple[Epoch, ...]
    best: int


class Adam:
    """Steps of Adam for one matrix, with its usual constants."""

    def __init__(self, rate: float) -> None:
        self._rate, self._steps = rate, 0
        self._mean: Floats | float = 0.0
        self._square: Floats | float = 0.0

    def step(self, matrix: Floats | None, slope: Floats | None) -> Floats | None:
        """The matrix one step down; a matrix that a form has not stays away."""
        if matrix is None or slope is None:
            return None
        self._steps += 1
        self._mean = _KEPT * self._mean + (1 - _KEPT) * slope
        self._square = _KEPT_SQUARES * self._square + (1 - _KEPT_SQUARES) * slope**2
        mean = self._mean / (1 - _KEPT**self._steps)
        square = self._square / (1 - _KEPT_SQUARES**self._steps)
        found: Floats = matrix - self._rate * mean / (np.sqrt(square) + _TINY)
        return found


def learn(
    start: Parameters,
    train: Part,
    validation: Part,
    *,
    penalty: float,
    rate: float,
    settings: Settings,
    rows: Places,
) -> BestEpoch:
    """Train from `start` on these rows of `train` (one may stand there more than once)."""
    chance = np.random.default_rng((settings.seed, 1))
    of_m, of_n = Adam(rate), Adam(rate)
    known = Part(train.terms.rows(rows), train.human[rows])
    now = best = start
    history = [_epoch(0, now, known, validation, penalty)]
    found = 0
    for number in range(1, settings.epochs + 1):
        order = chance.permutation(len(rows))
        for begin in range(0, len(order), settings.batch):
            some = order[begin : begin + settings.batch]
            by_m, by_n = gradient(now, known.terms.rows(some), known.human[some], penalty)
            now = replace(now, m=of_m.step(now.m, by_m), n=of_n.step(now.n, by_n))
        history.append(_epoch(number, now, known, validation, penalty))
        if history[-1].worth(settings.judge) > history[found].worth(settings.judge):
            best, found = now, number
        elif number - found >= settings.patience:
            break
    return BestEpoch(best, tuple(history), found)


def _epoch(number: int, now: Parameters, train: Part, validation: Part, penalty: float) -> Epoch:
    guess = scores(now, validation.terms)
    return Epoch(
        number,
        loss(now, train.terms, train.human, penalty),
        float(((guess - validation.human) ** 2).mean()),
        _known(column_correlation(guess, validation.human, "pearson")),
        _known(column_correlation(guess, validation.human, "spearman")),
    )


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
