"""Every two of the busiest workers over the items that both rated."""

import numpy as np
import pytest

from metrics.agreement import kappa
from metrics.agreement.data import ratings_of
from metrics.agreement.kappa import from_table

ROWS = [
    ("a", "X", 1), ("a", "Y", 1), ("b", "X", 5), ("b", "Y", 4), ("c", "X", 3), ("c", "Z", 3),
    ("d", "Y", 2), ("d", "X", 2), ("e", "IDLE", 3),
]  # fmt: skip


def test_the_busiest_come_first_and_share_items():
    found = kappa.busiest(ratings_of(ROWS), 3)
    assert found.workers.tolist() == [0, 1, 2]
    assert (found.common(0, 1), found.common(0, 2), found.common(1, 2)) == (3, 1, 0)
    assert found.common(0, 0) == 4


def test_kappa_is_that_of_the_table_of_both():
    table = np.zeros((5, 5))
    table[0, 0] = table[4, 3] = table[1, 1] = 1
    found = kappa.busiest(ratings_of(ROWS), 3).kappa(0, 1)
    assert found.value == pytest.approx(from_table(table, "quadratic").value)
    assert kappa.busiest(ratings_of(ROWS), 3).kappa(1, 2).value is None


def test_blocks_of_items_change_nothing(monkeypatch):
    whole = kappa.busiest(ratings_of(ROWS)).tables
    monkeypatch.setattr(kappa, "_ITEMS", 2)
    assert (kappa.busiest(ratings_of(ROWS)).tables == whole).all()


def test_without_ratings_there_is_nobody():
    assert kappa.busiest(ratings_of([])).workers.tolist() == []
