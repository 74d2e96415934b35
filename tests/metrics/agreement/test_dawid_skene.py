import numpy as np
import pytest

from metrics.agreement.data import Ratings, ratings_of
from metrics.agreement.scale import Scale
from metrics.agreement.scores import dawid_skene
from tests.metrics.agreement.goldens import golden, ratings_from


def test_the_posteriors_are_those_of_crowd_kit():
    expected = golden("dawid_skene")
    found = dawid_skene(ratings_from(expected["ratings"]))

    assert found.settled
    assert found.posterior == pytest.approx(np.array(expected["posterior"]), abs=1e-5)
    assert list(found.best + 1) == expected["labels"]


def test_a_worker_who_swaps_two_labels_is_understood():
    truth = [1, 2] * 10
    rows = [(f"i{n}", worker, label) for n, label in enumerate(truth) for worker in ("a", "b", "c")]
    rows += [(f"i{n}", "swaps", 3 - label) for n, label in enumerate(truth)]
    found = dawid_skene(ratings_of(rows, Scale(1, 2)))

    assert found.confusion[3] == pytest.approx(np.array([[0, 1], [1, 0]]), abs=1e-6)
    assert list(found.best + 1) == truth


def test_an_item_without_ratings_has_no_label():
    ratings = ratings_of([("a", "v", 1), ("a", "w", 1), ("b", "w", 2)], Scale(1, 2))
    found = dawid_skene(ratings.only(np.array([True, True, False])))

    assert list(found.best) == [0, -1]
    assert np.isnan(found.posterior[1]).all()


def test_unanimous_items_keep_their_label():
    found = dawid_skene(ratings_of([(item, worker, 4) for item in "ab" for worker in "vwx"]))

    assert found.posterior[0] == pytest.approx([0, 0, 0, 1, 0], abs=1e-8)


def test_no_ratings_give_no_labels():
    none = np.array([], dtype=np.int32)
    found = dawid_skene(Ratings(none, none, none.astype(np.int16), ["a"], ["w"]))

    assert (found.rounds, list(found.best)) == (0, [-1])
