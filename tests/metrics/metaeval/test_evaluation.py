import json
import math
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.errors import MetricError
from metrics.metaeval.breakdown import human_mean
from metrics.metaeval.data import Raters, ScoredAnswers, _number_workers, _raters, rows_of
from metrics.metaeval.executor import processes
from metrics.metaeval.papers import PROTOCOLS
from metrics.metaeval.report import Comparison, CorpusRule, Plan, ReportHeader, evaluate
from tests.metrics.metaeval.studies import known, shuffled, study
from tests.scale import limit_cases

QUICK = Plan(replicates=50, draws=99)
FULL = replace(QUICK, protocols=tuple(PROTOCOLS))
NAN = float("nan")

DEGENERATE = {
    "empty": study([], {"m": []}),
    "one answer": study([("a", "q", 3)], {"m": [0.5]}),
    "one system": study([("a", f"q{k}", k % 5) for k in range(9)], {"m": range(9), "k": [1] * 9}),
    "one question": study([(f"s{k}", "q", k % 5) for k in range(9)], {"m": range(9)}),
    "constant": study(
        [("a", "q", 3), ("b", "q", 3), ("a", "r", 3), ("b", "r", 3)], {"m": [1] * 4, "k": range(4)}
    ),
    "no human score": study([("a", "q", NAN), ("b", "q", NAN)], {"m": [1, 2]}),
    "no metric score": study([("a", "q", 1), ("b", "q", 2), ("a", "r", 4)], {"m": [NAN] * 3, "k": [1, 2, 3]}),
    "no metric": study([("a", "q", 1), ("b", "q", 2)]),
    "infinite": study([("a", "q", 1), ("b", "q", 2), ("a", "r", 4)], {"m": [math.inf, -math.inf, 1]}),
    "tiny": study([("a", f"q{k}", k) for k in range(4)], {"m": [1e-300, 2e-300, 3e-300, 5e-300]}),
    "huge": study([("a", f"q{k}", k) for k in range(4)], {"m": [1e50, 2e49, 3e49, -5e49]}),
    "lengths missing": study(
        [("a", "q", 1), ("b", "q", 2)], {"m": [1, 2]}, lengths=[NAN, NAN], reference_lengths=[NAN, 1]
    ),
    "one rating each": study(
        [("a", "q", 1), ("b", "q", 2)], {"m": [1, 2]}, ratings=[(0, "w", 1), (1, "w", 2)]
    ),
}


def texts(value) -> str:
    return json.dumps(value, allow_nan=False, sort_keys=True)


def nothing_without_reason(value, path="report") -> None:
    if isinstance(value, dict):
        if "value" in value and value["value"] is None:
            assert value.get("reason"), path
        for name, part in value.items():
            nothing_without_reason(part, f"{path}.{name}")
    elif isinstance(value, list):
        for place, part in enumerate(value):
            nothing_without_reason(part, f"{path}[{place}]")


@pytest.mark.parametrize("judged", DEGENERATE.values(), ids=DEGENERATE)
def test_what_is_not_defined_is_null_with_a_reason_and_nan_nowhere(judged):
    report = evaluate(judged, FULL)

    texts(report)
    nothing_without_reason(report)


def test_rows_in_another_order_give_the_same_report_to_the_last_bit():
    judged = known(questions=20)

    assert texts(evaluate(shuffled(judged), FULL)) == texts(evaluate(judged, FULL))


def test_corpus_rules_move_with_their_rows():
    judged = known(questions=30, systems=3)
    sums = np.stack([judged.metrics["seen-0"], np.ones(len(judged))], axis=1)
    rows = np.random.default_rng(0).permutation(len(judged))
    moved = replace(
        judged,
        human=judged.human[rows],
        metrics={name: values[rows] for name, values in judged.metrics.items()},
        systems=judged.systems[rows],
        questions=judged.questions[rows],
        lengths=None,
        raters=None,
    )
    plain = replace(judged, lengths=None, raters=None)

    def ratio(sums):
        return float(sums[0] / sums[1])

    once = evaluate(plain, FULL, ReportHeader(rules={"seen-0": CorpusRule(sums, ratio)}))
    again = evaluate(moved, FULL, ReportHeader(rules={"seen-0": CorpusRule(sums[rows], ratio)}))

    assert once["protocols"]["resample_overall"] == again["protocols"]["resample_overall"]
    assert once["protocols"]["resample_overall"]["metrics"]["seen-0"]["rule"] == "corpus"


