"""Strengths from comparisons: published and independently computed values, and what must hold of any data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from metrics.preferences.comparisons import FIRST, SECOND, TIE, Comparisons, Samples
from metrics.preferences.report import ModelChoice, report
from metrics.preferences.strengths import NO_COMPARISONS, SEPARATED, fit, fit_samples
from metrics.preferences.triples import count_triples, count_triples_within_raters
from tests.metrics.goldens import golden
from tests.scale import TEST_ALL

OUTCOME = {1: FIRST, 0: SECOND, 0.5: TIE}
CASES = {case["id"]: case for case in golden("bradley_terry")["cases"]}
FIGURES = ("strengths", "nu", "log_nu", "side", "loglik", "se_strengths", "se_side", "se_log_nu")


def comparisons_of(case):
    if "pair_table" in case:
        rows = [
            (0, 0, first - 1, second - 1, outcome)
            for first, second, _, *counts in case["pair_table"]
            for outcome, count in zip((FIRST, SECOND, TIE), counts, strict=True)
            for _ in range(count)
        ]
        return Comparisons.of([str(system) for system in range(6)], rows)
    case = CASES[case.get("same_comparisons_as", case["id"])]
    rows = [(*row[:4], OUTCOME[row[4]]) for row in case["comparisons"]]
    return Comparisons.of([str(system) for system in range(case["systems"])], rows)


def fit_case(case):
    options = {name: value for name, value in case["options"].items() if name != "ties"}
    return fit(Samples(comparisons_of(case)).cells, **options)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.get("expected")])
def test_the_golden_estimates(name):
    case = CASES[name]
    if name == "two-way-bootstrap":
        return bootstrap_is_golden(case)
    fitted, expected = fit_case(case), case["expected"]
    for figure in FIGURES:
        value = getattr(fitted, figure)
        assert value == pytest.approx(expected[figure], abs=case["tol"]), figure
    chances = np.array(
        [[np.nan if cell is None else cell for cell in row] for row in expected["p_win_neutral"]]
    )
    assert fitted.win_probabilities() == pytest.approx(chances.astype(float), abs=case["tol"], nan_ok=True)
    assert fitted.side_reason == case.get("side_reason", "")


def bootstrap_is_golden(case):
    comparisons = comparisons_of(case)
    drawn = report(comparisons, ModelChoice(side=True), styles=(), version="test")
    for row in drawn["strengths"]:
        bounds = case["expected"]["interval_95"][f"strength_{row['system']}"]
        assert [row["low"], row["high"]] == pytest.approx(bounds, abs=case["interval_tol"])


@pytest.mark.parametrize("ties", ["davidson", "rao-kupper", "half", "drop"])
@pytest.mark.parametrize("side", [False, True])
def test_samples_together_have_the_estimates_that_each_has_alone(ties, side):
    samples = Samples(comparisons_of(CASES["two-way-bootstrap"]))
    counts = np.concatenate(list(samples.draw(60, 0, 7)))
    assert (counts == np.concatenate(list(samples.draw(60, 0, 60)))).all()
    alone = [fit(samples.cells.with_counts(each), ties=ties, side=side) for each in counts]
    alone = [each for each in alone if each.strengths is not None and (each.side is not None) == side]
    together = fit_samples(samples.cells, counts, fit(samples.cells, ties=ties, side=side))

    def in_order(rows):
        return np.array(sorted(rows, key=tuple))

    assert len(together.strengths) == len(alone) > 30
    of_alone = [[*each.strengths, *([each.side] if side else [])] for each in alone]
    of_together = np.column_stack((together.strengths, together.sides)).tolist()
    assert in_order(of_together) == pytest.approx(in_order(of_alone), abs=1e-7)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "reason" in case])
def test_there_is_no_estimate_for_the_golden_reasons(name):
    fitted = fit_case(CASES[name])
    assert (fitted.reason, fitted.strengths) == (CASES[name]["reason"], None)


def test_the_golden_triples():
    for case in golden("circular_triples")["cases"]:
        rows = [(*row[:4], OUTCOME[row[4]]) for row in case["comparisons"]]
        comparisons = Comparisons.of([str(system) for system in range(case["systems"])], rows)
        expected = case["expected"]
        for name, triples in (
            ("aggregate", count_triples(comparisons)),
            ("within_rater", count_triples_within_raters(comparisons)),
        ):
            if name not in expected:
                continue
            counts = [triples.decided, triples.circular, triples.undecided, triples.share]
            names = ("decided_triples", "circular", "undecided_triples", "rate")
            assert counts == [expected[name][each] for each in names], case["id"]
            if "consistence" in expected[name]:
                assert list(triples.wins) == expected[name]["wins"]
                assert triples.consistence == pytest.approx(expected[name]["consistence"], abs=1e-12)


def drawn_comparisons(seed, *, n=300, n_systems=4, ties=True, styles=0):
    rng = np.random.default_rng(seed)
    first = rng.integers(0, n_systems, n)
    second = (first + rng.integers(1, n_systems, n)) % n_systems
    outcomes = rng.integers(0, 3 if ties else 2, n)
    rows = np.column_stack((rng.integers(0, 12, n), rng.integers(0, 9, n), first, second, outcomes))
    return Comparisons.of([f"s{system}" for system in range(n_systems)], rows, rng.normal(size=(n, styles)))


@pytest.mark.parametrize("side", [False, True])
def test_rao_and_kuppers_model_is_the_maximum_of_its_likelihood(side):
    comparisons = drawn_comparisons(3)
    fitted = fit(Samples(comparisons).cells, ties="rao-kupper", side=side)
    sides = comparisons.outcomes

    def loss(parameters):
        strengths, theta = np.append(parameters[:3], -parameters[:3].sum()), np.exp(parameters[3])
        eta = strengths[comparisons.first] - strengths[comparisons.second] + side * parameters[4]
        first, second = 1 / (1 + theta * np.exp(-eta)), 1 / (1 + theta * np.exp(eta))
        return -np.log(np.choose(sides, (first, second, 1 - first - second))).sum()

    best = minimize(loss, [0.0, 0, 0, 0.5, 0], method="BFGS", options={"gtol": 1e-7})
    assert fitted.strengths[:3] == pytest.approx(best.x[:3], abs=1e-4)
    assert fitted.nu == pytest.approx(np.exp(best.x[3]), abs=1e-4)
    assert fitted.loglik == pytest.approx(-best.fun, abs=1e-6)


def test_half_wins_are_a_logistic_regression_and_dropping_ties_is_one_without_them():
    comparisons = drawn_comparisons(4)
    wins = np.choose(comparisons.outcomes, (1.0, 0.0, 0.5))

    def loss(parameters, rows):
        strengths = np.append(parameters, -parameters.sum())
        eta = (strengths[comparisons.first] - strengths[comparisons.second])[rows]
        return -(wins[rows] * -np.logaddexp(0, -eta) + (1 - wins[rows]) * -np.logaddexp(0, eta)).sum()

    for ties, rows in (("half", slice(None)), ("drop", comparisons.outcomes != TIE)):
        best = minimize(loss, np.zeros(3), args=(rows,), method="BFGS", options={"gtol": 1e-8})
        fitted = fit(Samples(comparisons).cells, ties=ties)
        assert fitted.strengths[:3] == pytest.approx(best.x, abs=1e-5)
        assert fitted.nu is None


def test_style_takes_its_share_of_the_wins():
    """What is longer wins, whichever the system: the strengths come out even once length is known."""
    rng = np.random.default_rng(5)
    longer = rng.normal(size=3000)
    first = (longer > 0).astype(int)  # the system 1 writes at length
    outcomes = (rng.random(3000) > 1 / (1 + np.exp(-2 * longer))).astype(int)
    rows = np.column_stack((np.arange(3000) % 50, np.arange(3000) % 7, first, 1 - first, outcomes))
    without = fit(Samples(Comparisons.of(("short", "long"), rows)).cells)
    with_style = fit(Samples(Comparisons.of(("short", "long"), rows, longer[:, None])).cells)
    assert without.strengths[1] > 0.5
    assert abs(with_style.strengths[1]) < 0.25
    assert with_style.effects == pytest.approx([2], abs=0.3)


@settings(max_examples=100 if TEST_ALL else 15)
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from(["davidson", "half", "rao-kupper", "drop"]))
def test_it_does_not_matter_which_side_or_name_or_row_is_first(seed, side, ties):
    comparisons = drawn_comparisons(seed, n=60)
    fitted = fit(Samples(comparisons).cells, ties=ties, side=side)
    swapped = np.choose(comparisons.outcomes, (SECOND, FIRST, TIE))
    rows = np.column_stack(
        (comparisons.questions, comparisons.raters, comparisons.second, comparisons.first, swapped)
    )
    mirrored = fit(Samples(Comparisons.of(comparisons.systems, rows[::-1])).cells, ties=ties, side=side)
    assert mirrored.reason == fitted.reason
    if fitted.strengths is None:
        return
    assert mirrored.strengths == pytest.approx(fitted.strengths, abs=1e-6)
    assert fitted.strengths.sum() == pytest.approx(0, abs=1e-9)
    if side:
        assert mirrored.side == pytest.approx(-fitted.side, abs=1e-6)
    renamed = rows.copy()
    renamed[:, 2:4] = 3 - renamed[:, 2:4]
    others = fit(Samples(Comparisons.of(comparisons.systems, renamed)).cells, ties=ties, side=side)
    assert others.strengths == pytest.approx(fitted.strengths[::-1], abs=1e-6)


def test_the_report_is_null_with_its_reason_where_it_would_mislead():
    one_question = [
        (0, rater, first, 1 - first, outcome)
        for rater in range(3)
        for first in (0, 1)
        for outcome in range(3)
    ]
    facts = report(Comparisons.of(("a", "b"), one_question), ModelChoice(), styles=(), version="test")
    assert [row["reason"] for row in facts["strengths"]] == ["one question"] * 2
    won = [(question, 0, 0, 1, FIRST) for question in range(9)]
    facts = report(Comparisons.of(("a", "b"), won), ModelChoice(replicates=10), styles=(), version="test")
    assert facts["reason"] == {"strengths": SEPARATED}
    assert [row["strength"] for row in facts["strengths"]] == [None, None]
    assert facts["triples"]["reason"] == "no decided triples"
    assert "One judge" in facts["warnings"][0]
    rare = [*won, (9, 0, 0, 1, SECOND)]
    facts = report(Comparisons.of(("a", "b"), rare), ModelChoice(replicates=200), styles=(), version="test")
    assert facts["strengths"][0]["strength"] > 0
    assert "not estimable in" in facts["strengths"][0]["reason"]
    assert fit(Samples(Comparisons.of(("a", "b"), [])).cells).reason == NO_COMPARISONS


@pytest.mark.parametrize("name", ["separated-by-ties", "first-shown-always-wins"])
def test_a_replicate_that_ties_or_the_side_separate_has_no_estimate_however_large(name):
    case = CASES[name]
    options = {"side": case["options"]["side"]}
    cells = Samples(comparisons_of(case)).cells
    near = fit(cells, pseudo=1.0, **options)
    assert near.strengths is not None
    for size in (1, 1e3, 1e6):
        assert fit(cells.with_counts(cells.counts * size), **options).reason == SEPARATED
        assert not len(fit_samples(cells, cells.counts[None] * size, near).strengths)
