"""ADEM's equations against loops that follow the paper word by word."""

import numpy as np
import pytest

from distillery_learned.metrics.adem import Parameters, Terms, gradient, loss, scores, started
from metrics.errors import MetricError

K, R, N = 9, 3, 5


@pytest.fixture
def terms() -> Terms:
    chance = np.random.default_rng(1)
    return Terms(chance.normal(size=(K, N)), chance.normal(size=(K, R, N)), chance.normal(size=(K, N)))


@pytest.fixture
def parameters() -> Parameters:
    chance = np.random.default_rng(2)
    return Parameters(chance.normal(size=(N, N)), chance.normal(size=(N, N)), -0.7, 1.9)


@pytest.fixture
def human() -> np.ndarray:
    return np.random.default_rng(3).uniform(1, 5, K)


def literal(parameters: Parameters, terms: Terms) -> list[float]:
    found = []
    for k in range(K):
        value = 0.0
        if parameters.m is not None:
            for i in range(N):
                for j in range(N):
                    value += terms.contexts[k, i] * parameters.m[i, j] * terms.responses[k, j]
        if parameters.n is not None:
            each = []
            for r in range(R):
                product = 0.0
                for i in range(N):
                    for j in range(N):
                        product += terms.references[k, r, i] * parameters.n[i, j] * terms.responses[k, j]
                each.append(product)
            value += max(each)
        found.append((value - parameters.alpha) / parameters.beta)
    return found


def forms(parameters: Parameters) -> list[Parameters]:
    return [
        parameters,
        Parameters(parameters.m, None, parameters.alpha, parameters.beta),
        Parameters(None, parameters.n, parameters.alpha, parameters.beta),
    ]


def test_scores_are_those_of_equation_1(terms, parameters):
    for form in forms(parameters):
        assert scores(form, terms) == pytest.approx(literal(form, terms), abs=1e-9)


def test_the_loss_is_the_mean_of_squares_and_the_penalty_once(terms, parameters, human):
    squares = [(ours - theirs) ** 2 for ours, theirs in zip(literal(parameters, terms), human, strict=True)]
    norm = sum(abs(x) for matrix in (parameters.m, parameters.n) for x in matrix.ravel())

    assert loss(parameters, terms, human, 0.02) == pytest.approx(sum(squares) / K + 0.02 * norm, abs=1e-9)


def test_gradients_are_those_of_finite_differences(terms, parameters, human):
    step = 1e-6
    for form in forms(parameters):
        for name, found in zip("mn", gradient(form, terms, human, 0.05), strict=True):
            matrix = getattr(form, name)
            if matrix is None:
                assert found is None
                continue
            for i in range(N):
                for j in range(N):
                    was = matrix[i, j]
                    matrix[i, j] = was + step
                    above = loss(form, terms, human, 0.05)
                    matrix[i, j] = was - step
                    below = loss(form, terms, human, 0.05)
                    matrix[i, j] = was
                    assert found[i, j] == pytest.approx((above - below) / (2 * step), abs=1e-6)


def test_an_entry_that_is_0_is_pulled_nowhere_by_the_penalty(terms, human):
    plain = Parameters(np.eye(N), np.eye(N))

    for with_, without in zip(
        gradient(plain, terms, human, 0.3), gradient(plain, terms, human, 0.0), strict=True
    ):
        assert with_ - without == pytest.approx(0.3 * np.eye(N), abs=1e-12)


def test_before_training_the_scores_span_the_scale(terms):
    for context, reference in ((True, True), (True, False), (False, True)):
        found = started(terms, context=context, reference=reference, scale=(1.0, 5.0))
        values = scores(found, terms)

        assert (values.min(), values.max()) == pytest.approx((1, 5), abs=1e-12)
        assert (found.m is not None, found.n is not None) == (context, reference)
        assert all(np.array_equal(matrix, np.eye(N)) for matrix in (found.m, found.n) if matrix is not None)


def test_examples_that_are_all_alike_are_refused(terms):
    same = terms.rows(np.zeros(4, int))

    with pytest.raises(MetricError, match="equally alike"):
        started(same, context=True, reference=True, scale=(1.0, 5.0))


def test_a_reference_that_stands_there_twice_changes_nothing(terms, parameters, human):
    doubled = Terms(
        terms.contexts, np.concatenate((terms.references, terms.references[:, :2]), 1), terms.responses
    )

    assert np.array_equal(scores(parameters, doubled), scores(parameters, terms))
    for one, other in zip(
        gradient(parameters, doubled, human, 0.1), gradient(parameters, terms, human, 0.1), strict=True
    ):
        assert one == pytest.approx(other, abs=1e-12)


def test_neither_batch_nor_order_changes_a_score(terms, parameters):
    whole = scores(parameters, terms)
    order = np.random.default_rng(4).permutation(K)

    assert scores(parameters, terms.rows(order)) == pytest.approx(whole[order], abs=1e-12)
    for k in range(K):
        assert scores(parameters, terms.rows(np.array([k]))) == pytest.approx([whole[k]], abs=1e-12)
