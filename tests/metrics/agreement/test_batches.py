"""Batches of draws on several threads: the results of one, to the last bit, in the same order."""

from itertools import count
from threading import Barrier, get_ident

import numpy as np
import pytest

from metrics.agreement import batches, data, intervals, reliability
from metrics.agreement.batches import map_in_order, parts_of, threads_for
from metrics.agreement.intervals import alpha_interval
from metrics.agreement.recipes import DEFAULT
from metrics.agreement.report import report
from metrics.agreement.scale import Scale
from tests.metrics.agreement.made import crowd, noise


@pytest.fixture
def ratings():
    return crowd(items=120, workers=25, per_item=5, seed=6)


@pytest.mark.parametrize("level", ["interval", "ordinal", "nominal"])
def test_the_interval_of_alpha_does_not_depend_on_threads(level, ratings, monkeypatch):
    monkeypatch.setattr(intervals, "WEIGHTS", 8 * ratings.n_workers)
    alone = alpha_interval(ratings, level=level, replicates=100, seed=2)
    monkeypatch.setattr(intervals, "threads_for", lambda work: 3)
    assert alpha_interval(ratings, level=level, replicates=100, seed=2) == alone


def test_nor_on_how_many_replicates_are_worked_on_together(ratings, monkeypatch):
    together = alpha_interval(ratings, replicates=100, seed=2)
    monkeypatch.setattr(intervals, "DRAWS", 0)
    assert alpha_interval(ratings, replicates=100, seed=2) == together


def test_nor_does_that_of_a_fine_scale(monkeypatch):
    ratings = noise(items=60, workers=12, per_item=4, seed=7, scale=Scale.of(0, 100))
    monkeypatch.setattr(intervals, "WEIGHTS", 8 * ratings.n_workers)
    alone = alpha_interval(ratings, replicates=64)
    monkeypatch.setattr(intervals, "threads_for", lambda work: 2)
    assert alpha_interval(ratings, replicates=64) == alone


@pytest.mark.parametrize("together", [1, 2_000, 7_000, 1 << 21])
def test_nor_does_the_interval_of_the_reliability(together, ratings, monkeypatch):
    monkeypatch.setattr(reliability, "_TOGETHER", together)
    alone = reliability.interval(ratings, 0.8, replicates=50)
    monkeypatch.setattr(reliability, "threads_for", lambda work: 3)
    assert reliability.interval(ratings, 0.8, replicates=50) == alone


def test_nor_does_a_report(ratings, monkeypatch):
    alone = report(ratings, DEFAULT, replicates=100)
    for module in (intervals, reliability):
        monkeypatch.setattr(module, "threads_for", lambda work: 2)
    assert report(ratings, DEFAULT, replicates=100) == alone


def test_sums_of_some_replicates_are_those_of_all_of_them(ratings):
    means = reliability._Means(ratings.items, ratings.workers, ratings.scores.astype(np.float32))
    drawn = np.random.default_rng(1).integers(0, 4, size=(7, ratings.n_workers), dtype=np.uint8)
    whole = means.resample("workers", drawn)
    parts = np.concatenate([means.resample("workers", drawn[part]) for part in parts_of(7, 2)])
    assert parts.tolist() == whole.tolist()


@pytest.mark.parametrize("over", ["items", "workers", "ratings"])
@pytest.mark.parametrize("width", [1, 2, 7])
def test_reliability_is_the_same_however_many_items_are_looked_at_together(over, width, monkeypatch):
    many = crowd(items=3_000, workers=40, per_item=4, seed=8)
    columns = many.items, many.workers, many.scores.astype(np.float32)
    size = {"items": many.n_items, "workers": many.n_workers, "ratings": len(many)}[over]
    drawn = np.random.default_rng(3).integers(0, 4, size=(width, size), dtype=np.uint8)
    whole = reliability._Means(*(column.copy() for column in columns)).resample(over, drawn)
    monkeypatch.setattr(reliability, "_PART", 700)
    parts = reliability._Means(*columns).resample(over, drawn)
    assert parts.tolist() == whole.tolist()
    assert np.isfinite(whole).all()


def test_replicates_that_were_looked_at_alone_still_are():
    draws = data.Draws(4)

    def widths(replicates, size):
        made = reliability._draw_counts(draws, replicates, size, np.random.default_rng(0))
        return [len(drawn) for drawn in made]

    assert widths(3, reliability._TOGETHER) == [1, 1, 1]
    assert widths(7, reliability._TOGETHER // 3) == [6, 1]
    assert widths(8, reliability._TOGETHER // 3) == [4, 4]
    assert widths(1, 10) == [1]
    assert widths(40, 10) == [13, 13, 14]


def test_different_codes_are_counted():
    assert data.count_different(np.array([3, 1, 3, 0], dtype=np.int32)) == 3
    assert data.count_different(np.zeros(0, dtype=np.int32)) == 0


def test_large_samples_are_counted_as_small_ones(monkeypatch):
    monkeypatch.setattr(data, "_MANY", 100)
    monkeypatch.setattr(data, "_DRAWN_AT_ONCE", 300)
    drawn = np.random.default_rng(4).integers(950, size=950, dtype=np.int32)
    counted = data.Draws(950).sample(np.random.default_rng(4))
    assert counted.tolist() == np.bincount(drawn, minlength=950).tolist()


@pytest.mark.parametrize(("width", "most"), [(1, 1), (2, 1), (3, 1), (6, 3), (7, 3), (7, 100), (100, 16)])
def test_parts_have_two_columns_or_more(width, most):
    parts = list(parts_of(width, most))
    sizes = [part.stop - part.start for part in parts]
    assert [column for part in parts for column in range(width)[part]] == list(range(width))
    assert min(sizes) >= min(2, width)
    assert max(sizes) <= max(3, most)


def test_threads_are_taken_for_much_work_alone(monkeypatch):
    monkeypatch.setattr(batches, "cores", lambda: 64)
    assert [threads_for(work) for work in (0, 1, batches.MUCH)] == [1, 1, 1]
    assert threads_for(2 * batches.MUCH) == 2
    assert threads_for(10**12) == 3
    monkeypatch.setattr(batches, "cores", lambda: 1)
    assert threads_for(10**12) == 1


def test_results_are_in_the_order_of_batches_whichever_thread_works_on_them():
    together, threads = Barrier(3), set()

    def work(batch):
        if batch < 3:
            together.wait(30)  # three threads are at work at once
        threads.add(get_ident())
        return batch * batch

    assert map_in_order(work, iter(range(50)), 3) == [batch * batch for batch in range(50)]
    assert len(threads) == 3


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_an_error_ends_the_work_and_is_raised(threads):
    def work(batch):
        if batch == 4:
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        map_in_order(work, count(), threads)  # batches without end: only the error ends the work


def test_an_error_in_drawing_is_raised():
    def drawn():
        yield 1
        raise ValueError("cannot be drawn")

    with pytest.raises(ValueError, match="cannot be drawn"):
        map_in_order(lambda batch: batch, drawn(), 2)
