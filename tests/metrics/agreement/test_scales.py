"""Scores with halves and from sliders: figures are those of the numbers that people gave."""

from fractions import Fraction

import krippendorff
import numpy as np
import pytest

from metrics.agreement.alpha import Level, alpha_of
from metrics.agreement.data import Ratings
from metrics.agreement.filters import z_removed
from metrics.agreement.intervals import alpha_interval
from metrics.agreement.kappa import pooled
from metrics.agreement.scale import Scale
from metrics.agreement.scores import adjusted, item_scores

SCALES = [("1", "5", "0.5"), ("0", "100", "1"), ("0", "1", "0.1"), ("0.5", "5.5", "1"), ("-2", "2", "0.25")]


def rated(scale: Scale, seed: int = 1) -> tuple[Ratings, np.ndarray]:
    """Sixty items by six of nine workers, and the same as a table of workers and items."""
    rng = np.random.default_rng(seed)
    true = rng.uniform(0, 1, 60)
    rows = [(item, worker) for item in range(60) for worker in rng.choice(9, 6, replace=False)]
    places = np.clip(true[[item for item, _ in rows]] + rng.normal(0, 0.2, len(rows)), 0, 1)
    count = (scale.size - 1) // scale.every
    steps = scale.low + np.rint(places * count).astype(np.int16) * scale.every
    ratings = Ratings(
        np.array([item for item, _ in rows], np.int32),
        np.array([worker for _, worker in rows], np.int32),
        steps.astype(np.int16),
        [f"q{item}" for item in range(60)],
        [f"w{worker}" for worker in range(9)],
        scale,
    )
    table = np.full((9, 60), np.nan)
    table[ratings.workers, ratings.items] = scale.values[steps - scale.low]
    return ratings, table


@pytest.mark.parametrize(
    ("ends", "level"),
    [
        (ends, level)
        for ends in SCALES
        for level in ("nominal", "ordinal", "interval", "ratio")
        if level != "ratio" or float(ends[0]) >= 0
    ],
)
def test_alpha_is_that_of_the_package_krippendorff(ends, level: Level):
    ratings, table = rated(Scale.of(*ends))
    found = krippendorff.alpha(reliability_data=table, level_of_measurement=level)
    assert alpha_of(ratings, level).value == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize("ends", SCALES)
def test_scores_are_in_points_of_the_scale(ends):
    ratings, table = rated(Scale.of(*ends))
    scores = item_scores(ratings)
    assert scores.mean == pytest.approx(np.nanmean(table, axis=0))
    assert scores.sd == pytest.approx(np.nanstd(table, axis=0, ddof=1))
    assert scores.median == pytest.approx(np.nanmedian(table, axis=0))
    model = adjusted(ratings)
    assert np.corrcoef(model.quality, scores.mean)[0, 1] > 0.95
    assert model.quality.mean() == pytest.approx(
        scores.mean.mean(), abs=0.02 * float(np.ptp(ratings.scale.values))
    )


@pytest.mark.parametrize("ends", SCALES)
def test_the_z_filter_takes_what_lies_far_from_the_mean_of_the_numbers(ends):
    ratings, table = rated(Scale.of(*ends))
    mean, sd = np.nanmean(table, axis=0), np.nanstd(table, axis=0)
    given = table[ratings.workers, ratings.items]
    far = np.abs(given - mean[ratings.items]) > 1.5 * sd[ratings.items]
    assert (z_removed(ratings, limit=1.5).mask == far).all()


def test_halves_and_twice_the_numbers_have_the_same_kappas():
    ratings, _ = rated(Scale.of("1", "5", "0.5"))
    whole = Ratings(
        ratings.items, ratings.workers, ratings.scores, ratings.item_names, ratings.worker_names, Scale(2, 10)
    )
    assert np.array_equal(pooled(ratings).kappa, pooled(whole).kappa)


def test_the_interval_of_a_slider_is_that_of_looking_at_all_pairs_of_scores(monkeypatch):
    ratings, _ = rated(Scale.of("0", "100"))
    fast = alpha_interval(ratings, replicates=60, seed=3)
    monkeypatch.setattr("metrics.agreement.intervals.FEW", 101)
    assert fast == pytest.approx(alpha_interval(ratings, replicates=60, seed=3), abs=1e-4)


def test_a_scale_says_its_scores_as_people_give_them():
    scale = Scale.of("1", "5", "0.5")
    assert scale.texts == ["1", "1.5", "2", "2.5", "3", "3.5", "4", "4.5", "5"]
    assert scale.description == "from 1 to 5 in steps of 0.5"
    assert scale.step_of(Fraction("2.5")) == 5
    assert scale.step_of(Fraction("2.4")) is None
    assert Scale.of("0.5", "5.5").step_of(Fraction("1")) is None
    assert Scale.of("0", "1", "0.1").texts[3] == "0.3"
    assert Scale() == Scale.of(1, 5)


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        (("5", "1"), "from a lower to a higher"),
        (("1", "5", "0"), "in steps above 0"),
        (("1", "5", "3"), "steps of 3 do not lead from 1 to 5"),
        (("0", "100", "0.01"), "at most 1,001 scores"),
    ],
)
def test_a_scale_that_there_cannot_be_is_refused(ends, words):
    with pytest.raises(ValueError, match=words):
        Scale.of(*ends)
