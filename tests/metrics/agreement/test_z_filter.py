from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from metrics.agreement.alpha import alpha_of
from metrics.agreement.data import Ratings, ratings_of
from metrics.agreement.filters import z_removed
from metrics.agreement.scale import Scale
from tests.metrics.agreement.goldens import golden, ratings_from
from tests.metrics.agreement.made import noise, of_one_item

CASES = golden("zfilter")["cases"]
VARIANTS = {"paper": {}, "sample_sd": {"ddof": 1}, "tie_group": {"ties": "group"}}


def removed(scores, **options):
    return np.flatnonzero(z_removed(of_one_item(scores), **options).mask).tolist()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_worked_cases_lose_the_ratings_that_they_should(case, variant):
    scores, expected = case["ratings_in_submission_order"], case["expected"][variant]

    gone = removed(scores, keep=case["options"].get("min_keep", 0), **VARIANTS[variant])

    assert gone == expected["removed_positions"]
    left = [score for place, score in enumerate(scores) if place not in gone]
    assert str(Fraction(sum(left), len(left)) if left else None) == expected["mean_exact"]


@pytest.mark.parametrize("ddof", [0, 1])
def test_every_set_of_nine_ratings_is_decided_exactly(ddof):
    sets = list(combinations_with_replacement(range(1, 6), 9))
    rows = [
        (str(item), f"w{place}", score)
        for item, scores in enumerate(sets)
        for place, score in enumerate(scores)
    ]

    mask = z_removed(ratings_of(rows), cap=None, ddof=ddof).mask.reshape(-1, 9)

    for scores, found in zip(sets, mask, strict=True):
        mean = Fraction(sum(scores), 9)
        variance = sum((score - mean) ** 2 for score in scores) / (9 - ddof)
        assert found.tolist() == [(score - mean) ** 2 > variance for score in scores]


def test_a_crowd_loses_the_rows_of_the_reference():
    data = golden("pipeline")
    ratings, expected = ratings_from(data["ratings"]), data["expected"]["z_only"]

    mask = z_removed(ratings).mask

    assert np.flatnonzero(mask).tolist() == expected["removed_rows"]
    assert (~mask).sum() == expected["kept"]
    assert alpha_of(ratings.only(~mask)).value == pytest.approx(expected["alpha_interval"], abs=1e-9)


def test_after_the_workers_a_crowd_loses_the_rows_of_the_reference():
    data = golden("pipeline")
    everybody, expected = ratings_from(data["ratings"]), data["expected"]["workers_then_z"]
    rows = np.flatnonzero(
        ~np.isin(everybody.workers, data["expected"]["workers_removed_pooled_lt_0p2_min10"])
    )
    standing = everybody.only(rows)

    mask = z_removed(standing).mask

    assert sorted({*range(len(everybody))} - {*rows[~mask].tolist()}) == expected["removed_rows"]
    assert (~mask).sum() == expected["kept"]
    assert alpha_of(standing.only(~mask)).value == pytest.approx(expected["alpha_interval"], abs=1e-9)


def test_the_first_removed_lies_farthest_out_and_ties_go_by_submission():
    found = z_removed(of_one_item([5, 1, 5, 5, 5, 5, 5, 5, 2, 5, 1]))

    assert found.rank.tolist() == [0, 1, 0, 0, 0, 0, 0, 0, 3, 0, 2]
    assert found.capped_items.tolist() == [False]


def test_z_is_how_many_standard_deviations_a_rating_lies_from_its_items_mean():
    found = z_removed(ratings_of([("a", "w", 1), ("b", "w", 3), ("a", "v", 5), ("a", "u", 5), ("b", "v", 3)]))

    scores = np.array([1, 5, 5])
    assert found.z[[0, 2, 3]] == pytest.approx((scores - scores.mean()) / scores.std())
    assert found.z[[1, 4]].tolist() == [0, 0]


def test_z_with_the_sample_sd_divides_by_one_less():
    found = z_removed(of_one_item([1, 2, 5]), ddof=1)

    assert found.z == pytest.approx((np.array([1, 2, 5]) - 8 / 3) / np.std([1, 2, 5], ddof=1))


