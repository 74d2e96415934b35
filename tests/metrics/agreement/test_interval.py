import numpy as np
import pytest

from metrics.agreement import intervals
from metrics.agreement.alpha import LEVELS, alpha_of
from metrics.agreement.data import ratings_of
from metrics.agreement.intervals import alpha_interval
from metrics.agreement.planning import CROWDS, simulated
from metrics.agreement.recipes import NONE
from metrics.agreement.report import report
from metrics.agreement.scale import Scale
from tests.metrics.agreement.goldens import golden
from tests.metrics.agreement.made import by_coder, crowd, noise


def unit_bootstrap():
    data = golden("bootstrap")
    counts = np.array(data["value_counts"])
    rows = [
        (f"item {item}", f"rating {place}", score)
        for item, row in enumerate(counts)
        for place, score in enumerate(np.repeat(data["values"], row).tolist())
    ]
    return ratings_of(rows), data


def test_an_interval_over_items_is_that_of_the_unit_bootstrap():
    ratings, data = unit_bootstrap()

    found = alpha_interval(ratings, over="items", seed=1)

    assert alpha_of(ratings).value == pytest.approx(data["alpha"], abs=1e-12)
    assert found == pytest.approx(data["ci95_percentile_unit_bootstrap"], abs=data["tol"])


@pytest.mark.parametrize("level", LEVELS)
def test_an_interval_has_the_alpha_inside_and_is_wider_when_workers_vary_too(level):
    ratings = crowd(items=80, workers=20, per_item=6, seed=7)

    low, high = alpha_interval(ratings, level=level, replicates=200)
    low_items, high_items = alpha_interval(ratings, level=level, replicates=200, over="items")

    assert low < alpha_of(ratings, level).value < high
    assert high - low > high_items - low_items


@pytest.mark.parametrize("over", ["both", "items"])
def test_the_seed_decides_an_interval(over):
    ratings = crowd(items=40)

    first = alpha_interval(ratings, replicates=100, seed=5, over=over)

    assert alpha_interval(ratings, replicates=100, seed=5, over=over) == first
    assert alpha_interval(ratings, replicates=100, seed=6, over=over) != first


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("interval", (0.24345067470919904, 0.5170342277919953)),
        ("nominal", (0.10889709815527955, 0.23997985863156127)),
    ],
)
def test_an_interval_has_the_digits_that_its_signature_had_before(level, expected):
    # More items than a block has, and one replicate more than a batch.
    ratings = crowd(items=2100, workers=30, per_item=4, seed=2)

    assert alpha_interval(ratings, level=level, replicates=33, seed=1) == expected


def test_an_interval_on_a_slider_has_the_digits_that_its_signature_had_before():
    ratings = noise(items=300, workers=20, per_item=4, seed=3, scale=Scale(0, 100))

    found = alpha_interval(ratings, replicates=33, seed=1)

    assert found == (-0.06269756140580046, 0.1561201847387977)


def test_a_worker_beside_their_own_copy_is_no_agreement():
    # Everybody disagrees at random: replicates that counted copies as agreement would all lie above alpha.
    rng = np.random.default_rng(3)
    ratings = by_coder(rng.integers(1, 6, (8, 200)).tolist())

    low, high = alpha_interval(ratings, replicates=300, seed=2)

    assert low < 0 < high
    assert abs(low + high) / 2 < 0.02


@pytest.mark.parametrize("level", LEVELS)
def test_a_sample_in_which_everything_is_drawn_once_has_alpha_itself(level, monkeypatch):
    monkeypatch.setattr(
        intervals,
        "_draw_counts",
        lambda draws, width, rng, least=1: np.ones((width, draws.size), dtype=np.uint8),
    )
    monkeypatch.setattr(intervals, "ITEMS", 7)
    ratings = crowd(items=60, workers=14, per_item=8, seed=0)

    low, high = alpha_interval(ratings, level=level, replicates=40)

    assert low == high == pytest.approx(alpha_of(ratings, level).value, abs=1e-6)


def test_a_sample_has_the_alpha_of_all_its_pairs_of_different_workers(monkeypatch):
    ratings = crowd(items=9, workers=6, per_item=4, seed=1)
    drawn = {9: np.array([2, 0, 1, 1, 3, 0, 1, 1, 0]), 6: np.array([0, 2, 1, 1, 0, 2])}
    monkeypatch.setattr(
        intervals,
        "_draw_counts",
        lambda draws, width, rng, least=1: drawn[draws.size].astype(np.uint8)[None].repeat(width, axis=0),
    )
    rows = list(zip(ratings.items, ratings.workers, ratings.scores.astype(float), strict=True))
    weight = [float(drawn[9][item] * drawn[6][worker]) for item, worker, _ in rows]
    observed, total = 0.0, 0.0
    for item in range(9):
        mine = [(drawn[6][w], x) for i, w, x in rows if i == item]
        pairs = [
            (u * v, (x - y) ** 2) for a, (u, x) in enumerate(mine) for b, (v, y) in enumerate(mine) if a != b
        ]
        if sum(count for count, _ in pairs):
            m = drawn[9][item] * sum(u for u, _ in mine)
            observed += m * sum(n * d for n, d in pairs) / sum(n for n, _ in pairs)
            total += m
    apart = [
        (weight[a] * weight[b], (rows[a][2] - rows[b][2]) ** 2)
        for a in range(len(rows))
        for b in range(len(rows))
        if a != b
    ]
    expected = sum(n * d for n, d in apart) / sum(n for n, _ in apart)

    low, high = alpha_interval(ratings, replicates=3)

    assert low == high == pytest.approx(1 - observed / total / expected, abs=1e-6)


@pytest.mark.parametrize("over", ["both", "items"])
@pytest.mark.parametrize(
    "table",
    [[], [[1, 2, 3]], [[1, None], [None, 2]], [[3, 3], [3, 3]]],
    ids=["empty", "one worker", "nothing shared", "all the same"],
)
def test_where_there_is_no_alpha_there_is_no_interval(table, over):
    assert alpha_interval(by_coder(table), replicates=50, over=over) is None


def test_an_item_alone_has_an_interval_of_what_its_workers_say():
    assert alpha_interval(by_coder([[1], [2], [2], [1], [1], [2]]), replicates=100) is not None


def test_three_workers_who_rated_everything_have_an_interval_that_holds_the_true_alpha():
    studies = [
        simulated(CROWDS["clean"], items=50, per_item=3, workers=3, seed=seed).ratings for seed in range(30)
    ]
    true = np.mean([alpha_of(ratings).value for ratings in studies])
    found = [alpha_interval(ratings, replicates=100, seed=seed) for seed, ratings in enumerate(studies)]
    assert None not in found
    assert np.mean([low <= true <= high for low, high in found]) >= 0.8


def test_where_there_is_no_interval_the_reason_has_the_numbers():
    rows = [(item, worker, score) for item, score in (("a", 1), ("b", 5)) for worker in "vw"]
    before = report(ratings_of([*rows, ("c", "v", 2)]), NONE, replicates=40)["alpha"]["before"]
    assert before["ci"] is None
    assert "2 items with two ratings by 2 workers are too few to draw from" in before["reason"]["ci"]


def test_items_of_which_one_alone_has_two_ratings_have_no_interval():
    rows = [("a", "v", 1), ("a", "w", 4), ("b", "v", 3), ("c", "w", 5)]
    before = report(ratings_of(rows), NONE, replicates=40)["alpha"]["before"]
    assert before["ci"] is None
    assert before["reason"]["ci"].startswith("not defined: only one item has two ratings")
