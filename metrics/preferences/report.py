"""What comparisons say, as JSON has it: strengths with intervals, ties, side, style, triples, wins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metrics.figure import number_or_none
from metrics.preferences.comparisons import FIRST, SECOND, TIE, Comparisons, Floats, Samples
from metrics.preferences.strengths import NO_COMPARISONS, Strengths, Ties, fit, fit_samples, samples_at_once
from metrics.preferences.triples import (
    CHANCE,
    NO_DECIDED_TRIPLES,
    Triples,
    count_triples,
    count_triples_within_raters,
)

COVERAGE = 0.95
#: More replicates without an estimate than this share leave no interval.
_MOST_WITHOUT = 0.05
ONE_QUESTION, NOT_ASKED = "one question", "no interval was asked for (0 replicates)"
SIDE_NOT_ASKED = "not asked for: --side"
ONE_JUDGE = (
    "One judge gave all comparisons: the intervals hold for other questions, and not for other judges."
)
MANY_TIES = 0.5


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """Which model is fitted, and how its intervals are drawn."""

    ties: Ties = "davidson"
    side: bool = False
    pseudo: float = 0.0
    replicates: int = 1000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class _Intervals:
    """Percentile intervals by what they are of, or `reason` why there are none."""

    strengths: Floats | None = None
    side: Floats | None = None
    effects: Floats | None = None
    reason: str = ""


def report(
    comparisons: Comparisons, choice: ModelChoice, *, styles: Sequence[str], version: str
) -> dict[str, Any]:
    """The figures of one question that was asked about pairs; `styles` name the covariates."""
    samples = Samples(comparisons)
    fitted = fit(samples.cells, ties=choice.ties, side=choice.side, pseudo=choice.pseudo)
    halves = fit(samples.cells, ties="half", pseudo=choice.pseudo)
    intervals = _draw_intervals(samples, fitted, choice)
    counts = _count_outcomes(comparisons)
    facts: dict[str, Any] = {
        "strengths": _strengths(comparisons, fitted, intervals, counts),
        "half_wins": _half_wins(comparisons, halves),
        "ties": _ties(fitted),
        "side": _side(fitted, choice, intervals),
        "style": _style(fitted, styles, intervals),
        "triples": _triples(comparisons),
        "matrix": _matrix(comparisons, fitted),
        "judges": samples.n_raters if len(comparisons) else 0,
        "n": len(comparisons),
        "loglik": fitted.loglik,
        "warnings": _warn(comparisons, samples),
        "signatures": _sign(choice, styles, version),
    }
    if fitted.reason:
        facts["reason"] = {"strengths": fitted.reason}
    return facts


def _draw_intervals(samples: Samples, fitted: Strengths, choice: ModelChoice) -> _Intervals:
    if fitted.strengths is None:
        return _Intervals(reason=fitted.reason)
    if not choice.replicates:
        return _Intervals(reason=NOT_ASKED)
    if samples.n_questions < 2:
        return _Intervals(reason=ONE_QUESTION)
    cells = samples.cells
    drawn = samples.draw(choice.replicates, choice.seed, samples_at_once(cells))
    estimates = [fit_samples(cells, counts, fitted, pseudo=choice.pseudo) for counts in drawn]
    strengths, sides, effects = (
        np.concatenate([getattr(each, name) for each in estimates])
        for name in ("strengths", "sides", "effects")
    )
    without = choice.replicates - len(strengths)
    if without > _MOST_WITHOUT * choice.replicates:
        return _Intervals(reason=f"not estimable in {without} of {choice.replicates} replicates")

    def bounds(values: Floats) -> Floats:
        return np.quantile(values, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2], axis=0)

    return _Intervals(
        strengths=bounds(strengths),
        side=bounds(sides[:, 0]) if fitted.side is not None else None,
        effects=bounds(effects),
    )


def _count_outcomes(comparisons: Comparisons) -> Mapping[str, Any]:
    """Wins, losses and ties of each system."""
    size = comparisons.n_systems

    def count(codes: Any, outcome: int) -> Any:
        return np.bincount(codes[comparisons.outcomes == outcome], minlength=size)

    first, second = comparisons.first, comparisons.second
    return {
        "wins": count(first, FIRST) + count(second, SECOND),
        "losses": count(first, SECOND) + count(second, FIRST),
        "ties": count(first, TIE) + count(second, TIE),
    }


def _order(comparisons: Comparisons, fitted: Strengths) -> list[int]:
    """Systems, the strongest first."""
    names = comparisons.systems
    if fitted.strengths is None:
        return sorted(range(len(names)), key=lambda system: names[system])
    strengths = fitted.strengths
    return sorted(range(len(names)), key=lambda system: (-strengths[system], names[system]))


def _bounds(intervals: Floats | None, reason: str, place: int | None = None) -> dict[str, Any]:
    if intervals is None:
        return {"low": None, "high": None, "reason": reason}
    low, high = intervals if place is None else intervals[:, place]
    return {"low": float(low), "high": float(high)}


def _strengths(
    comparisons: Comparisons, fitted: Strengths, intervals: _Intervals, counts: Mapping[str, Any]
) -> list[dict[str, Any]]:
    return [
        {
            "system": comparisons.systems[system],
            "strength": None if fitted.strengths is None else float(fitted.strengths[system]),
            **_bounds(intervals.strengths, intervals.reason, system),
            **{name: int(numbers[system]) for name, numbers in counts.items()},
        }
        for system in _order(comparisons, fitted)
    ]


def _half_wins(comparisons: Comparisons, halves: Strengths) -> list[dict[str, Any]]:
    return [
        {"system": comparisons.systems[system], "strength": float(halves.strengths[system])}
        if halves.strengths is not None
        else {"system": comparisons.systems[system], "strength": None, "reason": halves.reason}
        for system in _order(comparisons, halves)
    ]


def _ties(fitted: Strengths) -> dict[str, Any]:
    if fitted.ties in ("half", "drop"):
        words = "half a win for either" if fitted.ties == "half" else "left out"
        return {"model": fitted.ties, "nu": None, "reason": f"not in this model: ties are {words}"}
    if fitted.reason:
        return {"model": fitted.ties, "nu": None, "reason": fitted.reason}
    if fitted.ties == "rao-kupper":
        return {
            "model": fitted.ties,
            "nu": None,
            "theta": fitted.nu,
            "reason": "Rao and Kupper's model has theta in its place",
        }
    return {"model": fitted.ties, "nu": fitted.nu}


def _side(fitted: Strengths, choice: ModelChoice, intervals: _Intervals) -> dict[str, Any]:
    reason = fitted.reason or fitted.side_reason or ("" if choice.side else SIDE_NOT_ASKED)
    if fitted.side is None:
        return {"effect": None, "low": None, "high": None, "reason": reason}
    return {"effect": fitted.side, **_bounds(intervals.side, intervals.reason)}


def _style(fitted: Strengths, styles: Sequence[str], intervals: _Intervals) -> list[dict[str, Any]]:
    return [
        {
            "column": name,
            "effect": None if fitted.effects is None else float(fitted.effects[place]),
            **_bounds(intervals.effects, intervals.reason, place),
        }
        for place, name in enumerate(styles)
    ]


def _triples(comparisons: Comparisons) -> dict[str, Any]:
    together = count_triples(comparisons)
    facts: dict[str, Any] = {"circular_share": together.share, "chance": CHANCE}
    if together.share is None:
        facts["reason"] = NO_DECIDED_TRIPLES
    facts["aggregate"] = _describe(together)
    if together.consistence is not None:
        facts["aggregate"] |= {"consistence": together.consistence, "max_circular": together.max_circular}
    facts["within_rater"] = _describe(count_triples_within_raters(comparisons))
    return facts


def _describe(triples: Triples) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "decided_triples": triples.decided,
        "circular": triples.circular,
        "undecided_triples": triples.undecided,
        "rate": triples.share,
    }
    return facts if triples.decided else facts | {"reason": NO_DECIDED_TRIPLES}


def _matrix(comparisons: Comparisons, fitted: Strengths) -> dict[str, Any]:
    """Rows against columns, in the order of strengths: wins, ties, and the model's chance of a win."""
    order = _order(comparisons, fitted)
    size = comparisons.n_systems
    wins, ties = np.zeros((2, size, size), dtype=np.int64)
    first, second, outcomes = comparisons.first, comparisons.second, comparisons.outcomes
    np.add.at(wins, (first[outcomes == FIRST], second[outcomes == FIRST]), 1)
    np.add.at(wins, (second[outcomes == SECOND], first[outcomes == SECOND]), 1)
    np.add.at(ties, (first[outcomes == TIE], second[outcomes == TIE]), 1)
    chances = fitted.win_probabilities()
    grid = np.ix_(order, order)
    return {
        "systems": [comparisons.systems[system] for system in order],
        "wins": wins[grid].tolist(),
        "ties": (ties + ties.T)[grid].tolist(),
        "p_win": None
        if chances is None
        else [[number_or_none(chance) for chance in row] for row in chances[grid].tolist()],
    }


def _warn(comparisons: Comparisons, samples: Samples) -> list[str]:
    if not len(comparisons):
        return [f"There are {NO_COMPARISONS} of different systems."]
    warnings = [ONE_JUDGE] if samples.n_raters == 1 else []
    share = float((comparisons.outcomes == TIE).mean())
    if share > MANY_TIES:
        warnings.append(
            f"{share:.0%} of the comparisons are ties; strengths rest on the others, {1 - share:.0%}."
        )
    return warnings


def _sign(choice: ModelChoice, styles: Sequence[str], version: str) -> dict[str, str]:
    how = f"|pseudo={choice.pseudo:g}" if choice.pseudo else ""
    style = f"|style={','.join(styles)}|ridge=0.5" if styles else ""
    side = "|side" if choice.side else ""
    bootstrap = (
        f"|bootstrap=questions x judges,{choice.replicates}|seed={choice.seed}" if choice.replicates else ""
    )
    return {
        "strengths": f"bradley-terry|ties={choice.ties}{side}{style}{how}{bootstrap}|{version}",
        "half_wins": f"bradley-terry|ties=half{style}{how}|{version}",
        "triples": f"circular-triples|sides=pooled|{version}",
    }
