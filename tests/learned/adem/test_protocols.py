"""The tables that train again, checked against what the same trainings give when they are made one by one."""

import numpy as np
import pytest

from distillery_learned.training import protocols, study
from distillery_learned.training.sources import split
from metrics.errors import MetricError
from metrics.metaeval.correlation import p_of_correlation
from metrics.metaeval.data import ScoredAnswers
from metrics.metaeval.executor import generator
from metrics.metaeval.papers import adem_table6, normalised

SYSTEMS = ("a", "b", "c", "d")


@pytest.fixture(scope="module")
def judged():
    chance = np.random.default_rng(3)
    questions = np.repeat(np.arange(40), 4).astype(np.int32)
    quality = chance.normal(3, 1, 160)
    return ScoredAnswers(
        human=np.clip(np.round(quality * 2) / 2, 1, 5),
        metrics={
            "bleu-2": np.clip(quality / 5 + chance.normal(0, 0.2, 160), 0, 1),
            "rouge-l": np.clip(quality / 5 + chance.normal(0, 0.1, 160), 0, 1),
            "adem": quality + chance.normal(0, 0.8, 160),
        },
        systems=np.tile(np.arange(4), 40).astype(np.int32),
        questions=questions,
        system_names=SYSTEMS,
        question_names=[f"q{k:02}" for k in range(40)],
    )


@pytest.fixture(scope="module")
def parts(judged):
    return split([judged.question_names[k] for k in judged.questions], 0)


class Line:
    """People's scores as a line of three columns of numbers, by least squares."""

    def __init__(self, judged, training):
        self.columns = np.stack(
            [judged.metrics["bleu-2"], np.sin(judged.metrics["adem"]), np.ones(len(judged))], axis=1
        )
        self.slopes = np.linalg.lstsq(self.columns[training], judged.human[training], rcond=None)[0]

    def scores(self, rows, which):
        assert which == "adem"
        return self.columns[rows] @ self.slopes


@pytest.fixture
def fit(judged):
    """Trains lines; `fit.asked` are the rows of each training."""

    def training(train, validation):
        if len(train) < 3:
            raise MetricError("There are too few answers.")
        training.asked.append((train.tolist(), validation.tolist()))
        return Line(judged, train)

    training.asked = []
    return training


def pearson(a, b):
    return float(np.corrcoef(a, b)[0, 1])


def test_table_3_has_all_answers_or_validation_and_the_test_set(judged, parts):
    found = protocols.table3(judged, parts, ["adem"], replicates=50, seed=1)["metrics"]

    for name, where in (("rouge-l", {"full": slice(None), "test": parts.test}),
                        ("adem", {"validation": parts.validation, "test": parts.test})):  # fmt: skip
        assert sorted(found[name]) == sorted([*where, "trained"])
        for part, rows in where.items():
            r = pearson(judged.human[rows], judged.metrics[name][rows])
            said = found[name][part]["pearson"]
            assert said["value"] == pytest.approx(r)
            assert said["p"] == pytest.approx(p_of_correlation(r, said["n"]))
            assert said["ci"][0] < r < said["ci"][1]
    assert found["adem"]["trained"]
    assert not found["rouge-l"]["trained"]


def test_table_5_trains_without_each_system_and_stops_without_it(judged, parts, fit):
    found = protocols.table5(judged, parts, fit, seed=4, times=2)

    for k, (row, (training, validation)) in enumerate(zip(found["systems"], fit.asked, strict=False)):
        assert row["system"] == SYSTEMS[k]
        assert training == [row for row in parts.train if judged.systems[row] != k]
        assert validation == [row for row in parts.validation if judged.systems[row] != k]
        scores = Line(judged, training).scores(parts.test, "adem")
        own = judged.systems[parts.test] == k
        human = judged.human[parts.test]
        assert row["full"]["pearson"]["value"] == pytest.approx(pearson(human, scores))
        assert row["removed"]["pearson"]["value"] == pytest.approx(pearson(human[own], scores[own]))
        assert row["removed"]["pearson"]["n"] == own.sum()
        assert row["trained_on"] == len(training)
    for part in ("full", "removed"):
        mean = np.mean([row[part]["spearman"]["value"] for row in found["systems"]])
        assert found["average"][part]["spearman"]["value"] == pytest.approx(mean)


def test_the_last_row_of_table_5_has_all_systems_and_as_much_less(judged, parts, fit):
    found = protocols.table5(judged, parts, fit, seed=4, times=3)["at_random"]

    deals = fit.asked[4:]
    assert len(deals) == 3
    assert len({tuple(training) for training, _ in deals}) == 3
    for training, validation in deals:
        assert len(training) == found["trained_on"] == len(parts.train) * 3 // 4
        assert set(training) < set(parts.train.tolist())
        assert set(judged.systems[training]) == {0, 1, 2, 3}
        assert validation == parts.validation.tolist()
    values = [
        pearson(judged.human[parts.test], Line(judged, training).scores(parts.test, "adem"))
        for training, _ in deals
    ]
    assert found["pearson"]["value"] == pytest.approx(np.mean(values))
    assert found["share"] == 0.25


def test_one_system_cannot_be_left_out(judged, parts, fit):
    alone = protocols.of_rows(judged, np.flatnonzero(judged.systems == 0))
    whole = split([alone.question_names[k] for k in alone.questions], 0)

    assert protocols.table5(alone, whole, fit, seed=0) == {"value": None, "reason": protocols.ONE_SYSTEM}
    assert not fit.asked


