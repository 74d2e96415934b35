"""Agreement per aspect: against krippendorff, numpy and kappas written out."""

from dataclasses import replace
from itertools import permutations
from statistics import median

import krippendorff
import numpy as np
import pytest

from metrics.agreement import breakdown as per_aspect
from metrics.agreement import intervals
from metrics.agreement.data import ratings_of
from metrics.agreement.recipes import DEFAULT, NONE, with_parameters
from metrics.agreement.report import ASPECTS_AFTER_KAPPA, report
from tests.metrics.agreement.made import crowd

RATINGS = crowd(items=40, workers=6, per_item=4)
_CHANCE = np.random.default_rng(5)
#: An aspect near the overall score that a tenth of the ratings leave out, and one that nobody agrees on.
TOPICALITY = np.where(
    _CHANCE.random(len(RATINGS)) < 0.1,
    np.nan,
    np.clip(RATINGS.scores + _CHANCE.integers(-1, 2, len(RATINGS)), 1, 5),
)
BACKGROUND = _CHANCE.integers(1, 3, len(RATINGS)).astype(float)
ASPECTS = {"topicality": TOPICALITY, "background": BACKGROUND}


def rows_of(recipe=NONE, ratings=RATINGS, aspects=None):
    said = report(ratings, recipe, aspects=aspects or ASPECTS, replicates=0, splits=6)
    return {row["aspect"]: row for row in said["aspects"]}


def table_of(values):
    """Workers by items, nan where nothing was said."""
    table = np.full((RATINGS.n_workers, RATINGS.n_items), np.nan)
    table[RATINGS.workers, RATINGS.items] = values
    return table


def quadratic_kappa(one, other):
    """Cohen's kappa with quadratic weights, from its definition."""
    return 1 - np.square(one - other).mean() / np.square(one[:, None] - other[None, :]).mean()


def columns():
    return {"score": RATINGS.scores.astype(float), **ASPECTS}


@pytest.mark.parametrize("name", ["score", "topicality", "background"])
def test_alpha_is_that_of_the_package_krippendorff(name):
    values = table_of(columns()[name])
    expected = krippendorff.alpha(reliability_data=values, level_of_measurement="interval")
    assert rows_of()[name]["before"]["alpha"] == pytest.approx(expected)


@pytest.mark.parametrize("name", ["score", "topicality", "background"])
def test_kappa_is_the_median_of_medians_over_pairs_of_workers(name):
    table = table_of(columns()[name])
    kappas: dict[int, list[float]] = {}
    for one, other in permutations(range(RATINGS.n_workers), 2):
        both = ~np.isnan(table[one]) & ~np.isnan(table[other])
        if both.sum() >= 5:
            kappas.setdefault(one, []).append(quadratic_kappa(table[one][both], table[other][both]))
    found = rows_of()[name]["before"]
    assert found["kappa"] == pytest.approx(median(median(each) for each in kappas.values()))
    assert found["workers"] == len(kappas)


def test_pearson_is_with_the_overall_score_of_the_same_ratings():
    rows = rows_of()
    for name, values in ASPECTS.items():
        there = ~np.isnan(values)
        expected = np.corrcoef(values[there], RATINGS.scores[there])[0, 1]
        assert rows[name]["before"]["pearson"] == pytest.approx(expected)
        assert rows[name]["before"]["n_ratings"] == there.sum()
    assert rows["score"]["before"]["pearson"] is None
    assert rows["score"]["before"]["reason"]["pearson"] == per_aspect.OF_ITSELF


def test_an_aspect_that_is_the_score_has_the_figures_of_the_score():
    rows = rows_of(aspects={"same": RATINGS.scores.astype(float)})
    same = rows["same"]["before"]
    assert same["pearson"] == pytest.approx(1)
    for name in ("n_ratings", "n_items", "workers", "alpha", "kappa", "split_half", "spearman_brown"):
        assert same[name] == rows["score"]["before"][name]


