import numpy as np
import pytest

from distillery_learned.metrics.adem import Projection
from metrics.errors import MetricError

VECTORS = np.random.default_rng(0).normal(size=(60, 8)) @ np.diag([9, 7, 5, 3, 2, 1, 0.5, 0.1]) + 4.0


def test_components_are_the_eigenvectors_of_the_covariance():
    found = Projection.of(VECTORS, 3)
    values, directions = np.linalg.eigh(np.cov(VECTORS.T))
    largest = directions[:, ::-1][:, :3].T

    assert found.mean == pytest.approx(VECTORS.mean(0), abs=1e-12)
    assert np.abs((found.components * largest).sum(1)) == pytest.approx(np.ones(3), abs=1e-9)
    assert found.shares == pytest.approx(values[::-1][:3] / values.sum(), abs=1e-9)
    assert found(VECTORS).mean(0) == pytest.approx(np.zeros(3), abs=1e-9)


def test_fewer_components_are_the_first_of_more():
    few, many = Projection.of(VECTORS, 2), Projection.of(VECTORS, 6)

    assert few(VECTORS) == pytest.approx(many(VECTORS, 2), abs=1e-12)


def test_all_components_keep_every_product():
    found = Projection.of(VECTORS, 99)
    centred = VECTORS - VECTORS.mean(0)

    assert found.components.shape == (8, 8)
    assert found(VECTORS) @ found(VECTORS).T == pytest.approx(centred @ centred.T, abs=1e-9)


def test_there_are_no_more_components_than_the_vectors_have():
    flat = np.outer(np.arange(5.0), np.ones(4))

    assert Projection.of(flat, 3).components.shape == (1, 4)
    with pytest.raises(MetricError, match="same vector"):
        Projection.of(np.ones((5, 4)), 3)
