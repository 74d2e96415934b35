"""Answers as DuReader has them, by characters: one character is one token, white space does not count."""

import pytest

from metrics import metric

CANDIDATES = ["可以\uff0c坐 火车去。", "不可以带狗", "大约三百元"]
REFERENCES = [["可以坐火车去。", "能坐火车"], ["不可以。"], ["三百元左右", "300元"]]


def scored(name: str, profile: str = "dureader-2018") -> list[float]:
    return [round(float(value), 4) for value in metric(name, profile).score(CANDIDATES, REFERENCES)]


def test_bleu_counts_characters():
    assert scored("bleu-1") == [0.875, 0.6, 0.6]


def test_rouge_l_counts_characters_and_takes_precision_and_recall_by_themselves():
    precision, recall, gamma = 7 / 8, 7 / 7, 1.2**2
    assert scored("rouge-l")[0] == pytest.approx(
        (1 + gamma) * recall * precision / (recall + gamma * precision), abs=1e-4
    )


def test_cider_and_meteor_take_characters_too():
    assert 0 < scored("cider")[2] < 10
    assert scored("meteor")[0] > scored("meteor")[2] > 0


def test_white_space_makes_no_difference():
    plain = metric("bleu-4", "dureader-2018").score(["坐火车 去"], [["坐 火车去"]])
    assert plain.tolist() == [1]


def test_chrf_needs_no_tokens():
    assert scored("chrf", "default")[0] > 0.4
