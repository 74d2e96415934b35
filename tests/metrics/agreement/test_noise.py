"""The published z filter manufactures agreement: what is known of it holds for our code."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.agreement.alpha import alpha_of
from metrics.agreement.filters import Checks, run
from metrics.agreement.planning import CROWDS, simulated
from metrics.agreement.recipes import RECIPES
from metrics.agreement.scores import adjusted, item_scores


def alpha_after(recipe, study):
    return alpha_of(study.ratings.only(run(study.ratings, RECIPES[recipe]).kept)).value


@given(st.integers(0, 2**32))
@settings(max_examples=3, deadline=None)
def test_noise_is_lifted_to_an_alpha_of_two_fifths(seed):
    study = simulated(CROWDS["noise"], items=10_000, seed=seed)

    assert alpha_after("none", study) == pytest.approx(0, abs=0.01)
    assert alpha_after("kpqa-2021", study) == pytest.approx(0.415, abs=0.03)


def moderate():
    study = simulated(CROWDS["moderate"], seed=1)
    return study, run(study.ratings, RECIPES["default"], checks=Checks(study.presented, study.failed))


def error(scores, study, which=slice(None)):
    return float((((scores - study.truth) ** 2)[which].mean()) ** 0.5)


def test_a_moderate_crowd_comes_near_to_the_published_figures():
    study, _ = moderate()

    assert alpha_after("none", study) == pytest.approx(0.385, abs=0.05)
    assert alpha_after("kpqa-2021", study) == pytest.approx(0.827, abs=0.02)


def test_the_z_filter_takes_contested_items_away_from_the_truth():
    study, _ = moderate()
    z = run(study.ratings, RECIPES["kpqa-2021"])
    plain = item_scores(study.ratings).mean
    filtered = item_scores(study.ratings, z.kept).mean

    assert error(filtered, study, study.contested) > error(plain, study, study.contested) + 0.1


def test_removing_workers_brings_the_score_nearer_to_the_truth():
    study, done = moderate()
    plain = item_scores(study.ratings).mean
    filtered = item_scores(study.ratings, done.kept).mean

    assert error(filtered, study) < error(plain, study) - 0.1


def test_allowing_for_workers_brings_it_nearer_still():
    study, done = moderate()
    filtered = item_scores(study.ratings, done.kept).mean

    assert error(adjusted(study.ratings.only(done.standing)).quality, study) < error(filtered, study)