def test_the_items_where_the_cap_saved_ratings_are_named():
    rows = [("a", f"w{n}", score) for n, score in enumerate([1, 1, 1, 3, 3, 3, 3, 5, 5, 5])]
    rows += [("b", f"w{n}", score) for n, score in enumerate([5, 5, 5, 5, 1])]

    assert z_removed(ratings_of(rows)).capped_items.tolist() == [True, False]
    assert z_removed(ratings_of(rows), ties="group").capped_items.tolist() == [True, False]
    assert z_removed(ratings_of(rows), cap=None).capped_items.tolist() == [False, False]
    assert z_removed(ratings_of(rows), keep=5).capped_items.tolist() == [True, True]


def test_outside_the_recipe_two_standard_deviations_five_ratings_and_three_to_keep():
    careful = {"limit": 2, "least": 5, "keep": 3, "ties": "group"}

    assert removed([1, 5, 5, 5], **careful) == []
    assert removed([1, 5, 5, 5, 5, 5], **careful) == [0]
    assert removed([5] * 9 + [1, 1], **careful) == [9, 10]
    assert removed([1, 1, 3, 5, 5, 5, 5, 5], **careful) == []


def test_equal_ratings_go_together_where_they_exactly_fill_the_room():
    # The room is the ratings that need not stay, or the cap where that is less.
    one, two = [1] + [5] * 9, [1, 1] + [5] * 9

    assert removed(one, limit=2, least=5, keep=9, ties="group") == [0]
    assert removed(one, limit=2, least=5, keep=10, ties="group") == []
    assert removed(two, limit=2, least=5, keep=9, ties="group") == [0, 1]
    assert removed(two, limit=2, least=5, keep=10, ties="group") == []
    assert removed(two, limit=2, least=5, cap=2, ties="group") == [0, 1]
    assert removed(two, limit=2, least=5, cap=1, ties="group") == []


def test_a_limit_with_decimals_is_exact():
    # Four equal ratings and one other: |z| of the other is 2 exactly.
    assert removed([3, 3, 3, 3, 4], limit=1.99) == [4]
    assert removed([3, 3, 3, 3, 4], limit=2) == []


def test_items_with_very_many_ratings_are_decided_exactly_too():
    # At 50,000 ratings the products of the test do not fit 64 bits; half 1 and half 5 have |z| of 1 exactly.
    n = 50_000
    scores = np.tile(np.array([1, 5], dtype=np.int16), n // 2)
    ratings = Ratings(np.zeros(n, dtype=np.int32), np.arange(n, dtype=np.int32), scores, ["item"], range(n))
    one_more = Ratings(
        ratings.items, ratings.workers, np.append(scores[:-1], 1).astype(np.int16), ["item"], range(n)
    )

    assert not z_removed(ratings, limit=1.00001).mask.any()
    assert not z_removed(ratings).mask.any()
    assert z_removed(one_more).mask.sum() == 5
    assert one_more.scores[z_removed(one_more).mask].tolist() == [5, 5, 5, 5, 5]


def test_a_scale_from_nought_to_a_hundred_works_alike():
    scale = Scale(0, 100)
    rows = [("i", f"w{n}", score) for n, score in enumerate([50, 52, 48, 51, 49, 100, 0])]

    assert np.flatnonzero(z_removed(ratings_of(rows, scale)).mask).tolist() == [5, 6]


def test_no_ratings_lose_nothing():
    found = z_removed(ratings_of([]))

    assert (found.mask.tolist(), found.rank.tolist(), found.z.tolist()) == ([], [], [])


def test_the_filter_manufactures_agreement_out_of_noise():
    ratings = noise(items=1000, workers=150, per_item=10, seed=11)

    mask = z_removed(ratings).mask

    assert alpha_of(ratings).value == pytest.approx(0, abs=0.03)
    assert alpha_of(ratings.only(~mask)).value == pytest.approx(0.415, abs=0.03)
