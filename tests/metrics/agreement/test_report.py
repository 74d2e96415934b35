"""Split-half, cross-fitting, nulls and the honest report made of them."""

import json
from dataclasses import replace

import numpy as np
import pytest

from metrics.agreement.alpha import alpha_of
from metrics.agreement.cross_fitting import cross_fitted
from metrics.agreement.data import RatingGroups, ratings_of
from metrics.agreement.filters import Checks, run
from metrics.agreement.intervals import expected_alpha, null_alpha, permuted
from metrics.agreement.planning import CROWDS, Crowd, simulated
from metrics.agreement.quotes import quotes
from metrics.agreement.recipes import DEFAULT, KPQA_2021, NONE, with_parameters
from metrics.agreement.reliability import split_half, splits_of_ratings
from metrics.agreement.report import cautions_about, report
from metrics.agreement.scores import item_scores
from tests.metrics.agreement.goldens import golden, ratings_from
from tests.metrics.agreement.made import crowd

RATINGS = ratings_from(golden("pipeline")["ratings"])
MODERATE = simulated(CROWDS["moderate"], items=400, seed=2)
NOISE = simulated(CROWDS["noise"], items=800, seed=2).ratings


def test_a_split_gives_each_half_half_of_every_item():
    ratings = ratings_of([(f"q{item}", f"w{worker}", 3) for item in range(20) for worker in range(item)])
    for second in splits_of_ratings(ratings, 5, np.random.default_rng(1)):
        n = np.bincount(ratings.items)
        there = np.bincount(ratings.items, weights=second)
        assert ((there == n // 2) | (there == (n + 1) // 2)).all()


def test_reliability_sees_through_what_the_response_filter_manufactures():
    for recipe in (NONE, KPQA_2021):
        found = split_half(NOISE, recipe)
        assert found.full_length.value is None or found.full_length.value < 0.2


def test_data_drawn_with_the_same_seed_do_not_look_reliable():
    scores = np.random.default_rng(0).integers(1, 6, 10_000)
    ratings = ratings_of([(f"q{n // 5}", f"w{n}", int(score)) for n, score in enumerate(scores)])
    assert abs(split_half(ratings, NONE, seed=0).half.value) < 0.1


def test_reliability_is_that_of_the_whole_filter_in_each_half():
    raw = split_half(MODERATE.ratings, NONE).full_length.value
    checks = Checks(MODERATE.presented, MODERATE.failed)
    assert split_half(MODERATE.ratings, DEFAULT, checks=checks).full_length.value > raw + 0.03


def test_spearman_brown_follows_from_the_halves_and_two_items_have_none():
    found = split_half(RATINGS, NONE, splits=1)
    assert found.full_length.value == pytest.approx(2 * found.half.value / (1 + found.half.value))
    ratings = ratings_of([(item, worker, 3) for item in "ab" for worker in "vwxy"])
    assert (
        split_half(ratings, NONE).full_length.reason
        == "not defined: fewer than three items keep a rating in both halves"
    )


def test_cross_fitting_removes_whom_the_other_items_give_away():
    found = cross_fitted(RATINGS, DEFAULT, seed=1)
    assert found.alpha.value == pytest.approx(0.616, abs=0.02)
    assert found.removed_workers == pytest.approx(3, abs=0.5)
    assert cross_fitted(RATINGS, NONE).alpha.value == pytest.approx(0.387, abs=0.01)


def test_permuting_keeps_every_workers_scores_and_items():
    shuffled = permuted(RATINGS, np.random.default_rng(0))
    assert (shuffled.items == RATINGS.items).all()
    for worker in range(RATINGS.n_workers):
        mine = RATINGS.workers == worker
        assert sorted(shuffled.scores[mine]) == sorted(RATINGS.scores[mine])


def test_the_null_of_the_response_filter_is_near_what_it_makes_of_noise():
    null = null_alpha(MODERATE.ratings, KPQA_2021, permutations=5)
    assert null.before.value == pytest.approx(0, abs=0.03)
    assert null.after.value == pytest.approx(0.45, abs=0.06)


@pytest.mark.parametrize("name", ["clean", "moderate", "heavy", "noise"])
def test_a_crowd_of_the_same_raw_alpha_comes_out_of_z_as_this_one_does(name):
    for seed in range(3):
        ratings = simulated(CROWDS[name], items=300, per_item=10, workers=60, seed=seed).ratings
        kept = ratings.only(run(ratings, KPQA_2021).kept)
        expected = expected_alpha(ratings, KPQA_2021, crowds=5, seed=seed)
        assert expected.before.value == pytest.approx(alpha_of(ratings).value, abs=0.01)
        assert expected.after.value == pytest.approx(alpha_of(kept).value, abs=0.05)


def test_reliability_is_that_of_the_means_where_workers_have_few_ratings():
    """300 items, 200 workers of 15 ratings, a quarter of them spam; the truth is r squared of the means."""
    crowd = Crowd(spam=0.25, uneven=0.0, busier=1.0)
    for seed in range(20):
        study = simulated(crowd, items=300, per_item=10, workers=200, seed=seed)
        means = item_scores(study.ratings, run(study.ratings, DEFAULT).kept).mean
        there = ~np.isnan(means)
        truth = np.corrcoef(means[there], study.truth[there])[0, 1] ** 2
        found = split_half(study.ratings, DEFAULT, splits=5, seed=seed)
        assert found.full_length.value == pytest.approx(truth, abs=0.03)


def test_cross_fitted_alpha_is_near_that_in_sample_where_workers_have_few_ratings():
    study = simulated(Crowd(spam=0.25, uneven=0.0, busier=1.0), items=300, workers=200, seed=1)
    said = report(study.ratings, DEFAULT, replicates=0)
    after = said["alpha"]["after_workers"]
    assert after["cross_fitted"] == pytest.approx(after["interval"], abs=0.08)
    assert after["cross_fitted_removed_workers"] > 0.8 * after["removes"]
    assert said["reliability"]["cautions"] == []


def test_where_less_is_removed_on_other_items_the_report_says_so_beside_the_figure():
    """Each worker rates twelve items, of which the kappa of eleven is the least that a fold may decide on."""
    study = simulated(Crowd(spam=0.25, uneven=0.0, busier=1.0), items=300, per_item=10, workers=240, seed=3)
    recipe = with_parameters(DEFAULT, {"kappa_least": 14})
    done = run(study.ratings, recipe)
    halves = replace(split_half(study.ratings, recipe, splits=2), removed_workers=0.5)
    [caution] = cautions_about(study.ratings, done, halves)
    assert "0.5 workers are removed on average" in caution


def test_where_everybody_is_removed_nothing_can_be_quoted():
    noise = simulated(CROWDS["noise"], items=200, per_item=10, workers=60, seed=1).ratings
    said = report(noise, DEFAULT, replicates=10)
    assert said["reliability"]["spearman_brown"] is None
    assert said["reliability"]["ci"] is None
    assert "the filter leaves" in said["reliability"]["reason"]["spearman_brown"]
    assert quotes(said)[0].startswith("Nothing can be quoted: ")


def test_the_reliability_has_the_digits_that_its_signature_had_before():
    ratings = crowd(items=2100, workers=30, per_item=4, seed=2)

    found = split_half(ratings, NONE, splits=7, replicates=40, seed=1)

    # The last digits are the processor's: libraries add in the order of its vector instructions.
    assert found.half.value == pytest.approx(0.5815227812837135, rel=1e-12)
    assert found.sd == pytest.approx(0.005293593164370815, rel=1e-12)
    assert found.full_length.ci == pytest.approx((0.6072397575751607, 0.8217353554656208), rel=1e-12)


def test_the_reliability_has_an_interval_that_comes_from_the_seed():
    ratings = simulated(CROWDS["clean"], items=80, per_item=8, workers=30, seed=1).ratings
    one, same, other = (report(ratings, NONE, replicates=200, seed=seed)["reliability"] for seed in (1, 1, 2))
    low, high = one["ci"]
    assert low < one["spearman_brown"] < high
    assert high - low < 0.1
    assert one["ci"] == same["ci"] != other["ci"]
    assert "95 % interval" in quotes(report(ratings, NONE, replicates=200))[0]


@pytest.mark.long
@pytest.mark.parametrize(("workers", "per_item"), [(40, 10), (12, 5)])
def test_intervals_of_the_reliability_hold_the_true_one(workers, per_item):
    found = [
        split_half(
            simulated(CROWDS["clean"], items=60, per_item=per_item, workers=workers, seed=seed).ratings,
            NONE,
            splits=5,
            replicates=100,
        ).full_length
        for seed in range(40)
    ]
    true = np.mean([figure.value for figure in found])
    assert np.mean([figure.ci[0] <= true <= figure.ci[1] for figure in found]) >= 0.85


def test_three_items_and_two_raters_have_no_interval_and_a_caution():
    rows = [(item, worker, score) for item, score in (("a", 1), ("b", 3), ("c", 5)) for worker in "vw"]
    said = report(ratings_of(rows), NONE, replicates=50)
    assert said["reliability"]["ci"] is None
    assert said["reliability"]["reason"]["ci"] == "not defined: it needs five items and five workers"
    [caution] = said["reliability"]["cautions"]
    assert "rests on 3 items and 2 workers" in caution
    assert caution in said["warnings"]
    assert quotes(said)[0].endswith(caution)


def test_one_item_with_two_ratings_is_told_to_give_an_alpha_of_0_by_construction():
    rows = [("a", "v", 1), ("a", "w", 2), ("b", "v", 4), ("c", "w", 5)]
    said = report(ratings_of(rows), NONE, replicates=0)
    assert said["alpha"]["before"]["interval"] == pytest.approx(0)
    assert any("Only one item has two ratings" in warning for warning in said["warnings"])


def test_the_report_on_the_golden_data():
    said = report(RATINGS, DEFAULT, replicates=50)
    assert said["alpha"]["before"]["interval"] == pytest.approx(0.38715322607659686, abs=1e-9)
    assert said["alpha"]["before"]["ordinal"] == pytest.approx(0.3807259173243449, abs=1e-9)
    assert said["alpha"]["after_workers"]["interval"] == pytest.approx(0.6207399626517274, abs=1e-9)
    assert {row["worker"] for row in said["removed_workers"]} == {"worker 3", "worker 5", "worker 7"}
    assert said["removed_workers"][0]["value"] == pytest.approx(-0.03351005456203526, abs=1e-9)
    assert (said["n_ratings"], said["n_items"], said["n_workers"], said["n_kept"]) == (600, 60, 14, 470)
    assert said["items"][0] == {
        "item": "item 0",
        "n_raw": 10,
        "n_kept": 9,
        "mean": pytest.approx(1.8888888888888888),
        "sd": pytest.approx(1.3642, abs=1e-3),
        "median": 1.0,
        "trimmed_mean": pytest.approx(1.5714, abs=1e-3),
        "score_adjusted": pytest.approx(1.9, abs=0.4),
    }
    low, high = said["alpha"]["before"]["ci"]
    assert low < 0.387 < high


def test_alpha_after_z_has_its_null_and_no_sentence_says_it_without():
    said = report(RATINGS, KPQA_2021, replicates=0, seed=7, version="x 1")
    after = said["alpha"]["after_z"]
    assert after["interval"] == pytest.approx(0.8426400373745763, abs=1e-9)
    assert after["null"] < 0.5
    assert after["expected"] == pytest.approx(after["interval"], abs=0.05)
    assert after["expected_before"] == pytest.approx(0.387, abs=0.02)
    assert "corrected" not in after
    assert said["signatures"]["filter"] == (
        "kpqa-2021|version=1|rules=z|z_limit=1|z_cap=5|z_ddof=0|z_least=2|z_keep=0|z_ties=submission"
        "|seed=7|methods=2|x 1"
    )
    sentences = quotes(said)
    assert sentences[0].startswith("Quote this: the published means have a reliability of 0.")
    [about_z] = [sentence for sentence in sentences if "0.843" in sentence]
    assert "permuted within worker" in about_z
    assert "That is no agreement between people" in about_z


def test_a_report_without_z_replicates_or_lists_and_removed_shares_by_group():
    said = report(RATINGS, DEFAULT, replicates=0)
    after, before = said["alpha"]["after_z"], said["alpha"]["before"]
    assert after["interval"] is None
    assert after["reason"]["interval"] == "the recipe removes no single responses"
    assert before["ci"] is None
    assert before["reason"] == {"ci": "no interval was asked for (0 replicates)"}
    assert report(RATINGS, run(RATINGS, DEFAULT), replicates=0) == said  # of a run that was made before
    assert "items" not in report(RATINGS, DEFAULT, replicates=0, rows=False)
    systems = RatingGroups((np.arange(600) % 2).astype(np.int32), ["one", "two"])
    removed = report(RATINGS, DEFAULT, groups={"system": systems}, replicates=0)["removed"]
    assert [row["system"] for row in removed["by_system"]] == ["one", "two"]
    assert sum(row["removed"] for row in removed["by_system"]) == removed["removed"] == 130


def test_what_is_not_defined_is_null_with_words():
    for rows, reason in (
        ([("a", "w", 1), ("b", "w", 2)], "all ratings are by one worker"),
        ([("a", "v", 1), ("b", "w", 2)], "no item has two ratings"),
        ([("a", "v", 4), ("a", "w", 4), ("b", "v", 4), ("b", "w", 4)], "all ratings are the same"),
        ([], "there are no ratings"),
    ):
        said = report(ratings_of(rows), DEFAULT, replicates=10)
        assert said["alpha"]["before"]["interval"] is None
        assert said["alpha"]["before"]["reason"]["interval"] == f"not defined: {reason}"
        assert said["reliability"]["spearman_brown"] is None
        assert said["reliability"]["reason"]["spearman_brown"]
        assert "NaN" not in json.dumps(said)


def test_the_report_is_the_same_for_the_same_seed():
    assert report(RATINGS, KPQA_2021, replicates=20, seed=3) == report(
        RATINGS, KPQA_2021, replicates=20, seed=3
    )


def test_two_annotators_are_correlated_by_type():
    rows = [(f"q{n}", worker, 1 + (n + (worker == "b") * (n == 4)) % 5) for n in range(8) for worker in "ab"]
    codes = np.repeat([0, 1], 8).astype(np.int32)
    said = report(ratings_of(rows), NONE, groups={"type": RatingGroups(codes, ["who", "why"])}, replicates=0)
    assert said["annotators"]["n_items"] == 8
    assert said["annotators"]["by_type"][0] == {"type": "who", "n_items": 4, "pearson": pytest.approx(1)}
    assert said["annotators"]["by_type"][1]["pearson"] < 1
