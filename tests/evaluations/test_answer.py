"""The answer of an evaluation in sentences."""

import pytest

from evaluations.report.answer import answer
from evaluations.report.model import read_report
from evaluations.report.tables import join_names, percent, probability, short
from tests.evaluations.reports import figure, make_report


def said(report) -> list[str]:
    return [each.replace("\u00a0", " ") for each in answer(read_report(report))]


def compared(*rows: tuple[str, str, float, float]) -> list[dict]:
    return [
        {"a": a, "b": b, "statistic": "pearson", "grouping": "global", "method": "perm_inputs",
         "delta": delta, "p": p / 2, "p_holm": p, "mdd": 0.05, "n": 900}
        for a, b, delta, p in rows
    ]  # fmt: skip


def test_the_best_metric_stands_with_its_interval_and_one_is_compared_with_nothing():
    assert said(make_report())[0] == (
        "Of 5 metrics METEOR agrees best with people: .422 [.362, .482] over 900 answers (Pearson, global)."
    )
    first, second, *_ = said(make_report({"meteor": 0.4}))
    assert first == "METEOR agrees with people: .400 [.340, .460] over 900 answers (Pearson, global)."
    assert "significantly" not in second
    assert not any("significantly" in each for each in said(make_report(tests=[])))
    report = make_report()
    for entry in report["metrics"].values():
        del entry["pearson"]
    assert "(Spearman, global)" in said(report)[0]


@pytest.mark.parametrize(
    ("tests", "sentence"),
    [
        (
            compared(("bleu-1", "meteor", -0.1, 0.003), ("cider", "meteor", -0.2, 0.002)),
            "It is significantly better than all 2 others (p at most .003 after Holm).",
        ),
        (
            compared(("meteor", "bleu-1", 0.1, 0.2), ("meteor", "cider", 0.1, 0.3)),
            "It is not significantly better than BLEU-1 and CIDER (p at least .200 after Holm; a difference "
            "below .050 is mostly missed).",
        ),
        (
            compared(("meteor", "bleu-1", 0.1, 0.2), ("meteor", "cider", 0.1, 0.0001)),
            "It is significantly better than CIDER, but not than BLEU-1 (p = .200 after Holm; a difference "
            "below .050 is mostly missed).",
        ),
        (
            compared(("meteor", "cider", 0.1, 0.0001)),
            "It is significantly better than CIDER (p < .001 after Holm).",
        ),
    ],
)
def test_whether_it_is_better_than_others_is_said_with_p(tests, sentence):
    report = make_report({"meteor": 0.4, "bleu-1": 0.3, "cider": 0.2}, tests=tests)
    assert said(report)[1] == sentence


def test_a_floor_that_no_metric_beats_is_named():
    report = make_report({"meteor": 0.1})
    sentence = (
        "No metric beats a sentinel that does not read the answers: “-|length difference|” reaches .180 "
        "[.120, .240], n = 900."
    )
    assert sentence in said(report)


def test_ceiling_and_floor_stand_with_what_they_rest_on():
    report = make_report()
    report["ceiling"]["leave_one_out"]["pearson"]["n"] = 9000
    assert said(report)[2:4] == [
        "Of the sentinels, which do not read the answers, “-|length difference|” comes closest with .180 "
        "[.120, .240], n = 900.",
        "The ceiling, at which people agree with one another, is .710 [.690, .730], n = 9,000 (leave one "
        "rater out).",
    ]


def test_a_ceiling_that_is_not_known_says_why():
    none = {"value": None, "reason": "there are no single ratings, only their means"}
    report = make_report(ceiling={"leave_one_out": {"pearson": none}, "split_half": {"pearson": none}})
    sentence = (
        "How well people agree with one another is not known: there are no single ratings, only their means."
    )
    assert sentence in said(report)


def test_how_often_it_orders_two_answers_right_stands_last():
    assert said(make_report())[-1] == (
        "To order two answers to the same question it is right in 57.0 % of 855 pairs (95 % interval "
        "54.0 % to 60.0 %); guessing is right in half of them."
    )


def test_a_missing_figure_interval_or_report_is_told():
    report = make_report({"meteor": None, "bleu-1": None})
    assert said(report) == ["No metric can be compared with people: the scores are all the same."]
    assert said({}) == ["No metric was evaluated."]
    report = make_report({"meteor": 0.4})
    report["metrics"]["meteor"]["pearson"]["global"] = figure(0.4) | {"ci": None}
    assert said(report)[0] == "METEOR agrees with people: .400 over 900 answers (Pearson, global)."


def test_numbers_are_printed_as_papers_do_and_shares_and_lists_are_words():
    numbers = {
        0.4225: ".422",
        -0.035: "\u2212.035",
        -0.0001: ".000",
        1.0: "1.000",
        12.5: "12.500",
        0.0: ".000",
    }
    assert {value: short(value) for value in numbers} == numbers
    assert [probability(p).replace("\u00a0", " ") for p in (0.0001, 0.001, 0.05, 1.0)] == [
        "< .001", ".001", ".050", "1.000",
    ]  # fmt: skip
    assert percent(0.566) == "56.6\u00a0%"
    assert join_names(["a"]) == "a"
    assert join_names(["a", "b", "c"]) == "a, b and c"
    assert join_names([*"abcdefgh"]) == "a, b, c, d, e and 3 others"
