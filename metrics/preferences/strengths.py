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
"""

from collections.abc import Callable
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
#: Value, gradient and curvature (the negative Hessian) of a log-likelihood.
Derivatives = tuple[float, Floats, Floats]


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


def fit(
    cells: Cells,
    *,
    ties: Ties = "davidson",
    side: bool = False,
    pseudo: float = 0.0,
    near: Strengths | None = None,
) -> Strengths:
    """The maximum of the likelihood; `pseudo` comparisons are added to each pair of systems.

    `near` is an estimate of almost the same comparisons, at which the search begins.
    """
    if not cells.counts.any():
        return Strengths(ties, NO_COMPARISONS)
    real = _prepared(cells, ties)
    penalised = real.with_pseudo(pseudo)
    if reason := _why_not(penalised, only_ties=not penalised.counts[:, :TIE].any()):
        return Strengths(ties, reason)
    side_reason = SIDES_NOT_CROSSED if side and not _is_crossed(penalised) else ""
    model = _Model(penalised, ties, side=side and not side_reason)
    start = model.parameters(near) if near is not None and near.strengths is not None else model.start()
    parameters, curvature, converged = _maximise(model.derivatives, start, model.is_inside)
    # Without a maximum the steps go on and on, or end far away where nothing changes any more.
    if (near is None or not converged or model.is_suspicious(parameters)) and model.is_separated():
        return Strengths(ties, SEPARATED, side_reason=side_reason)
    return model.describe(parameters, curvature, _Model(real, ties, side=model.side), side_reason)


def _prepared(cells: Cells, ties: Ties) -> Cells:
    match ties:
        case "half":
            return cells.as_half_wins()
        case "drop":
            return cells.with_counts(np.column_stack((cells.counts[:, :TIE], np.zeros(len(cells.counts)))))
        case _:
            return cells


def _why_not(cells: Cells, *, only_ties: bool) -> str:
    """Why no estimate can be looked for: first of all, every system must be compared."""
    seen = cells.counts.any(axis=1)
    first, second, counts = cells.first[seen], cells.second[seen], cells.counts[seen]
    if not len(first):
        return NO_COMPARISONS
    if _components(cells.n_systems, first, second, directed=False) > 1:
        return NOT_CONNECTED
    if only_ties:
        return ONLY_TIES
    # Ford (1957): from each loser a way leads to each winner; a tie is one in both directions.
    second_lost, first_lost = counts[:, FIRST] + counts[:, TIE] > 0, counts[:, SECOND] + counts[:, TIE] > 0
    losers = np.concatenate((second[second_lost], first[first_lost]))
    winners = np.concatenate((first[second_lost], second[first_lost]))
    return SEPARATED if _components(cells.n_systems, losers, winners, directed=True) > 1 else ""


def _components(
    size: int, one: npt.NDArray[np.int64], other: npt.NDArray[np.int64], *, directed: bool
) -> int:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(one)), (one, other)), shape=(size, size))
    kind = "strong" if directed else "weak"
    return int(connected_components(graph, directed=directed, connection=kind)[0])


def _is_crossed(cells: Cells) -> bool:
    """Whether strengths and style leave something of the side: the rank of the comparisons tells."""
    seen = cells.counts.any(axis=1)
    design = np.column_stack((_contrasts(cells)[seen], cells.styles[seen]))
    with_side = np.column_stack((design, np.ones(len(design))))
    return bool(np.linalg.matrix_rank(with_side) > np.linalg.matrix_rank(design))


def _contrasts(cells: Cells) -> Floats:
    """λ_first - λ_second as a row over all strengths but the last, which is minus the sum of the others."""
    rows = np.zeros((len(cells.first), cells.n_systems))
    at = np.arange(len(rows))
    rows[at, cells.first] += 1
    rows[at, cells.second] -= 1
    return rows[:, :-1] - rows[:, -1:]


class _Model:
    """Parameters: the strengths but the last, the side, effects of style, and last log nu or τ."""

    def __init__(self, cells: Cells, ties: Ties, *, side: bool) -> None:
        self.cells, self.ties, self.side = cells, ties, side
        self.n_strengths, self.n_effects = cells.n_systems - 1, cells.styles.shape[1]
        sides = np.ones((len(cells.first), 1 if side else 0))
        self.design = np.column_stack((_contrasts(cells), sides, cells.styles))
        self.has_ties = ties in ("davidson", "rao-kupper") and bool(cells.counts[:, TIE].any())
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

    def is_inside(self, parameters: Floats) -> bool:
        return not (self.has_ties and self.ties == "rao-kupper") or bool(parameters[-1] > 0)

    def is_suspicious(self, parameters: Floats) -> bool:
        """Whether an outcome is nearly certain beside another."""
        eta = np.abs(self.design @ parameters[: self.design.shape[1]])
        ties = abs(parameters[-1]) if self.has_ties else 0.0
        return bool(eta.max(initial=0.0) + ties > _SUSPICIOUS)

    def derivatives(self, parameters: Floats) -> Derivatives:
        derivatives = self._rao_kupper if self.ties == "rao-kupper" else self._davidson
        value, gradient, curvature = derivatives(parameters)
        return (
            value - float(self.ridge @ parameters**2) / 2,
            gradient - self.ridge * parameters,
            curvature + np.diag(self.ridge),
        )

    def _davidson(self, parameters: Floats) -> Derivatives:
        """A multinomial regression, in which the outcomes have the weights e^(η/2), e^(-η/2), nu."""
        counts, design = self.cells.counts, self.design
        halves = design @ parameters[: design.shape[1]] / 2
        log_nu = np.full(len(halves), parameters[-1] if self.has_ties else -np.inf)
        weights = np.column_stack((halves, -halves, log_nu))
        log_sum = np.logaddexp.reduce(weights, axis=1)
        chances = np.exp(weights - log_sum[:, None])
        total = counts.sum(axis=1)
        seen = counts > 0
        value = float((counts[seen] * (weights - log_sum[:, None])[seen]).sum())
        lead = chances[:, FIRST] - chances[:, SECOND]
        of_eta = ((counts[:, FIRST] - counts[:, SECOND]) - total * lead) / 2
        spread = total * (chances[:, FIRST] + chances[:, SECOND] - lead**2) / 4
        gradient = np.zeros(self.size)
        curvature = np.zeros((self.size, self.size))
        gradient[: design.shape[1]] = of_eta @ design
        curvature[: design.shape[1], : design.shape[1]] = design.T @ (design * spread[:, None])
        if self.has_ties:
            tied = chances[:, TIE]
            gradient[-1] = float((counts[:, TIE] - total * tied).sum())
            curvature[-1, -1] = float((total * tied * (1 - tied)).sum())
            together = -(total * tied * lead / 2) @ design
            curvature[-1, :-1] = curvature[:-1, -1] = together
        return value, gradient, curvature

    def _rao_kupper(self, parameters: Floats) -> Derivatives:
        """With ls(x) = -log(1 + e^-x): log P(first) = ls(η - τ), log P(second) = ls(-η - τ), and for a tie
        log(1 - e^-2τ) + ls(η + τ) + ls(τ - η).
        """
        counts, design = self.cells.counts, self.design
        eta = design @ parameters[: design.shape[1]]
        tau = parameters[-1] if self.has_ties else 0.0
        ties = counts[:, TIE]
        # (how often, argument, its derivative by η, by τ) of each term ls(argument).
        terms = (
            (counts[:, FIRST], eta - tau, 1, -1),
            (counts[:, SECOND], -eta - tau, -1, -1),
            (ties, eta + tau, 1, 1),
            (ties, tau - eta, -1, 1),
        )
        value = 0.0
        gradient, curvature = np.zeros(self.size), np.zeros((self.size, self.size))
        width = design.shape[1]
        for often, argument, by_eta, by_tau in terms:
            value -= float(often @ np.logaddexp(0, -argument))
            missing = 1 / (1 + np.exp(argument))
            slope, bend = often * missing, often * missing * (1 - missing)
            gradient[:width] += by_eta * (slope @ design)
            curvature[:width, :width] += design.T @ (design * bend[:, None])
            if self.has_ties:
                gradient[-1] += by_tau * float(slope.sum())
                curvature[-1, -1] += float(bend.sum())
                curvature[-1, :-1] += by_eta * by_tau * (bend @ design)
        if self.has_ties:
            curvature[:-1, -1] = curvature[-1, :-1]
            tied, rest = float(ties.sum()), float(np.expm1(2 * tau))
            value += tied * float(np.log(-np.expm1(-2 * tau)))
            gradient[-1] += tied * 2 / rest
            curvature[-1, -1] += tied * 4 * (rest + 1) / rest**2
        return value, gradient, curvature

    def is_separated(self) -> bool:
        """Whether a direction makes no outcome that was seen less likely, and one of them more."""
        from scipy.optimize import linprog

        rows = self._directions()
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

    def _directions(self) -> Floats:
        """For each outcome that was seen, what must not shrink: its weight beside that of each other."""
        counts, design = self.cells.counts, self.design
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

    def describe(self, parameters: Floats, curvature: Floats, real: "_Model", side_reason: str) -> Strengths:
        """The estimate by its names; `real` is the same model of the comparisons without pseudo ones."""
        n, width = self.n_strengths, self.design.shape[1]
        covariance = np.linalg.pinv(curvature)
        to_strengths = np.vstack((np.eye(n), -np.ones(n)))
        errors = np.sqrt(np.einsum("ij,jk,ik->i", to_strengths, covariance[:n, :n], to_strengths))
        own = parameters if real.has_ties == self.has_ties else parameters[: real.size]
        penalty = float(real.ridge @ own**2) / 2
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
            loglik=real.derivatives(own)[0] + penalty,
            se_strengths=errors,
            se_side=float(np.sqrt(covariance[n, n])) if self.side else None,
            se_log_nu=float(np.sqrt(covariance[-1, -1])) if self.has_ties else None,
        )


def _maximise(
    derivatives: Callable[[Floats], Derivatives], start: Floats, is_inside: Callable[[Floats], bool]
) -> tuple[Floats, Floats, bool]:
    """Newton's method with halved steps: parameters, curvature there, and whether it came to a maximum."""
    parameters = start
    value, gradient, curvature = derivatives(parameters)
    for _ in range(_STEPS):
        if np.abs(gradient).max(initial=0.0) < _GRADIENT:
            return parameters, curvature, True
        step = np.linalg.lstsq(curvature, gradient, rcond=None)[0]
        for halving in range(_HALVINGS):
            there = parameters + step / 2**halving
            if not is_inside(there):
                continue
            value_there, gradient_there, curvature_there = derivatives(there)
            if value_there >= value - abs(value) * 1e-14:
                break
        else:
            return parameters, curvature, False
        parameters, value, gradient, curvature = there, value_there, gradient_there, curvature_there
    return parameters, curvature, False
