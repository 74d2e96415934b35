"""Soft labels: golden values of the LeWiDi task's code and of scipy."""

import numpy as np
import pytest

from metrics.soft_labels import entropies, per_rater, soft_scores
from tests.metrics.goldens import golden

_NAMES = ("cross_entropy", "manhattan", "wasserstein", "wasserstein_normalised", "kl", "jensen_shannon")


def cases():
    by_id = {}
    for case in golden("soft_labels")["cases"]:
        by_id[case["id"]] = {**by_id.get(case.get("same_data_as"), {}), **case}
        yield by_id[case["id"]]


def test_distances_and_entropies_are_the_published_ones():
    for case in cases():
        if case["kind"] != "soft" or case["expected"] == "refused":
            continue
        values = [value if isinstance(value, int) else place for place, value in enumerate(case["scale"])]
        smoothing = case.get("options", {}).get("smoothing", 0.0)
        scores = soft_scores(case["counts"], case["predicted"], values, smoothing=smoothing)
        entropy, normalised = entropies(case["counts"], smoothing)
        figures = {name: getattr(scores, name) for name in _NAMES}
        figures |= {"entropy": entropy, "entropy_normalised": normalised, "entropy_bits": entropy / np.log(2)}
        for place, expected in enumerate(case["expected"]["items"]):
            if expected is None:
                assert scores.reasons[place] == case["reason"]
                assert np.isnan(scores.manhattan[place])
                continue
            for name, value in expected.items():
                got = figures[name][place]
                about = f"{case['id']}, item {place}, {name}"
                assert np.isnan(got) if value is None else got == pytest.approx(value, abs=case["tol"]), about


def test_predictions_of_each_rater_and_what_is_no_distribution():
    case = next(each for each in cases() if each["kind"] == "perspectivist")
    error, distance = per_rater(case["human"], case["predicted"], span=4)
    assert error == pytest.approx(case["expected"]["error_rate"], abs=1e-9)
    assert distance == pytest.approx(case["expected"]["normalised_absolute_distance"], abs=1e-9)
    with pytest.raises(ValueError, match=r"item 1 sums to 1\.1"):
        soft_scores([[1, 1, 0]], [[0.2, 0.3, 0.6]], [1, 2, 3])