@pytest.mark.long
def test_two_processes_give_the_same_bits():
    judged = known(questions=20)

    with processes(2) as spread:
        assert texts(evaluate(judged, QUICK, spread=spread)) == texts(evaluate(judged, QUICK))


def test_progress_counts_every_part_to_the_end():
    heard: list[tuple[int, int, str]] = []

    evaluate(known(questions=10), QUICK, progress=lambda done, total, what: heard.append((done, total, what)))

    total = heard[0][1]
    assert [done for done, _, _ in heard] == list(range(1, total + 1))
    assert heard[0][2] == "metric random"


def test_a_protocol_that_there_is_not_is_refused_with_those_that_there_are():
    with pytest.raises(MetricError, match=r"no protocol 'adem-table1'; there are .*, adem-table3, "):
        evaluate(known(questions=5), Plan(protocols=("adem-table1",)))


def test_scores_beyond_all_bounds_are_refused():
    with pytest.raises(MetricError, match="m: scores beyond 1e\\+50"):
        evaluate(study([("a", "q", 1), ("b", "q", 2)], {"m": [1e300, 1]}), QUICK)


@pytest.mark.parametrize(
    "wrong",
    [
        {"statistics": ("phi",)},
        {"groupings": ("all",)},
        {"draws": 0},
        {"replicates": -1},
        {"gap": 0},
        {"scale": (5, 1)},
        {"replicates": 0, "comparisons": (Comparison("pearson", "global", "bootstrap"),)},
    ],
    ids=str,
)
def test_a_plan_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(MetricError):
        Plan(**wrong)


def test_the_metric_that_sees_more_agrees_more_and_chance_does_not():
    report = evaluate(known(), QUICK)
    metrics = report["metrics"]

    values = [metrics[name]["pearson"]["global"]["value"] for name in ("seen-0", "seen-1", "seen-2")]
    assert values == sorted(values, reverse=True)
    assert abs(metrics["random"]["pearson"]["global"]["value"]) < 0.2
    floor = report["floors"]["question"]
    assert floor["pearson"]["global"]["value"] is not None
    assert floor["pearson"]["item"]["reason"].startswith("this floor is made of the human scores")
    assert floor["pair_acc"]["value"] is None
    means = [system["human"]["value"] for system in report["systems"]]
    assert means == sorted(means)
    for system in report["systems"]:
        low, high = system["human"]["ci"]
        assert low < system["human"]["value"] < high
        assert system["n"] == 60


def test_n_counts_what_there_is():
    judged = study([("a", "q", 1), ("b", "q", NAN), ("a", "r", 3)], {"m": [1, 2, NAN]}, ratings=[(0, "w", 1)])

    report = evaluate(judged, QUICK)

    assert report["n"] == {"answers": 3, "questions": 2, "systems": 2, "scored": 2, "ratings": 1}
    assert report["metrics"]["m"]["n"] == 1
    assert report["metrics"]["m"]["undefined"] == {"no reason was given": 1}


def test_what_the_scores_do_not_know_comes_from_outside():
    about = ReportHeader(
        title="Answers about rivers",
        titles={"m": "Mine"},
        corpus={"m": {"a": 0.25}},
        undefined={"m": {"there is no reference": 1}},
        alpha=(0.4, 0.6),
    )
    judged = study([("a", "q", 1), ("b", "q", 2), ("a", "r", 3)], {"m": [1, 2, NAN]})

    report = evaluate(judged, QUICK, about)

    assert report["title"] == "Answers about rivers"
    assert report["alpha"] == {"before": 0.4, "after": 0.6}
    assert report["metrics"]["m"]["title"] == "Mine"
    assert report["metrics"]["m"]["corpus"] == {"a": 0.25, "b": None}
    assert report["metrics"]["m"]["undefined"] == {"there is no reference": 1}
    assert report["systems"][0]["metrics"]["m"]["corpus"] == 0.25


