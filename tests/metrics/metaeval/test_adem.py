import numpy as np
import pytest

from metrics.metaeval import papers
from tests.metrics.metaeval.studies import known, study

NAN = float("nan")


def test_normalised_scores_have_the_mean_and_variance_of_the_human_ones():
    human = np.array([2.0, 3, 4])

    assert papers.normalised(np.array([10.0, 20, 30]), human, (1, 5)).tolist() == pytest.approx([2, 3, 4])


def test_normalised_scores_stay_on_the_scale_and_raw_zero_is_its_low_end():
    human = np.array([1.0, 3, 3, 5])

    # Mean 15, sd root of 412.5; human mean 3, sd root of 2: 0 would be 1.96, 50 would be 5.44.
    found = papers.normalised(np.array([0.0, 5, 5, 50]), human, (1, 5))

    assert found.tolist() == pytest.approx([1, 2.30369, 2.30369, 5], abs=1e-5)


def test_answers_without_a_score_have_no_normalised_one_and_move_no_other():
    found = papers.normalised(np.array([10.0, NAN, 30, 99]), np.array([2.0, 1, 4, NAN]), (1, 5))

    assert np.isnan(found[1])
    assert found[[0, 2]].tolist() == pytest.approx([2, 4])


def test_a_constant_metric_cannot_be_normalised():
    assert np.isnan(papers.normalised(np.full(3, 0.5), np.array([1.0, 2, 3]), (1, 5))).all()


def test_table_3_has_both_correlations_with_their_p_values():
    judged = study([("s", f"q{k}", h) for k, h in enumerate((1, 2, 3, 4))], {"m": (2, 1, 4, 3)})

    found = papers.adem_table3(judged)["metrics"]["m"]

    # r = .6; t = .6 sqrt(2) / .8 = 1.0607 with 2 degrees of freedom: p = .4.
    assert found["pearson"] == {"value": pytest.approx(0.6), "n": 4, "p": pytest.approx(0.4)}
    assert found["spearman"] == {"value": pytest.approx(0.6), "n": 4, "p": pytest.approx(0.4)}


def test_the_papers_own_p_value_of_table_4_comes_out():
    # Printed: ADEM .981 (.019), BLEU-1 -.079 (.921), ROUGE .268 (.732), for 4 systems.
    from metrics.metaeval.correlation import p_of_correlation

    assert p_of_correlation(0.981, 4) == pytest.approx(0.019, abs=5e-4)
    assert p_of_correlation(-0.079, 4) == pytest.approx(0.921, abs=5e-4)
    assert p_of_correlation(0.268, 4) == pytest.approx(0.732, abs=5e-4)


def test_table_4_correlates_the_means_of_systems():
    rows = [
        (s, q, h)
        for s, hs in (("a", (1, 2)), ("b", (2, 4)), ("c", (5, 5)))
        for q, h in zip("xy", hs, strict=True)
    ]

    found = papers.adem_table4(study(rows, {"m": (0, 2, 3, 5, 4, 4)}), (1, 5))["metrics"]["m"]

    # Means 1.5, 3, 5 of people; 1, 4, 4 of the metric.
    assert found["pearson"]["value"] == pytest.approx(np.corrcoef([1.5, 3, 5], [1, 4, 4])[0, 1])
    assert [point["system"] for point in found["points"]] == ["a", "b", "c"]
    assert [point["human"] for point in found["points"]] == [1.5, 3, 5]


def test_table_4_of_two_systems_has_a_reason_and_no_value():
    found = papers.adem_table4(study([("a", "q", 1), ("b", "q", 2)], {"m": (1, 2)}), (1, 5))["metrics"]["m"]

    assert found["pearson"]["value"] is None
    assert found["pearson"]["reason"] == "fewer than three systems have both scores"


def test_table_5_leaves_one_system_out_at_a_time():
    rows = [(s, f"q{k}", h) for s, hs in (("a", (1, 2, 3)), ("b", (1, 2, 4))) for k, h in enumerate(hs)]

    found = papers.adem_table5(study(rows, {"m": (1, 2, 3, 4, 2, 1)}), seed=0)["metrics"]["m"]

    # b falls while people rise: r of (1 2 4) with (4 2 1).
    of_b = np.corrcoef([1, 2, 4], [4, 2, 1])[0, 1]
    assert found["systems"][0]["rest"]["pearson"]["value"] == pytest.approx(of_b)
    assert found["systems"][0]["removed"]["pearson"]["value"] == pytest.approx(1)
    assert found["systems"][1]["removed"]["pearson"]["value"] == pytest.approx(of_b)
    assert found["average"]["removed"]["pearson"]["value"] == pytest.approx((1 + of_b) / 2)
    assert found["at_random"]["share"] == 0.5


def test_removals_at_random_are_the_same_for_the_same_seed():
    once, again, other = (papers.adem_table5(known(), seed=seed) for seed in (1, 1, 2))

    assert once == again
    assert once["metrics"]["random"]["at_random"] != other["metrics"]["random"]["at_random"]


def test_table_6_counts_the_cascade():
    human = (5, 5, 4, 4, 1, 1)
    judged = study(
        [("s", f"q{k}", h) for k, h in enumerate(human)],
        {
            "bleu-2": (0, 0, 9, 0, 9, 0),
            "rouge-l": (0, 0, 9, 0, 9, 0),
            "mine": (9, 9, 0, 0, 0, 0),
        },
    )

    found = papers.adem_table6(judged, (1, 5))["metrics"]["mine"]

    # Raw 0 is 1 after normalising, 9 is above 4: good are the first four; overlap fails on 1, 2 and 4.
    assert found == {
        "answers": 6,
        "good": 4,
        "overlap_fails": 3,
        "metric_finds": 2,
        "metric_fails": 2,
        "overlap_finds": 1,
    }


def test_table_6_moves_its_bounds_with_the_scale():
    found = papers.adem_table6(study([("s", "q", 0.5)], {"bleu-2": [0.1], "m": [1]}), (0, 1))

    assert (found["low"], found["high"]) == (0.25, 0.75)
    assert found["missing"] == ["rouge-l"]


def test_table_6_without_overlap_metrics_says_so():
    found = papers.adem_table6(known(), (1, 5))

    assert found["metrics"] is None
    assert (
        found["reason"]
        == "the word-overlap metrics of the paper, bleu-2 and rouge-l, are not among the metrics"
    )
