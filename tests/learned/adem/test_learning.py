import numpy as np
import pytest

from distillery_learned.metrics.adem import Parameters, Terms, gradient, scores, started
from distillery_learned.metrics.adem_examples import Settings
from distillery_learned.training.adem import Adam, Part, learn

N = 4


def part(count: int, seed: int, of: Parameters) -> Part:
    """Examples that a model of these parameters scores, with a little noise."""
    chance = np.random.default_rng(seed)
    terms = Terms(*(chance.normal(size=shape) for shape in ((count, N), (count, 1, N), (count, N))))
    return Part(terms, scores(of, terms) + chance.normal(0, 0.05, count))


@pytest.fixture(scope="module")
def truth() -> Parameters:
    chance = np.random.default_rng(5)
    return Parameters(chance.normal(size=(N, N)), chance.normal(size=(N, N)), -9.0, 3.0)


def fit(truth: Parameters, **given):
    train, validation = part(200, 6, truth), part(60, 7, truth)
    settings = Settings(**{"n": N, "penalty": 0.0, "epochs": 80, **given})
    start = Parameters(np.eye(N), np.eye(N), truth.alpha, truth.beta)
    return learn(
        start,
        train,
        validation,
        penalty=settings.penalty,
        rate=settings.rate,
        settings=settings,
        rows=np.arange(200),
    )


def test_steps_are_those_of_adam_in_torch():
    import torch

    chance = np.random.default_rng(8)
    start, slopes = chance.normal(size=(3, 3)), chance.normal(size=(20, 3, 3))
    theirs = torch.nn.Parameter(torch.tensor(start))
    optimiser, ours, adam = torch.optim.Adam([theirs], lr=0.01), start, Adam(0.01)
    for slope in slopes:
        theirs.grad = torch.tensor(slope)
        optimiser.step()
        ours = adam.step(ours, slope)

    assert ours == pytest.approx(theirs.detach().numpy(), abs=1e-12)


def test_the_gradient_is_that_of_torch():
    import torch

    chance = np.random.default_rng(9)
    terms = Terms(*(chance.normal(size=shape) for shape in ((6, N), (6, 2, N), (6, N))))
    human = chance.uniform(1, 5, 6)
    held = [torch.tensor(chance.normal(size=(N, N)), requires_grad=True) for _ in "mn"]
    c, r, a = (torch.tensor(x) for x in (terms.contexts, terms.references, terms.responses))
    products = torch.einsum("ki,ij,kj->k", c, held[0], a)
    products = products + torch.einsum("kri,ij,kj->kr", r, held[1], a).max(1).values
    error = (products - 0.5) / 2.0 - torch.tensor(human)
    ((error**2).mean() + 0.02 * sum(matrix.abs().sum() for matrix in held)).backward()
    found = gradient(
        Parameters(held[0].detach().numpy(), held[1].detach().numpy(), 0.5, 2.0), terms, human, 0.02
    )

    for ours, theirs in zip(found, held, strict=True):
        assert ours == pytest.approx(theirs.grad.numpy(), abs=1e-9)


def test_what_made_the_scores_is_found_again(truth):
    found = fit(truth)

    assert found.history[0].validation > 1
    assert found.history[found.best].validation < 0.02
    assert found.parameters.m == pytest.approx(truth.m, abs=0.1)
    assert found.history[found.best].pearson > 0.99 > found.history[0].pearson


@pytest.mark.long
def test_the_penalty_makes_the_matrices_smaller(truth):
    norms = [fit(truth, penalty=penalty).parameters.norm for penalty in (0.0, 0.02, 0.2)]

    assert norms[0] > norms[1] > norms[2]


def test_the_best_epoch_is_kept_and_training_ends_when_nothing_gets_better(truth):
    found = fit(truth, rate=0.2, patience=4, epochs=200)
    errors = [epoch.validation for epoch in found.history]

    assert found.best == int(np.argmin(errors))
    assert len(errors) == found.best + 5 < 201
    assert [epoch.number for epoch in found.history] == list(range(len(errors)))
    validation = part(60, 7, truth)
    again = scores(found.parameters, validation.terms)
    assert float(((again - validation.human) ** 2).mean()) == pytest.approx(errors[found.best], abs=1e-12)


def test_validation_can_judge_by_correlation(truth):
    found = fit(truth, rate=0.2, patience=4, judge="pearson")
    correlations = [epoch.pearson for epoch in found.history]

    assert found.best == int(np.argmax(correlations))
    assert len(correlations) == found.best + 5


def test_an_untrained_model_may_be_the_best(truth):
    train, validation = part(50, 6, truth), part(50, 7, truth)
    noise = Part(train.terms, np.random.default_rng(1).uniform(1, 5, 50))
    settings = Settings(n=N, penalty=0.0, rate=0.5, patience=2, epochs=5)
    found = learn(truth, noise, validation, penalty=0.0, rate=0.5, settings=settings, rows=np.arange(50))

    assert found.best == 0
    assert found.parameters is truth


def test_the_seed_decides_the_order_of_examples(truth):
    first, again, other = (fit(truth, seed=seed, epochs=3) for seed in (1, 1, 2))

    assert np.array_equal(first.parameters.m, again.parameters.m)
    assert first.history == again.history
    assert not np.array_equal(first.parameters.m, other.parameters.m)


def test_scores_without_variance_have_no_correlation(truth):
    train = part(30, 6, truth)
    same = Part(train.terms, np.full(30, 3.0))
    start = started(train.terms, context=True, reference=True, scale=(1.0, 5.0))
    found = learn(
        start, train, same, penalty=0.0, rate=0.01, settings=Settings(n=N, epochs=1), rows=np.arange(30)
    )

    assert found.history[0].pearson is None
    assert found.history[0].as_json()["spearman"] is None