def test_figures_by_type_are_over_the_answers_to_its_questions():
    rows = [("a", f"q{k}", h) for k, h in enumerate((1, 2, 3, 1, 2, 3))]
    types = {f"q{k}": "up" if k < 3 else "down" for k in range(6)}

    report = evaluate(study(rows, {"m": (1, 2, 3, 3, 2, 1)}, types=types), QUICK)

    assert report["types"] == [{"name": "down", "n": 3}, {"name": "up", "n": 3}]
    by_type = report["metrics"]["m"]["by_type"]
    assert by_type["up"]["pearson"]["value"] == pytest.approx(1)
    assert by_type["down"]["pearson"]["value"] == pytest.approx(-1)


def sentence(report, *words: str) -> bool:
    return any(all(word in warning for word in words) for warning in report["warnings"])


def test_few_systems_few_questions_and_inferred_systems_are_warned_of():
    report = evaluate(known(questions=20, systems=3), QUICK, ReportHeader(inferred=True))

    assert sentence(report, "There are 3 systems", "little below 4")
    assert sentence(report, "There are 20 questions")
    assert sentence(report, "inferred from the order of the rows")
    assert report["systems"][0]["inferred"]


def test_metrics_without_scores_for_many_answers_or_with_many_ties_are_warned_of():
    judged = known(questions=20)
    lacking, tied = judged.metrics["seen-0"].copy(), np.round(judged.metrics["seen-0"] / 2)
    lacking[:10] = NAN

    report = evaluate(replace(judged, metrics={"m": lacking, "t": tied}), QUICK)

    assert sentence(report, "m has no score for 10 of 80 answers")
    assert sentence(report, "t gives the same score to both answers")


def test_one_score_for_most_answers_and_one_answer_to_each_question_are_warned_of():
    judged = study([("a", f"q{k}", k % 5) for k in range(10)], {"m": [0] * 6 + [1, 2, 3, 4]})

    report = evaluate(judged, QUICK)

    assert report["metrics"]["m"]["most_common"] == {"value": 0, "share": 0.6}
    assert sentence(report, "m gives 60% of the answers the same score, 0")
    assert sentence(report, "No two answers to one question got different human scores")


def test_answers_that_people_tell_apart_are_not_denied_where_no_metric_has_a_score():
    report = evaluate(study([("a", "q", 5), ("b", "q", 1), ("c", "q", 3)], {"m": [NAN] * 3}), QUICK)

    assert not sentence(report, "No two answers to one question got different human scores")


def test_figures_within_few_questions_are_warned_of():
    rows = [(s, f"q{k}", 1 + (s == "b" and k < 2)) for k in range(6) for s in "ab"]

    report = evaluate(study(rows, {"m": range(12)}), QUICK)

    assert sentence(report, "rest on 2 of 6 questions")


def test_without_a_gap_half_of_the_scale_is_clearly_apart():
    judged = study([("a", "q", 0.1), ("b", "q", 0.6), ("a", "r", 0.1), ("b", "r", 0.5)], {"m": [1, 2, 1, 2]})

    report = evaluate(judged, replace(FULL, scale=(0, 1)))

    assert report["gap"] == 0.5
    clear = report["metrics"]["m"]["rank_match"]
    assert (clear["pairs"], clear["match"]) == (1, 1)
    assert (clear["value"], clear["ci"]) == (None, None)  # one pair is no share
    assert report["protocols"]["kpqa-table7"]["metrics"]["m"]["percent"] is None


def test_a_metric_that_does_not_beat_a_floor_is_warned_of():
    judged = known()

    report = evaluate(replace(judged, lengths=judged.human * 3), QUICK)

    assert sentence(
        report, f"No better than the floor “length” (r = 1.000, n = {len(judged)})", "random", "seen-2"
    )


