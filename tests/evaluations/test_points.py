"""The sample of answers that plots show."""

import random

from evaluations.table_evaluation import Points, Sample

ANSWERS = [(f"q{at % 40}", 1 + at % 5, [at / 100, None], f"s{at % 3}") for at in range(200)]


def sample_of(answers, *, most=50, seed=0) -> Points:
    sample = Sample(["bleu-1", "exact"], seed=seed, most=most)
    for key, human, values, system in answers:
        sample.add(key, human, values, system=system, type="person")
    return sample.points()


def test_the_same_answers_are_kept_in_whatever_order_they_come_and_all_are_counted():
    points = sample_of(ANSWERS)
    assert (len(points), points.of, points.all) == (50, 200, 200)
    for order in range(5):
        shuffled = list(ANSWERS)
        random.Random(order).shuffle(shuffled)
        assert sample_of(shuffled) == points
    assert sample_of(ANSWERS, seed=1) != points
    assert sorted(sample_of(ANSWERS, most=300).metrics["bleu-1"]) == [at / 100 for at in range(200)]
    assert points.pairs("cider") == []


def test_what_has_no_human_score_or_is_no_number_is_left_out():
    sample = Sample(["bleu-1"])
    sample.add("q1", None, [0.5])
    sample.add("q2", float("nan"), [0.5])
    sample.add("q3", 4, [float("inf")])
    points = sample.points()
    assert (points.human, points.metrics) == ([4.0], {"bleu-1": [None]})
    assert points.pairs("bleu-1") == []
