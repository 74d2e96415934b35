from dataclasses import replace

import numpy as np
import pytest

from metrics.agreement.planning import CROWDS, Crowd, simulated


def test_every_item_gets_its_ratings_from_different_workers():
    ratings = simulated(CROWDS["moderate"], items=40, per_item=10, workers=30, seed=1).ratings

    assert list(np.bincount(ratings.items)) == [10] * 40
    assert len(set(zip(ratings.items.tolist(), ratings.workers.tolist(), strict=True))) == 400


def test_the_seed_decides_everything():
    one, same, other = (simulated(CROWDS["heavy"], items=20, workers=30, seed=seed) for seed in (3, 3, 4))

    assert np.array_equal(one.ratings.scores, same.ratings.scores)
    assert not np.array_equal(one.ratings.scores, other.ratings.scores)


@pytest.mark.parametrize(
    ("name", "spammers"), [("clean", 0), ("moderate", 22), ("heavy", 52), ("noise", 150)]
)
def test_a_crowd_has_its_share_of_spammers(name, spammers):
    assert simulated(CROWDS[name], items=10, seed=0).spammers.sum() == spammers


def test_the_truth_is_the_mean_of_endless_honest_workers():
    study = simulated(Crowd(), items=30, per_item=4000, workers=4000, seed=2)
    means = np.bincount(study.ratings.items, study.ratings.scores) / 4000

    assert np.abs(means - study.truth).max() < 0.1


def test_a_contested_item_has_two_views():
    crowd = replace(Crowd(), contested=1.0, apart=3.0)
    honest = simulated(crowd, items=200, seed=1)
    quiet = simulated(replace(crowd, contested=0.0), items=200, seed=1)

    assert honest.contested.all()
    assert honest.ratings.scores.reshape(-1).std() > 0
    assert np.abs(honest.truth - 3).mean() < np.abs(quiet.truth - 3).mean()


def test_spammers_fail_more_attention_checks():
    study = simulated(CROWDS["heavy"], items=10, seed=0)
    share = study.failed / study.presented

    assert share[study.spammers].mean() > 0.5
    assert share[~study.spammers].mean() < 0.06


def test_pure_noise_has_no_truth():
    assert np.isnan(simulated(CROWDS["noise"], items=5, seed=0).truth).all()
