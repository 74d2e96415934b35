import numpy as np
import pytest

from metrics.agreement.data import Ratings, ratings_of
from metrics.agreement.scores import adjusted
from tests.metrics.agreement.goldens import golden, ratings_from


def test_without_shrinking_it_is_the_published_procedure():
    expected = golden("p913")
    found = adjusted(ratings_from(expected["ratings"]), shrink=0)

    assert found.settled
    assert found.quality == pytest.approx(expected["quality"], abs=1e-5)
    assert found.bias == pytest.approx(expected["observer_bias"], abs=1e-5)
    assert found.inconsistency == pytest.approx(expected["observer_inconsistency"], abs=1e-5)


def test_a_worker_who_rates_two_points_higher_is_found_and_allowed_for():
    truth = [1, 2, 3, 1, 2, 3]
    rows = [(f"i{n}", worker, score) for n, score in enumerate(truth) for worker in ("a", "b", "c")]
    rows += [(f"i{n}", "high", score + 2) for n, score in enumerate(truth) if n < 3]
    found = adjusted(ratings_of(rows))

    assert found.bias[3] - found.bias[0] == pytest.approx(2)
    assert found.quality[0] == pytest.approx(found.quality[3])
    assert np.mean(found.bias) == pytest.approx(0)


def test_the_bias_of_workers_sums_to_zero():
    assert np.sum(adjusted(ratings_from(golden("p913")["ratings"])).bias) == pytest.approx(0)


def busy_and_constant():
    """Ten honest workers rate five items each out of thirty; one gives 3 to all of them."""
    rng = np.random.default_rng(5)
    truth = rng.integers(1, 6, 30)
    rows = [
        (f"i{item}", f"w{w}", int(np.clip(truth[item] + rng.integers(-1, 2), 1, 5)))
        for w in range(10)
        for item in rng.choice(30, 12, replace=False)
    ]
    return truth, ratings_of(rows + [(f"i{n}", "constant", 3) for n in range(30)])


def test_shrinking_keeps_one_constant_worker_from_deciding_alone():
    truth, ratings = busy_and_constant()
    order = [int(name[1:]) for name in ratings.item_names]

    def fit(shrink):
        return np.corrcoef(adjusted(ratings, shrink=shrink).quality, truth[order])[0, 1]

    assert fit(5) > 0.9
    assert fit(5) > fit(0)


def test_more_shrinking_brings_the_inconsistencies_together():
    ratings = ratings_from(golden("p913")["ratings"])
    spread = [np.ptp(adjusted(ratings, shrink=shrink).inconsistency) for shrink in (0, 5, 500)]

    assert spread[0] > spread[1] > spread[2]


def test_a_thousand_workers_with_one_rating_leave_the_means():
    rng = np.random.default_rng(1)
    scores = rng.integers(1, 6, 1000).astype(np.int16)
    items = (np.arange(1000) // 10).astype(np.int32)
    ratings = Ratings(items, np.arange(1000, dtype=np.int32), scores, [""] * 100, [""] * 1000)
    found = adjusted(ratings)

    assert found.settled
    assert found.quality == pytest.approx(scores.reshape(100, 10).mean(axis=1), abs=1e-6)


def test_unanimous_ratings_are_their_own_score():
    found = adjusted(ratings_of([(item, worker, 4) for item in "ab" for worker in "vwx"]))

    assert list(found.quality) == [4, 4]


def test_without_ratings_nothing_is_known():
    ratings = ratings_of([("a", "w", 3), ("b", "v", 3)])
    found = adjusted(ratings.only(np.array([True, False])))

    assert found.quality[0] == 3
    assert np.isnan(found.quality[1])
    assert np.isnan(found.bias[1])
    assert np.isnan(adjusted(ratings.only(np.array([False, False]))).quality).all()
