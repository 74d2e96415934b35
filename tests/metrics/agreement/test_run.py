import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.agreement.alpha import alpha_of
from metrics.agreement.data import ratings_of
from metrics.agreement.filters import Checks, run
from metrics.agreement.planning import CROWDS, simulated
from metrics.agreement.recipes import DEFAULT, KPQA_2021, NONE, named, with_parameters
from metrics.agreement.scores import item_scores
from tests.metrics.agreement.goldens import golden, ratings_from

PIPELINE = golden("pipeline")
RATINGS = ratings_from(PIPELINE["ratings"])
EXPECTED = PIPELINE["expected"]
BOTH = with_parameters(
    DEFAULT,
    {"rules": "checks,kappa,z", "z_limit": 1, "z_cap": 5, "z_least": 1, "z_keep": 0, "z_ties": "submission"},
)


def test_the_kpqa_recipe_removes_what_the_golden_run_removed():
    done = run(RATINGS, KPQA_2021)
    assert np.flatnonzero(~done.kept).tolist() == EXPECTED["z_only"]["removed_rows"]
    assert alpha_of(RATINGS.only(done.kept)).value == pytest.approx(
        EXPECTED["z_only"]["alpha_interval"], abs=1e-9
    )
    assert item_scores(RATINGS, done.kept).mean == pytest.approx(EXPECTED["z_only"]["mean"], abs=1e-9)


def test_the_default_recipe_removes_the_golden_workers():
    done = run(RATINGS, DEFAULT)
    assert np.flatnonzero(done.removed_workers).tolist() == [3, 5, 7]
    assert alpha_of(RATINGS.only(done.kept)).value == pytest.approx(0.6207399626517274, abs=1e-9)
    assert item_scores(RATINGS, done.kept).mean == pytest.approx(EXPECTED["mean_after_workers"], abs=1e-9)


def test_workers_go_before_responses():
    done = run(RATINGS, BOTH)
    assert np.flatnonzero(~done.kept).tolist() == EXPECTED["workers_then_z"]["removed_rows"]
    assert alpha_of(RATINGS.only(done.kept)).value == pytest.approx(0.9036371087149893, abs=1e-9)


def test_the_recipe_none_keeps_everything():
    assert run(RATINGS, NONE).kept.all()


def test_a_repeated_rating_goes_under_every_recipe_and_the_first_stays():
    ratings = ratings_of([("q", "a", 1), ("q", "b", 2), ("q", "a", 5)])
    done = run(ratings, NONE)
    assert done.kept.tolist() == [True, True, False]
    assert done.reasons[done.removed_because(ratings)[2]] == "duplicate"


def checks(presented, failed):
    return Checks(np.array(presented), np.array(failed))


def test_a_worker_removed_by_checks_is_not_looked_at_by_kappa():
    shown = checks([4] * 14, [2 if worker == 3 else 0 for worker in range(14)])
    done = run(RATINGS, DEFAULT, checks=shown)
    assert [done.verdicts[by].rule for by in done.removed_by[[3, 5, 7]]] == [
        "attention checks",
        "kappa",
        "kappa",
    ]


def test_a_kappa_exactly_at_the_limit_removes_nobody():
    rows = [(f"q{item}", worker, 1 + item % 5) for item in range(10) for worker in ("a", "b", "c")]

    done = run(ratings_of(rows), with_parameters(DEFAULT, {"rules": "kappa", "kappa_below": 1}))

    assert done.kappas.kappa.tolist() == [1, 1, 1]
    assert not done.removed_workers.any()


def test_a_worker_shown_too_few_checks_is_undetermined_and_stays():
    done = run(RATINGS, DEFAULT, checks=checks([3] + [4] * 13, [3] + [0] * 13))
    assert done.undetermined[0]
    assert not done.removed_workers[0]


def test_a_rule_without_anything_to_look_at_does_not_run():
    assert [verdict.rule for verdict in run(RATINGS, DEFAULT).verdicts] == ["kappa"]


def test_fast_workers_test_accounts_and_straight_liners_go_first_where_the_recipe_says_so():
    rows = [(f"q{item}", worker, 1 + item % 5) for item in range(12) for worker in ("fast", "test-1", "calm")]
    rows += [(f"q{item}", "always three", 3) for item in range(12)]
    ratings = ratings_of(rows)
    seconds = np.array([0.5 if worker == "fast" else 9.0 for _, worker, _ in rows])
    recipe = with_parameters(
        NONE, {"rules": "technical", "seconds_below": 2, "straight_share": 0.9, "test_accounts": "test-*"}
    )
    done = run(ratings, recipe, seconds=seconds)
    removed = {
        ratings.worker_names[w]: done.verdicts[done.removed_by[w]].rule
        for w in np.flatnonzero(done.removed_workers)
    }
    assert removed == {"fast": "too fast", "test-1": "test accounts", "always three": "straight-lining"}


def test_pure_noise_is_lifted_by_the_response_filter():
    noise = simulated(CROWDS["noise"], seed=1).ratings
    after = alpha_of(noise.only(run(noise, KPQA_2021).kept)).value
    assert after == pytest.approx(0.415, abs=0.03)


@settings(max_examples=15, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(["default", "adem-2017"]))
def test_the_order_of_rows_changes_no_verdict_on_workers(random, name):
    order = list(range(len(RATINGS)))
    random.shuffle(order)
    recipe = named(name)
    assert (run(RATINGS.only(np.array(order)), recipe).removed_by == run(RATINGS, recipe).removed_by).all()


@settings(max_examples=10, deadline=None)
@given(st.sampled_from(["default", "adem-2017", "kpqa-2021"]))
def test_reversing_the_scale_changes_nothing_that_is_removed(name):
    reversed_scores = ratings_from([(item, worker, 6 - score) for item, worker, score in PIPELINE["ratings"]])
    assert (run(reversed_scores, named(name)).kept == run(RATINGS, named(name)).kept).all()