def test_table_14_takes_the_smaller_share_from_the_larger(judged, parts, fit):
    found = protocols.table14(judged, judged.questions, parts, fit, seed=2, shares=(1.0, 0.5, 0.25), times=2)

    contexts = np.unique(judged.questions[parts.train])
    assert [len(fit.asked), *(point["samples"] for point in found["points"])] == [5, 1, 2, 2]
    whole, *halves = (set(training) for training, _ in fit.asked[:3])
    quarters = [set(training) for training, _ in fit.asked[3:]]
    assert whole == set(parts.train.tolist())
    assert all(quarter < half < whole for quarter, half in zip(quarters, halves, strict=True))
    half = found["points"][1]
    order = generator(2, "adem table 14", 0).permutation(contexts)[: half["contexts"]]
    assert set(judged.questions[sorted(halves[0])]) == set(order)
    values = [
        pearson(judged.human[parts.test], Line(judged, sorted(rows)).scores(parts.test, "adem"))
        for rows in halves
    ]
    assert half["pearson"]["value"] == pytest.approx(np.mean(values))
    assert (half["pearson"]["low"], half["pearson"]["high"]) == pytest.approx((min(values), max(values)))
    assert half["pearson"]["p"] == pytest.approx(p_of_correlation(np.mean(values), len(parts.test)))
    assert "low" not in found["points"][0]["pearson"]


def test_a_share_that_is_too_small_to_train_on_has_a_reason(judged, parts):
    def fit(training, validation):
        raise MetricError("There are too few answers.")

    point = protocols.table14(judged, judged.questions, parts, fit, seed=2, shares=(0.05,))["points"][0]

    assert point["pearson"]["value"] is None
    assert point["pearson"]["reason"] == "There are too few answers"


def test_the_examples_are_those_that_table_6_counts(judged):
    found = protocols.cascade(judged, "adem", (1, 5))
    counts = adem_table6(judged, (1, 5))["metrics"]["adem"]
    values = {name: normalised(judged.metrics[name], judged.human, (1, 5)) for name in judged.metrics}

    assert len(found["finds"]) == counts["metric_finds"]
    assert len(found["misses"]) == counts["overlap_finds"]
    for row in range(len(judged)):
        overlap = [values["bleu-2"][row], values["rouge-l"][row]]
        bad = judged.human[row] <= 2 and min(overlap) < 2 and values["adem"][row] > 4
        assert (row in found["mistakes"]) == bad


def test_without_overlap_metrics_there_are_no_examples(judged):
    assert protocols.cascade(judged, "adem", (1, 5), overlap=("chrf",)) == {}


def test_out_of_fold_each_row_is_scored_by_the_model_of_its_fold(judged, fit):
    from distillery_learned.training.sources import folds

    keys = [judged.question_names[k] for k in judged.questions]
    dealt = folds(keys, 4, 0)

    found = protocols.out_of_fold(len(judged), dealt, [fit] * 4, ["adem"])["adem"]

    assert sorted(row for fold in dealt for row in fold.test) == list(range(160))
    for fold, (training, _) in zip(dealt, fit.asked, strict=True):
        assert not set(judged.questions[training]) & set(judged.questions[fold.test])
        assert found[fold.test] == pytest.approx(Line(judged, fold.train).scores(fold.test, "adem"))


def test_the_best_metric_and_the_difference_to_it(judged):
    assert protocols.best(judged, ["bleu-2", "rouge-l"]) == "rouge-l"

    found = protocols.difference(judged, "bleu-2", "rouge-l", "pearson", replicates=200, draws=199, seed=5)

    r = {name: pearson(judged.human, judged.metrics[name]) for name in ("bleu-2", "rouge-l")}
    assert found["value"] == pytest.approx(r["bleu-2"] - r["rouge-l"])
    assert found["ci"][0] < found["value"] < found["ci"][1]
    assert found["n"] == 160
    assert found["p"] == pytest.approx(0.005)  # (1 + 0) / (1 + 199)


def test_the_interval_of_a_difference_is_that_of_differences_in_the_same_samples(judged):
    same = protocols.difference(
        ScoredAnswers(
            **{name: getattr(judged, name) for name in ScoredAnswers.__slots__ if name != "metrics"},
            metrics={"x": judged.metrics["adem"], "y": judged.metrics["adem"] * 2 + 1},
        ),
        "x", "y", "pearson", replicates=50, draws=19, seed=5,
    )  # fmt: skip

    assert same["value"] == pytest.approx(0)
    assert same["ci"] == pytest.approx([0, 0], abs=1e-9)
    assert same["p"] == 1


def test_a_constant_metric_differs_from_none(judged):
    constant = ScoredAnswers(
        **{name: getattr(judged, name) for name in ScoredAnswers.__slots__ if name != "metrics"},
        metrics={"x": judged.metrics["adem"], "y": np.ones(160)},
    )

    found = protocols.difference(constant, "x", "y", "pearson", replicates=20, draws=19, seed=5)

    assert (found["value"], found["ci"], found["p"]) == (None, None, None)
    assert found["reason"].startswith("y: not defined")
    assert protocols.best(constant, ["y"]) == ""


def test_the_papers_figures_as_they_are_printed():
    said = study.as_json()

    assert said["table3"]["adem"]["test"] == {"spearman": 0.414, "pearson": 0.395}
    assert said["table3"]["c-adem"]["test"] == {"spearman": 0.293, "pearson": 0.303}
    assert said["table4"]["adem"] == 0.981
    assert said["table6"]["metric_finds"] == 60
    assert [each["share"] for each in said["table14"]] == list(protocols.SHARES)
