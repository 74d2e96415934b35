"""What is worked out otherwise where there are many ratings gives the same figures, to the last bit."""

from dataclasses import replace

import numpy as np
import pytest

from metrics.agreement import cross_fitting, intervals, kappa
from metrics.agreement.cross_fitting import held_out
from metrics.agreement.data import Draws, Ratings, generator
from metrics.agreement.filters import Checks
from metrics.agreement.intervals import alpha_interval
from metrics.agreement.recipes import ADEM_2017, DEFAULT, Recipe
from tests.metrics.agreement.made import crowd


def of_tasks(*, tasks: int = 30, in_task: int = 5, workers: int = 24, seed: int = 0) -> Ratings:
    """Every item of a task rated by the same people, one after the other; every fourth item by one fewer."""
    rng = np.random.default_rng(seed)
    rows = [
        (task * in_task + item, worker, int(rng.integers(1, 6)) if worker % 5 == 0 else 1 + (task + item) % 5)
        for task in range(tasks)
        for worker in rng.choice(workers, 6, replace=False).tolist()
        for item in range(in_task)
        if item % 4 or worker % 7
    ]
    items, who, scores = np.array(rows).T
    names = [[f"{at}" for at in range(size)] for size in (tasks * in_task, workers)]
    return Ratings(items.astype(np.int32), who.astype(np.int32), scores.astype(np.int16), *names)


@pytest.mark.parametrize("size", [1, 7, 1 << 14, 20_011])
def test_draws_are_counted_as_bincount_counts_them(size):
    draws, rng, same = Draws(size), np.random.default_rng(4), np.random.default_rng(4)
    for _ in range(3):
        expected = np.bincount(same.integers(size, size=size, dtype=np.int32), minlength=size)
        assert draws.sample(rng).tolist() == expected.tolist()


@pytest.mark.parametrize("level", ["interval", "nominal"])
@pytest.mark.parametrize("replicates", [65, 70])
def test_items_with_the_same_raters_have_the_interval_of_items_by_themselves(level, replicates, monkeypatch):
    ratings = of_tasks()
    shared = alpha_interval(ratings, level=level, replicates=replicates, seed=3)
    monkeypatch.setattr(intervals, "_same_raters", lambda ratings, n: np.zeros(len(n), dtype=np.bool_))
    assert alpha_interval(ratings, level=level, replicates=replicates, seed=3) == shared


def test_same_raters_are_those_of_the_item_before_in_their_order():
    items, workers = [0, 0, 1, 1, 2, 2, 3, 4, 4, 4, 5, 5, 5], [1, 2, 1, 2, 2, 1, 2, 0, 1, 2, 0, 1, 2]
    ratings = Ratings(
        np.array(items, dtype=np.int32),
        np.array(workers, dtype=np.int32),
        np.ones(13, np.int16),
        "abcdef",
        "abc",
    )
    found = intervals._same_raters(ratings, np.bincount(items))
    assert found.tolist() == [False, True, False, False, False, True]


def test_workers_drawn_often_change_nothing_in_how_their_ratings_add_up(monkeypatch):
    ratings = of_tasks()
    few = alpha_interval(ratings, replicates=40)
    monkeypatch.setattr(intervals, "OFTEN", 1)
    assert alpha_interval(ratings, replicates=40) == few


@pytest.mark.parametrize(
    "recipe",
    [
        DEFAULT,
        replace(DEFAULT, kappa_reference="consensus", kappa_weights="linear", kappa_below=0.5),
        replace(DEFAULT, rules=("checks",)),
        replace(DEFAULT, rules=("kappa",), kappa_below=0.6, kappa_least=30),
        ADEM_2017,
    ],
)
def test_workers_are_removed_by_sums_as_by_running_the_rules_for_each_fold(recipe: Recipe, monkeypatch):
    for ratings in (of_tasks(), crowd(items=80, workers=15, per_item=4, seed=2)):
        failed = np.where(np.arange(ratings.n_workers) % 6 == 1, 3, 0)
        checks = Checks(np.full(ratings.n_workers, 6), failed)
        quick = held_out(ratings, recipe, generator(1, "folds"), checks=checks)
        with monkeypatch.context() as patch:
            patch.setattr(cross_fitting, "_removed_by_sums", lambda *_: iter([None] * cross_fitting.FOLDS))
            slow = held_out(ratings, recipe, generator(1, "folds"), checks=checks)
        assert quick.removed_workers == slow.removed_workers > 0
        assert quick.standing.tolist() == slow.standing.tolist()


def test_where_rounding_might_decide_the_rules_run():
    """Three people who agree fully: kappa is 1, which is also the limit."""
    items = np.repeat(np.arange(20, dtype=np.int32), 3)
    workers = np.tile(np.arange(3, dtype=np.int32), 20)
    ratings = Ratings(items, workers, (1 + items % 5).astype(np.int16), ["i"] * 20, ["a", "b", "c"])
    rules = replace(DEFAULT, rules=("kappa",), kappa_below=1.0, kappa_least=1)
    deal = cross_fitting._Deal((np.arange(20) % 10).astype(np.int8), 10)
    assert list(cross_fitting._removed_by_sums(ratings, rules, deal, None)) == [None] * 10


def test_pairs_of_the_busiest_are_counted_alike_one_by_one_and_as_a_product(monkeypatch):
    ratings = of_tasks()
    tables = kappa.busiest(ratings).tables
    monkeypatch.setattr(kappa, "PER_PAIR", 1e9)
    assert (kappa.busiest(ratings).tables == tables).all()
    monkeypatch.setattr(kappa, "PER_PAIR", 0)
    assert (kappa.busiest(ratings).tables == tables).all()
