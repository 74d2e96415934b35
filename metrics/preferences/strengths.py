"""Strengths of systems from comparisons: the model of Bradley and Terry with ties, a side and style.

Log-strengths λ with the sum 0, side δ (above 0 favours what is shown first), effects β of style. With
η = λ_i - λ_j + δ + β·s for i shown first and j second:

- `davidson` (Davidson 1970; with a side Davidson and Beaver 1977): the three outcomes have the weights
  e^(η/2), e^(-η/2) and nu.
- `half`: a tie is half a win for either; the likelihood of a logistic regression on 1, 1/2, 0.
- `rao-kupper` (Rao and Kupper 1967): P(first) = 1/(1 + θe^-η), P(second) = 1/(1 + θe^η), θ = e^τ >= 1.
- `drop`: ties are left out.

All are concave, so that Newton's method finds the maximum where there is one. There is none where a direction
of the parameters makes no outcome that was seen less likely and one more (a linear programme finds it): then
the reason is `separated`.

What a model makes of many samples of the same comparisons is worked out for all of them at once: parameters
are (samples, parameters), counts (samples, cells, 3).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from metrics.preferences.comparisons import FIRST, SECOND, TIE, Cells, Floats

Ties = Literal["davidson", "half", "rao-kupper", "drop"]
TIES: tuple[Ties, ...] = ("davidson", "half", "rao-kupper", "drop")
NO_COMPARISONS, NOT_CONNECTED, ONLY_TIES, SEPARATED, SIDES_NOT_CROSSED = (
    "no comparisons",
    "not connected",
    "only ties",
    "separated",
    "sides not crossed",
)
#: Of the penalty on effects of style, half of this times their squares: they may go with the systems.
STYLE_RIDGE = 0.5
_GRADIENT, _STEPS, _HALVINGS = 1e-8, 200, 60
#: Log-odds beyond this may be of an estimate that does not exist: in a direction without an end they are
#: above 18 by the time the gradient is below its limit.
_SUSPICIOUS = 10.0
_NOTHING = 1e-7
#: Value, gradient and curvature (the negative Hessian) of the log-likelihood of each sample.
Derivatives = tuple[Floats, Floats, Floats]
#: Numbers of samples, cells and parameters that are worked on at once.
_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Strengths:
    """A fitted model, or `reason` why there is none; what it lacks is None.

    `strengths` are log-strengths (systems,) with the sum 0, `side` δ and `side_reason` why there is none
    though it was asked for, `nu` Davidson's nu (0 without ties) or Rao and Kupper's θ, `effects` those of
    style. Standard errors are the model's, which takes comparisons for independent: quote the bootstrap.
    `loglik` is of the real comparisons.
    """

    ties: Ties
    reason: str = ""
    strengths: Floats | None = None
    side: float | None = None
    side_reason: str = ""
    nu: float | None = None
    effects: Floats | None = None
    loglik: float | None = None
    se_strengths: Floats | None = None
    se_side: float | None = None
    se_log_nu: float | None = None

    @property
    def log_nu(self) -> float | None:
        """The logarithm of nu; None where no tie occurred."""
        return float(np.log(self.nu)) if self.nu else None

    def win_probabilities(self) -> Floats | None:
        """P(i wins against j) without a side and style, (systems, systems); nan on the diagonal."""
        if self.strengths is None:
            return None
        apart = self.strengths[:, None] - self.strengths[None, :]
        if self.ties == "davidson":
            wins = 1 / (1 + np.exp(-apart) + (self.nu or 0.0) * np.exp(-apart / 2))
        else:
            wins = 1 / (1 + (self.nu or 1.0) * np.exp(-apart))
        np.fill_diagonal(wins, np.nan)
        return wins


def fit(cells: Cells, *, ties: Ties = "davidson", side: bool = False, pseudo: float = 0.0) -> Strengths:
    """The maximum of the likelihood; `pseudo` comparisons are added to each pair of systems."""
    if not cells.counts.any():
        return Strengths(ties, NO_COMPARISONS)
    real = cells.with_counts(_prepared(cells.counts, ties))
    penalised = real.with_pseudo(pseudo)
    if reason := _why_not(penalised):
        return Strengths(ties, reason)
    counts = penalised.counts[None]
    side_reason = SIDES_NOT_CROSSED if side and not _are_crossed(penalised, counts)[0] else ""
    model = _Model(penalised, ties, side=side and not side_reason, has_ties=bool(counts[..., TIE].any()))
    parameters, curvature, _ = _maximise(model, model.start()[None], counts)
    # Without a maximum the steps go on and on, or end far away where nothing changes any more.
    if model.is_separated(penalised.counts):
        return Strengths(ties, SEPARATED, side_reason=side_reason)
    of_real = _Model(real, ties, side=model.side, has_ties=model.has_ties)
    return model.describe(parameters[0], curvature[0], of_real, real.counts, side_reason)


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """Strengths (samples, systems), sides and effects (samples, columns) of samples that have them."""

    strengths: Floats
    sides: Floats
    effects: Floats


def samples_at_once(cells: Cells) -> int:
    """How many samples of these comparisons `fit_samples` takes at a time, so that memory stays small."""
    parameters = cells.n_systems + 2 + int(cells.styles.shape[1])
    return max(1, _AT_ONCE // max(1, len(cells.counts) * parameters))


def fit_samples(cells: Cells, samples: Floats, near: Strengths, *, pseudo: float = 0.0) -> Estimates:
    """The estimates of samples (samples, cells, 3) of comparisons, of those that have one.

    `near` is the estimate of all comparisons, at which the search begins. It says what is estimated: a sample
    in which a side that it has is not crossed has no estimate.
    """
    counts = _prepared(samples, near.ties)
    penalised = cells.with_pseudo(pseudo)
    extra = penalised.counts[len(cells.counts) :]
    counts = np.concatenate((counts, np.broadcast_to(extra, (len(counts), *extra.shape))), axis=1)
    counts = counts[_are_connected(penalised, counts, directed=True)]
    side = near.side is not None
    if side:
        counts = counts[_are_crossed(penalised, counts)]
    counts = counts[counts[..., :TIE].any(axis=(1, 2))]
    tied = counts[..., TIE].any(axis=1)
    estimates = []
    for has_ties in (True, False):
        own = counts[tied == has_ties]
        model = _Model(penalised, near.ties, side=side, has_ties=has_ties)
        start = np.tile(model.parameters(near), (len(own), 1))
        parameters, _, converged = _maximise(model, start, own)
        doubtful = ~converged | model.are_suspicious(parameters)
        doubtful[doubtful] = [model.is_separated(each) for each in own[doubtful]]
        estimates.append(model.estimates(parameters[~doubtful]))
    return Estimates(*(np.concatenate(each) for each in zip(*estimates, strict=True)))


def _prepared(counts: Floats, ties: Ties) -> Floats:
    """Counts (…, 3) as a model takes them: ties as half a win for either side, or left out."""
    if ties not in ("half", "drop"):
        return counts
    tied = counts[..., TIE:]
    decided = counts[..., :TIE] + (tied / 2 if ties == "half" else 0)
    return np.concatenate((decided, np.zeros_like(tied)), axis=-1)


def _why_not(cells: Cells) -> str:
    """Why no estimate can be looked for: first of all, every system must be compared."""
    counts = cells.counts[None]
    if not counts.any():
        return NO_COMPARISONS
    if not _are_connected(cells, counts, directed=False)[0]:
        return NOT_CONNECTED
    if not counts[..., :TIE].any():
        return ONLY_TIES
    return "" if _are_connected(cells, counts, directed=True)[0] else SEPARATED


def _are_connected(cells: Cells, counts: Floats, *, directed: bool) -> npt.NDArray[np.bool_]:
    """Whether a way leads from each system to each other: by comparisons, or `directed` from loser to winner.

    Ford (1957) has the second for an estimate to exist; a tie is a way in both directions.
    """
    size = cells.n_systems
    beaten = counts[..., :TIE] + counts[..., TIE:] > 0
    second_lost, first_lost = (beaten[..., FIRST], beaten[..., SECOND]) if directed else 2 * (beaten.any(-1),)
    ways = np.zeros((len(counts), size, size), dtype=np.float32)
    sample = np.arange(len(counts))[:, None]
    np.add.at(ways, (sample, cells.second, cells.first), second_lost)
    np.add.at(ways, (sample, cells.first, cells.second), first_lost)
    ways = ((ways > 0) | np.eye(size, dtype=np.bool_)).astype(np.float32)
    for _ in range(max(1, (size - 1).bit_length())):  # each time ways of up to twice as many steps
        ways = (ways @ ways > 0).astype(np.float32)
    return np.asarray(ways.all(axis=(1, 2)))


def _are_crossed(cells: Cells, counts: Floats) -> npt.NDArray[np.bool_]:
    """Whether strengths and style leave something of the side: the rank of the comparisons tells."""
    design = np.column_stack((_contrasts(cells), cells.styles, np.ones(len(cells.first))))
    seen: Floats = np.asarray(counts.any(axis=2), dtype=np.float64)
    products: Floats = np.matmul(design.T, seen[..., None] * design)
    rank, without = (
        np.linalg.matrix_rank(each, hermitian=True) for each in (products, products[:, :-1, :-1])
    )
    return np.asarray(rank > without)


def _contrasts(cells: Cells) -> Floats:
    """λ_first - λ_second as a row over all strengths but the last, which is minus the sum of the others."""
    rows = np.zeros((len(cells.first), cells.n_systems))
    at = np.arange(len(rows))
    rows[at, cells.first] += 1
    rows[at, cells.second] -= 1
    return rows[:, :-1] - rows[:, -1:]


class _Model:
    """Parameters: the strengths but the last, the side, effects of style, and last log nu or τ."""

    def __init__(self, cells: Cells, ties: Ties, *, side: bool, has_ties: bool) -> None:
        self.ties, self.side = ties, side
        self.has_ties = has_ties and ties in ("davidson", "rao-kupper")
        self.n_strengths, self.n_effects = cells.n_systems - 1, cells.styles.shape[1]
        sides = np.ones((len(cells.first), 1 if side else 0))
        self.design = np.column_stack((_contrasts(cells), sides, cells.styles))
        self.size = self.design.shape[1] + self.has_ties
        self.ridge = np.zeros(self.size)
        self.ridge[self.n_strengths + side : self.design.shape[1]] = STYLE_RIDGE

    def start(self) -> Floats:
        parameters = np.zeros(self.size)
        if self.has_ties and self.ties == "rao-kupper":
            parameters[-1] = 0.5
        return parameters

    def parameters(self, fitted: Strengths) -> Floats:
        """Those of another estimate, as far as it has them."""
        assert fitted.strengths is not None
        parameters = self.start()
        parameters[: self.n_strengths] = fitted.strengths[:-1]
        if self.side and fitted.side is not None:
            parameters[self.n_strengths] = fitted.side
        if fitted.effects is not None:
            parameters[self.n_strengths + self.side : self.design.shape[1]] = fitted.effects
        if self.has_ties and fitted.nu:
            parameters[-1] = np.log(fitted.nu)
        return parameters

    def estimates(self, parameters: Floats) -> tuple[Floats, Floats, Floats]:
        """Strengths, sides and effects of parameters."""
        strengths = parameters[:, : self.n_strengths]
        side = self.n_strengths + self.side
        return (
            np.column_stack((strengths, -strengths.sum(axis=1))),
            parameters[:, self.n_strengths : side],
            parameters[:, side : self.design.shape[1]],
        )

    def are_inside(self, parameters: Floats) -> npt.NDArray[np.bool_]:
        """Whether they are parameters of the model at all."""
        if self.has_ties and self.ties == "rao-kupper":
            return np.asarray(parameters[:, -1] > 0)
        return np.ones(len(parameters), dtype=np.bool_)

    def are_suspicious(self, parameters: Floats) -> npt.NDArray[np.bool_]:
        """Whether an outcome is nearly certain beside another."""
        eta = np.abs(parameters[:, : self.design.shape[1]] @ self.design.T).max(axis=1, initial=0.0)
        return np.asarray(eta + (np.abs(parameters[:, -1]) if self.has_ties else 0.0) > _SUSPICIOUS)

    def derivatives(self, parameters: Floats, counts: Floats) -> Derivatives:
        """Of the penalised likelihood."""
        derivatives = self._rao_kupper if self.ties == "rao-kupper" else self._davidson
        value, gradient, curvature = derivatives(parameters, counts)
        return (
            value - parameters**2 @ self.ridge / 2,
            gradient - self.ridge * parameters,
            curvature + np.diag(self.ridge),
        )

    def _squares(self, weights: Floats) -> Floats:
        """Of each sample the products of the columns, each cell with its weight."""
        squares: Floats = np.matmul(self.design.T, weights[..., None] * self.design)
        return squares

    def _davidson(self, parameters: Floats, counts: Floats) -> Derivatives:
        """A multinomial regression, in which the outcomes have the weights e^(η/2), e^(-η/2), nu."""
        width, columns = self.design.shape[1], TIE + self.has_ties
        halves = parameters[:, :width] @ self.design.T / 2
        weights = np.stack((halves, -halves, np.broadcast_to(parameters[:, -1:], halves.shape)), axis=-1)
        weights, counts = weights[..., :columns], counts[..., :columns]
        log_chances = weights - np.logaddexp.reduce(weights, axis=-1, keepdims=True)
        chances = np.exp(log_chances)
        total = counts.sum(axis=-1)
        lead = chances[..., FIRST] - chances[..., SECOND]
        of_eta = ((counts[..., FIRST] - counts[..., SECOND]) - total * lead) / 2
        spread = total * (chances[..., FIRST] + chances[..., SECOND] - lead**2) / 4
        gradient = np.zeros(parameters.shape)
        curvature = np.zeros((*parameters.shape, self.size))
        gradient[:, :width] = of_eta @ self.design
        curvature[:, :width, :width] = self._squares(spread)
        if self.has_ties:
            tied = chances[..., TIE]
            gradient[:, -1] = (counts[..., TIE] - total * tied).sum(axis=1)
            curvature[:, -1, -1] = (total * tied * (1 - tied)).sum(axis=1)
            together = -(total * tied * lead / 2) @ self.design
            curvature[:, -1, :-1] = curvature[:, :-1, -1] = together
        return (counts * log_chances).sum(axis=(1, 2)), gradient, curvature

    def _rao_kupper(self, parameters: Floats, counts: Floats) -> Derivatives:
        """With ls(x) = -log(1 + e^-x): log P(first) = ls(η - τ), log P(second) = ls(-η - τ), and for a tie
        log(1 - e^-2τ) + ls(η + τ) + ls(τ - η).
        """
        width = self.design.shape[1]
        eta = parameters[:, :width] @ self.design.T
        tau = parameters[:, -1:] if self.has_ties else np.zeros((len(parameters), 1))
        ties = counts[..., TIE]
        # (how often, argument, its derivative by η, by τ) of each term ls(argument).
        terms = (
            (counts[..., FIRST], eta - tau, 1, -1),
            (counts[..., SECOND], -eta - tau, -1, -1),
            (ties, eta + tau, 1, 1),
            (ties, tau - eta, -1, 1),
        )
        value = np.zeros(len(parameters))
        gradient, curvature = np.zeros(parameters.shape), np.zeros((*parameters.shape, self.size))
        for often, argument, by_eta, by_tau in terms:
            value -= (often * np.logaddexp(0, -argument)).sum(axis=1)
            missing = 1 / (1 + np.exp(argument))
            slope, bend = often * missing, often * missing * (1 - missing)
            gradient[:, :width] += by_eta * (slope @ self.design)
            curvature[:, :width, :width] += self._squares(bend)
            if self.has_ties:
                gradient[:, -1] += by_tau * slope.sum(axis=1)
                curvature[:, -1, -1] += bend.sum(axis=1)
                curvature[:, -1, :-1] += by_eta * by_tau * (bend @ self.design)
        if self.has_ties:
            curvature[:, :-1, -1] = curvature[:, -1, :-1]
            tied, two_tau = ties.sum(axis=1), 2 * tau[:, 0]
            rest = np.expm1(two_tau)
            value += tied * np.log(-np.expm1(-two_tau))
            gradient[:, -1] += tied * 2 / rest
            curvature[:, -1, -1] += tied * 4 * (rest + 1) / rest**2
        return value, gradient, curvature

    def is_separated(self, counts: Floats) -> bool:
        """Whether a direction makes no outcome that was seen less likely, and one of them more."""
        from scipy.optimize import linprog

        rows = self._directions(counts)
        slacks = np.eye(len(rows))
        bounds = [(None, None)] * rows.shape[1] + [(0, 1)] * len(rows)
        solution = linprog(
            np.concatenate((np.zeros(rows.shape[1]), -np.ones(len(rows)))),
            A_ub=np.column_stack((-rows, slacks)),
            b_ub=np.zeros(len(rows)),
            bounds=bounds,
            method="highs",
        )
        return bool(solution.status == 0 and -solution.fun > _NOTHING)

    def _directions(self, counts: Floats) -> Floats:
        """For each outcome that was seen, what must not shrink: its weight beside that of each other."""
        design = self.design
        columns = range(TIE + self.has_ties)
        seen = {outcome: design[counts[:, outcome] > 0] for outcome in columns}
        # Effects of style are bound by their penalty, so that they lead nowhere.
        for rows in seen.values():
            rows[:, self.n_strengths + self.side :] = 0
        decided = np.concatenate((seen[FIRST], -seen[SECOND]))
        if not self.has_ties:
            return np.unique(decided, axis=0)
        tied = seen[TIE]

        def beside(rows: Floats, weight: float) -> Floats:
            return np.column_stack((rows, np.full(len(rows), weight)))

        if self.ties == "rao-kupper":
            parts = [beside(decided, -1), beside(tied, 1), beside(-tied, 1)]
        else:
            # A win beside a loss (η) and beside a tie (η/2 - log nu); a tie beside either (log nu ∓ η/2).
            parts = [
                beside(decided, 0),
                beside(decided / 2, -1),
                beside(-tied / 2, 1),
                beside(tied / 2, 1),
            ]
        return np.unique(np.concatenate(parts), axis=0)

    def describe(
        self, parameters: Floats, curvature: Floats, real: "_Model", counts: Floats, side_reason: str
    ) -> Strengths:
        """The estimate by its names; `real` is the same model of the comparisons without pseudo ones."""
        n, width = self.n_strengths, self.design.shape[1]
        covariance = np.linalg.pinv(curvature)
        to_strengths = np.vstack((np.eye(n), -np.ones(n)))
        errors = np.sqrt(np.einsum("ij,jk,ik->i", to_strengths, covariance[:n, :n], to_strengths))
        penalty = float(self.ridge @ parameters**2) / 2
        nu: float | None = None
        if self.ties == "davidson":
            nu = float(np.exp(parameters[-1])) if self.has_ties else 0.0
        elif self.ties == "rao-kupper":
            nu = float(np.exp(parameters[-1])) if self.has_ties else 1.0
        return Strengths(
            ties=self.ties,
            strengths=to_strengths @ parameters[:n],
            side=float(parameters[n]) if self.side else None,
            side_reason=side_reason,
            nu=nu,
            effects=parameters[n + self.side : width].copy(),
            loglik=float(real.derivatives(parameters[None], counts[None])[0][0]) + penalty,
            se_strengths=errors,
            se_side=float(np.sqrt(covariance[n, n])) if self.side else None,
            se_log_nu=float(np.sqrt(covariance[-1, -1])) if self.has_ties else None,
        )


def _maximise(model: _Model, start: Floats, counts: Floats) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """Newton's method with halved steps: parameters, curvature there, and which came to a maximum."""
    parameters = start.copy()
    value, gradient, curvature = model.derivatives(parameters, counts)
    stuck = np.zeros(len(parameters), dtype=np.bool_)
    for _ in range(_STEPS):
        at = np.flatnonzero((np.abs(gradient).max(axis=1, initial=0.0) >= _GRADIENT) & ~stuck)
        if not len(at):
            break
        inverse = np.linalg.pinv(curvature[at], rcond=model.size * np.finfo(np.float64).eps, hermitian=True)
        steps = np.matmul(inverse, gradient[at, :, None])[..., 0]
        for _ in range(_HALVINGS):
            there = parameters[at] + steps
            inside = model.are_inside(there)
            there[~inside] = parameters[at[~inside]]
            new_value, new_gradient, new_curvature = model.derivatives(there, counts[at])
            good = inside & (new_value >= value[at] - np.abs(value[at]) * 1e-14)
            to = at[good]
            parameters[to], value[to] = there[good], new_value[good]
            gradient[to], curvature[to] = new_gradient[good], new_curvature[good]
            at, steps = at[~good], steps[~good] / 2
            if not len(at):
                break
        stuck[at] = True
    return parameters, curvature, np.abs(gradient).max(axis=1, initial=0.0) < _GRADIENT
