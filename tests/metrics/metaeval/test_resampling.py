import numpy as np
import pytest

from metrics.metaeval.papers import adem_table14, resample_overall
from metrics.metaeval.plan import CorpusRule
from tests.metrics.metaeval.studies import known, study


def test_overall_scores_agree_much_more_than_single_answers_do():
    judged = known(questions=200)

    found = resample_overall(judged, {}, seed=0)["metrics"]

    single = np.corrcoef(judged.human, judged.metrics["seen-2"])[0, 1]
    assert found["seen-2"]["overall"]["value"] > single + 0.1
    assert found["seen-2"]["overall"]["n"] == 400
    assert found["seen-2"]["rule"] == "mean"


def test_with_all_questions_in_each_sample_it_is_the_correlation_of_the_systems_means():
    judged = study(
        [
            (s, q, h)
            for s, hs in (("a", (1, 2)), ("b", (2, 4)), ("c", (5, 5)))
            for q, h in zip("xy", hs, strict=True)
        ],
        {"m": (0, 2, 3, 5, 4, 4)},
    )

    found = resample_overall(judged, {}, seed=0, times=3, questions=2)["metrics"]["m"]["overall"]

    assert found["value"] == pytest.approx(np.corrcoef([1.5, 3, 5], [1, 4, 4])[0, 1])
    assert found["n"] == 9


def test_a_corpus_rule_gets_the_sums_of_the_sampled_answers():
    judged = study(
        [
            (s, q, h)
            for s, hs in (("a", (1, 2)), ("b", (2, 4)), ("c", (5, 5)))
            for q, h in zip("xy", hs, strict=True)
        ],
        {"m": (0, 0.5, 1, 0.5, 1, 1)},
    )
    hits = CorpusRule(
        np.array([[0, 1], [1, 2], [1, 1], [5, 10], [1, 1], [2, 2]], np.float64),
        lambda sums: float(sums[0] / sums[1]),
    )

    found = resample_overall(judged, {"m": hits}, seed=0, times=2, questions=2)["metrics"]["m"]

    # Corpus scores 1/3, 6/11 and 1 instead of the means .25, .75 and 1.
    assert found["rule"] == "corpus"
    assert found["overall"]["value"] == pytest.approx(np.corrcoef([1.5, 3, 5], [1 / 3, 6 / 11, 1])[0, 1])


def test_types_with_fewer_than_thirty_questions_have_no_figure():
    found = resample_overall(known(questions=40), {}, seed=0)["metrics"]["seen-0"]

    assert found["overall"]["value"] is not None
    assert found["number"]["value"] is None
    assert found["number"]["reason"] == "there are fewer than 30 questions with human scores"


def test_a_learning_curve_ends_at_the_correlation_over_all_answers():
    judged = known()

    found = adem_table14(judged, seed=0, times=10)["questions"]["seen-1"]

    assert [point["questions"] for point in found] == [3, 6, 15, 30, 45, 60]
    assert found[-1]["pearson"]["value"] == pytest.approx(
        np.corrcoef(judged.human, judged.metrics["seen-1"])[0, 1]
    )
    low, high = found[0]["pearson"]["middle"]
    assert high - low > 2 * np.ptp(found[-2]["pearson"]["middle"])


def test_more_ratings_per_answer_give_a_higher_correlation():
    found = adem_table14(known(questions=200), seed=0, times=10)["ratings"]["seen-0"]

    values = [point["pearson"]["value"] for point in found]
    assert [point["ratings"] for point in found] == [1, 2, 3, 4]
    assert values == sorted(values)


def test_without_single_ratings_the_curve_is_one_of_questions_only():
    judged = study([("s", f"q{k}", k) for k in range(5)], {"m": range(5)})

    assert adem_table14(judged, seed=0)["ratings"] == {
        "value": None,
        "reason": "there are no single ratings, only their means",
    }