def test_without_human_scores_the_report_says_only_that():
    report = evaluate(DEGENERATE["no human score"], QUICK)

    assert report["warnings"] == ["No answer has a human score: nothing can be said about any metric."]


scores = st.lists(
    st.sampled_from([NAN, 0.0, 1.0, 2.5, 5.0, 1e-9]) | st.floats(-1e6, 1e6), min_size=8, max_size=8
)


@pytest.mark.long
@settings(max_examples=12, deadline=None)
@given(human=scores, first=scores, second=scores, systems=st.lists(st.integers(0, 2), min_size=8, max_size=8))
def test_any_scores_give_a_report_that_order_does_not_change(human, first, second, systems):
    judged: ScoredAnswers = study(
        [(f"s{s}", f"q{k % 3}", h) for k, (s, h) in enumerate(zip(systems, human, strict=True))],
        {"a": first, "b": second},
    )
    plan = replace(QUICK, draws=9, replicates=9)

    report = texts(evaluate(judged, plan))

    assert report == texts(evaluate(shuffled(judged), plan))


def test_metrics_that_lack_the_same_scores_share_one_warning():
    from metrics.metaeval.report import _without_scores

    gone = {"undefined": {"the answer is empty": 2}}
    report = {"n": {"answers": 17}, "metrics": {"bleu-1": gone, "rouge-l": gone}}
    assert _without_scores(report) == ["No metric has a score for 2 of 17 answers (the answer is empty: 2)."]
    report["metrics"]["f1"] = {"undefined": {}}
    (said,) = _without_scores(report)
    assert said.startswith("bleu-1, rouge-l have no score for 2 of 17 answers")


_RATINGS = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.integers(0, 7),
        st.sampled_from([-1.5, -0.0, 0.0, 0.5, 3.0, -math.inf, math.inf]),
    ),
    max_size=40,
)


@given(_RATINGS)
@settings(max_examples=limit_cases(200), deadline=None)
def test_workers_are_numbered_by_their_lists_of_ratings(ratings):
    ratings.sort(key=lambda rating: (rating[0], rating[2]))
    work: dict[int, list[tuple[int, float]]] = {}
    for answer, worker, score in ratings:
        work.setdefault(worker, []).append((answer, score))
    number = {worker: place for place, worker in enumerate(sorted(work, key=lambda worker: work[worker]))}
    answers, workers = (np.array([rating[at] for rating in ratings], dtype=np.int32) for at in (0, 1))
    found = _number_workers(answers, workers, np.array([rating[2] for rating in ratings], dtype=np.float64))
    assert found.tolist() == [number[worker] for _, worker, _ in ratings]


@given(_RATINGS, st.integers(1, 9))
@settings(max_examples=limit_cases(200), deadline=None)
def test_ratings_lie_by_answer_score_and_worker_however_many_are_looked_at_together(ratings, size):
    answers, workers, scores = (np.array([rating[at] for rating in ratings]) for at in range(3))
    given_ones = Raters(answers.astype(np.int32), workers.astype(np.int32), scores.astype(np.float64) + 0.0)
    rows = np.array([3, 0, 5, 1, 4, 2])
    with mock.patch("metrics.metaeval.data._RATINGS_AT_ONCE", size):
        found = _raters(given_ones, rows)
    lie = list(zip(found.answers.tolist(), found.scores.tolist(), found.workers.tolist(), strict=True))
    assert lie == sorted(lie)
    place = {int(row): at for at, row in enumerate(rows)}
    assert [each[:2] for each in lie] == sorted((place[answer], score) for answer, _, score in ratings)


@pytest.mark.parametrize("at_once", [1, 7, 1_000])
def test_intervals_of_human_means_are_the_same_however_many_samples_are_held(at_once):
    rows = rows_of(known(), ["seen-0"])
    expected = human_mean(rows, replicates=150, seed=3)
    with mock.patch("metrics.metaeval.breakdown._SAMPLES", at_once):
        assert human_mean(rows, replicates=150, seed=3) == expected
    assert expected.ci is not None
