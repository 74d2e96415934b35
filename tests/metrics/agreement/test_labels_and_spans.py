"""Alpha of labels, sets and spans: published and independently computed values, and intervals."""

import krippendorff
import numpy as np
import pytest

from metrics.agreement.labels import (
    Labels,
    jaccard_distance,
    label_alpha,
    level_distances,
    masi_distance,
    set_distances,
)
from metrics.agreement.spans import LENGTHS_UNKNOWN, OVERLAPPING, MarkedText, span_f1, unitized_alpha
from tests.metrics.goldens import golden

CASES = golden("sets_spans")["cases"]


def set_of(text):
    return frozenset(filter(None, text.split(",")))


def cases_of(*kinds):
    return [pytest.param(case, id=case["id"]) for case in CASES if case["kind"] in kinds]


@pytest.mark.parametrize("case", cases_of("set_alpha"))
def test_the_golden_alphas_of_sets(case):
    items, workers, texts = zip(*case["ratings"], strict=True)
    sets = [set_of(text) for text in texts]
    categories = sorted(set(sets), key=sorted)
    codes = np.array([categories.index(each) for each in sets])
    labels = Labels(np.array(items), np.array(workers), codes, len(categories))
    apart = {name: set_distances(categories, name) for name in ("masi", "jaccard")}
    apart["nominal"] = level_distances(range(len(categories)), "nominal")
    for name, expected in case["expected"].items():
        alpha = label_alpha(labels, apart[name])
        assert alpha.alpha == pytest.approx(expected, abs=case.get("tol", 0)), name
        assert alpha.reason == case.get("reason", "")


@pytest.mark.parametrize("case", cases_of("masi_distance"))
def test_the_golden_distances(case):
    distances = [masi_distance(set_of(one), set_of(other)) for one, other in case["pairs"]]
    assert distances == pytest.approx(case["expected"], abs=1e-12)
    assert jaccard_distance(frozenset("ab"), frozenset("bc")) == pytest.approx(2 / 3)


@pytest.mark.parametrize("case", cases_of("span_f1"))
def test_the_golden_f1(case):
    texts = [
        MarkedText(
            {
                str(rater): [
                    (start, end, "x")
                    for at, by, start, end in case["spans"]
                    if (at, by) == (int(item), rater)
                ]
                for rater in case["raters_per_item"]
            },
            length,
        )
        for item, length in case["lengths"].items()
    ]
    f1, expected = span_f1(texts), case["expected"]
    if expected is None:
        assert (f1.macro, f1.micro, f1.reason) == (None, None, case["reason"])
        return
    assert [f1.macro, f1.micro] == pytest.approx([expected["macro"], expected["micro"]], abs=case["tol"])
    assert list(f1.by_text) == pytest.approx(list(expected["per_item"].values()), abs=case["tol"])


@pytest.mark.parametrize("case", cases_of("u_alpha", "u_alpha_pooled"))
def test_the_golden_unitized_alphas(case):
    texts = [
        MarkedText(
            {name: [tuple(span[1:]) for span in text["spans"] if span[0] == name] for name in text["raters"]},
            text["length"],
        )
        for text in case.get("texts", [case])
    ]
    alpha = unitized_alpha(texts)
    assert alpha.alpha == pytest.approx(case["expected"], abs=case.get("tol", 0))
    assert alpha.reason == case.get("reason", "")


def test_spans_without_lengths_or_with_overlaps_have_no_alpha():
    spans = {"x": [(0, 4, "a")], "y": [(2, 6, "a"), (5, 8, "a")]}
    assert unitized_alpha([MarkedText(spans)]).reason == LENGTHS_UNKNOWN
    assert unitized_alpha([MarkedText(spans, 9)]).reason == OVERLAPPING


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_is_that_of_the_package_and_its_interval_covers_the_truth(level):
    rng = np.random.default_rng(1)
    values = np.array([0.5, 1, 2, 4])
    truth = rng.integers(0, 4, 60)
    workers = np.tile(np.arange(6), 60)
    items = np.repeat(np.arange(60), 6)
    codes = np.where(rng.random(360) < 0.6, truth[items], rng.integers(0, 4, 360))
    alpha = label_alpha(Labels(items, workers, codes, 4), level_distances(values, level), replicates=200)
    table = values[codes].reshape(60, 6).T
    assert alpha.alpha == pytest.approx(krippendorff.alpha(table, level_of_measurement=level), abs=1e-9)
    assert alpha.alpha == pytest.approx(1 - alpha.observed / alpha.expected)
    assert alpha.low < alpha.alpha < alpha.high
    again = label_alpha(Labels(items, workers, codes, 4), level_distances(values, level), replicates=200)
    assert (again.low, again.high) == (alpha.low, alpha.high)