def test_alpha_of_an_aspect_has_the_interval_of_the_alpha_of_a_study_with_those_scores():
    given = np.nan_to_num(TOPICALITY, nan=3)
    own = replace(RATINGS, scores=given.astype(np.int16))
    expected = report(own, NONE, replicates=50, splits=3)["alpha"]["before"]["ci"]
    rows = report(RATINGS, NONE, aspects={"own": given}, replicates=50, splits=3)["aspects"]
    low, high = rows[1]["before"]["ci"]
    assert [low, high] == pytest.approx(expected)
    assert low < rows[1]["before"]["alpha"] < high
    assert rows_of()["topicality"]["before"]["reason"]["ci"] == intervals.NOT_ASKED


def test_the_halves_correlate_as_spearman_and_brown_say():
    row = rows_of()["topicality"]["before"]
    assert row["spearman_brown"] == pytest.approx(2 * row["split_half"] / (1 + row["split_half"]))


def test_after_a_kappa_filter_the_overall_score_has_no_figures_and_aspects_those_of_who_stayed():
    recipe = with_parameters(DEFAULT, {"kappa_below": "0.4"})
    said = report(RATINGS, recipe, aspects=ASPECTS, replicates=0, splits=6)
    assert said["removed_workers"]
    assert ASPECTS_AFTER_KAPPA in said["warnings"]
    rows = {row["aspect"]: row["after_workers"] for row in said["aspects"]}
    for name in ("alpha", "kappa", "split_half", "spearman_brown"):
        assert rows["score"][name] is None
        assert rows["score"]["reason"][name] == per_aspect.SELECTED
    gone = [RATINGS.worker_names.index(row["worker"]) for row in said["removed_workers"]]
    table = table_of(TOPICALITY)
    table[gone] = np.nan
    expected = krippendorff.alpha(reliability_data=table, level_of_measurement="interval")
    assert rows["topicality"]["alpha"] == pytest.approx(expected)


def test_repeated_ratings_of_an_item_do_not_count():
    once = [(f"q{item}", f"w{worker}", 1 + (item + worker) % 4) for item in range(8) for worker in range(3)]
    values = np.array([score for *_, score in once], dtype=float)
    rows = rows_of(ratings=ratings_of(once), aspects={"a": values})
    again = rows_of(ratings=ratings_of([*once, ("q0", "w0", 4)]), aspects={"a": np.append(values, 4)})
    assert rows == again


def test_what_would_mislead_is_null_with_a_reason():
    one_item = ratings_of([("q", f"w{worker}", worker) for worker in range(1, 5)])
    figures = rows_of(ratings=one_item, aspects={"a": np.array([1.0, 2.0, 2.0, np.nan])})["a"]["before"]
    assert {name: figures[name] for name in ("alpha", "kappa", "split_half")} == dict.fromkeys(
        ("alpha", "kappa", "split_half")
    )
    assert figures["reason"]["alpha"] == per_aspect.ONE_ITEM
    assert figures["reason"]["kappa"] == per_aspect.NO_KAPPA
    constant = rows_of(aspects={"a": np.full(len(RATINGS), 2.0)})["a"]["before"]
    assert constant["reason"]["alpha"] == "not defined: all ratings are the same"
    assert constant["reason"]["pearson"] == "not defined: all ratings are the same"


def test_ratings_that_vary_are_not_called_the_same():
    """89 fives and a 3: in each split, the means of one half are all 5; that is what the reason says."""
    skewed = ratings_of(
        [(f"i{item}", f"w{n}", 3 if (item, n) == (7, 1) else 5) for item in range(30) for n in range(3)]
    )
    figures = report(skewed, NONE, replicates=0, splits=3)["reliability"]
    assert figures["split_half"] is None
    assert (
        figures["reason"]["split_half"]
        == "not defined: in each split, all items have the same mean in one half"
    )
    aspect = rows_of(
        ratings=ratings_of([("a", "v", 4), ("a", "w", 4), ("b", "v", 4)]),
        aspects={"a": np.array([1.0, 2, 3])},
    )
    assert aspect["a"]["before"]["reason"]["pearson"] == "not defined: all overall scores are the same"


def test_fractions_are_refused():
    with pytest.raises(ValueError, match="whole numbers"):
        rows_of(aspects={"a": np.full(len(RATINGS), 2.5)})


def test_without_aspects_the_report_is_what_it_was():
    said = report(RATINGS, NONE, replicates=0, splits=3)
    assert "aspects" not in said
    assert "aspects" not in said["signatures"]
