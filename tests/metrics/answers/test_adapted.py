"""Adapted BLEU and ROUGE-L against the examples of Yang et al. (2018), exactly computed."""

import numpy as np
import pytest
from hypothesis import given, settings

from metrics import Answers, MetricError, metric
from metrics.answers.adapted_scores import Bonus, hits_of, subsequences_of
from metrics.profiles import Profile
from metrics.texts import Chunk
from metrics.tokens import tokeniser_named
from tests.metrics.answers.drawn import cases
from tests.metrics.goldens import golden
from tests.scale import limit_cases

FILE = golden("adapted_rouge_bleu")
EXPECTED = FILE["expected"]
YES_NO, ENTITY = FILE["inputs"]["yesno"], FILE["inputs"]["entity"]
DEFAULT = tokeniser_named("default")


def exactly(value):
    return pytest.approx(value, abs=FILE["tolerance"])


def yes_no(prediction=YES_NO["prediction"], label=YES_NO["prediction_label"], entities=()):
    labels, golds = zip(*YES_NO["gold"], strict=True)
    return Chunk(Answers([prediction], [golds], None, [label], [labels], [entities]))


def entity(prediction=ENTITY["prediction"], entities=ENTITY["entities"]):
    return Chunk(Answers([prediction], [ENTITY["gold"]], entities=[entities]))


def second_precision(chunk, **weights):
    counts = hits_of(chunk, DEFAULT, 2, Bonus(**weights))
    return counts.hits[0, 1] / counts.totals[0, 1]


def parts(chunk, gamma=1.0, **weights):
    """P, R and F of the only candidate."""
    found = subsequences_of(chunk, DEFAULT, Bonus(**weights))
    p, r = found.precision.max(), found.recall.max()
    return p, r, (1 + gamma**2) * p * r / (r + gamma**2 * p)


def under(alpha, beta):
    settings = {"bleu": {"smoothing": "none"}, "adapted": {"alpha": alpha, "beta": beta}}
    return Profile("test", "", (), "default", settings)


def both():
    """The samples of Examples 1 and 2 as one corpus."""
    labels, golds = zip(*YES_NO["gold"], strict=True)
    return Answers(
        [YES_NO["prediction"], ENTITY["prediction"]],
        [golds, ENTITY["gold"]],
        labels=[YES_NO["prediction_label"], ""],
        reference_labels=[labels, [""]],
        entities=[[], ENTITY["entities"]],
    )


def corpus(name, profile):
    chosen = metric(name, profile)
    return chosen.corpus(chosen.measure(Chunk(both()), None).sums)


def test_example_1_counts_bigrams_of_references_with_the_same_opinion_once_more():
    expected = EXPECTED["ex1"]
    counts = hits_of(yes_no(), DEFAULT, 2, Bonus(alpha=1))
    assert yes_no().tokens(DEFAULT).lengths[0] == expected["candidate_tokens"]
    assert counts.bonus[0, 1] == expected["bonus"]
    assert counts.hits[0, 1] - counts.bonus[0, 1] == expected["hit"]
    assert counts.totals[0, 1] - counts.bonus[0, 1] == expected["bigrams"]
    assert second_precision(yes_no(), alpha=0) == exactly(expected["vanilla_p2"])
    assert second_precision(yes_no(), alpha=1) == exactly(expected["adapted_p2_alpha1"])


def test_example_2_counts_bigrams_of_gold_entities_once_more():
    expected = EXPECTED["ex2"]
    counts = hits_of(entity(), DEFAULT, 2, Bonus(beta=1))
    assert entity().tokens(DEFAULT).lengths[0] == expected["candidate_tokens"]
    assert counts.bonus[0, 1] == expected["bonus"]
    assert counts.hits[0, 1] - counts.bonus[0, 1] == expected["hit"]
    assert counts.totals[0, 1] - counts.bonus[0, 1] == expected["bigrams"]
    assert second_precision(entity(), beta=0) == exactly(expected["vanilla_p2"])
    assert second_precision(entity(), beta=1) == exactly(expected["adapted_p2_beta1"])


def test_example_3_rewards_the_subsequence_of_the_same_opinion():
    expected = EXPECTED["ex3"]
    found = subsequences_of(yes_no(), DEFAULT, Bonus(alpha=1))
    assert found.common.tolist() == expected["lcs"]
    assert yes_no().tokens(DEFAULT).lengths[1:].tolist() == expected["gold_tokens"]
    wanted = expected["adapted_P"], expected["adapted_R"], expected["adapted_F_gamma1"]
    assert parts(yes_no(), alpha=1) == exactly(wanted)
    vanilla = expected["vanilla_P"], expected["vanilla_R"], expected["vanilla_F_gamma1"]
    assert parts(yes_no(), alpha=0) == exactly(vanilla)
    assert parts(yes_no(), 1.2, alpha=1)[2] == exactly(expected["adapted_F_gamma1_2"])
    assert parts(yes_no(), 1.2, alpha=0)[2] == exactly(expected["vanilla_F_gamma1_2"])
    trivial = yes_no(YES_NO["trivial_prediction"], "")
    assert parts(trivial, alpha=1)[2] == exactly(expected["trivial_F_gamma1"])


def test_example_4_rewards_gold_entities_in_the_candidate():
    expected = EXPECTED["ex4"]
    found = subsequences_of(entity(), DEFAULT, Bonus(beta=1))
    assert entity().tokens(DEFAULT).lengths[1] == expected["gold_tokens"]
    assert found.common.tolist() == [expected["lcs"]]
    assert found.bonus.tolist() == [expected["entity_length_sum"]]
    wanted = expected["adapted_P"], expected["adapted_R"], expected["adapted_F_gamma1"]
    assert parts(entity(), beta=1) == exactly(wanted)
    assert parts(entity(), beta=0)[2] == exactly(expected["vanilla_F_gamma1"])


@pytest.mark.parametrize(
    ("end", "vanilla", "adapted", "threshold"),
    [
        ("", "short_vanilla_F", "short_adapted_beta1_F", "beta_threshold_short_without_period"),
        (
            ".",
            "short_with_period_vanilla_F",
            "short_with_period_adapted_beta1_F",
            "beta_threshold_short_with_period",
        ),
    ],
)
def test_example_4_prefers_the_full_answer_from_some_bonus_on(end, vanilla, adapted, threshold):
    expected = EXPECTED["ex4"]
    short = entity(ENTITY["short_prediction"] + end)
    assert parts(short, beta=0)[2] == exactly(expected[vanilla])
    assert parts(short, beta=1)[2] == exactly(expected[adapted])
    at = expected[threshold]
    assert parts(entity(), beta=at)[2] == exactly(parts(short, beta=at)[2])
    assert parts(entity(), beta=at + 0.01)[2] > parts(short, beta=at + 0.01)[2]


@pytest.mark.parametrize(
    ("alpha", "beta", "key"), [(0, 0, "bleu_vanilla"), (2, 1, "bleu_adapted_alpha2_beta1")]
)
def test_a_corpus_sums_numerators_denominators_and_lengths(alpha, beta, key):
    expected = EXPECTED["corpus"][key]
    chosen = metric("adapted-bleu-4", under(alpha, beta))
    sums = chosen.measure(Chunk(both()), None).sums
    assert sums[:4] / sums[4:8] == exactly(expected["p"])
    assert sums[8:].tolist() == [expected["c"], expected["r"]]
    assert np.exp(1 - expected["r"] / expected["c"]) == exactly(expected["bp"])
    found = [corpus(f"adapted-bleu-{n}", under(alpha, beta)) for n in (1, 2, 3, 4)]
    assert found == exactly(expected["bleu"])


@pytest.mark.parametrize(
    ("alpha", "beta", "key"),
    [(0, 0, "rougeL_gamma1_2_vanilla"), (2, 1, "rougeL_gamma1_2_adapted_alpha2_beta1")],
)
def test_the_rouge_of_a_corpus_is_the_mean(alpha, beta, key):
    found = metric("adapted-rouge-l", under(alpha, beta)).measure(Chunk(both()), None).values
    assert found.mean() == exactly(EXPECTED["corpus"][key])


def test_a_yes_no_question_gets_no_bonus_for_entities():
    with_entities = yes_no(entities=["aerobic exercise"])
    assert second_precision(with_entities, alpha=1) == second_precision(yes_no(), alpha=1)
    assert parts(with_entities, alpha=1) == parts(yes_no(), alpha=1)


@pytest.mark.parametrize("label", ["", "No", "perhaps"])
def test_another_opinion_or_none_gets_no_bonus(label):
    other = yes_no(label=label)
    assert parts(other, alpha=2) == parts(yes_no(), alpha=0)
    assert second_precision(other, alpha=2) == second_precision(yes_no(), alpha=0)


def test_labels_are_compared_without_case():
    assert parts(yes_no(label=" yes "), alpha=1) == parts(yes_no(), alpha=1)


def test_each_distinct_entity_counts_once_and_only_where_its_words_stand_together():
    found = subsequences_of(
        entity("ten long years , in 221 BC", ["ten years", "221 BC", "221 bc", ""]), DEFAULT, Bonus(beta=1)
    )
    assert found.bonus.tolist() == [2]


def test_chinese_counts_characters_in_dureaders_profile():
    rouge = metric("adapted-rouge-l", "dureader-2018")
    found = rouge.score(["可以 跳绳", "不可以"], [["可以跳绳"], ["可以跳绳"]], entities=[["跳绳"], ["跳绳"]])
    p, r = 2 / 3, 2 / 4
    assert found == pytest.approx([1, (1 + 1.44) * p * r / (r + 1.44 * p)])


def test_empty_texts_are_zero_and_no_reference_is_no_value():
    for name in ("adapted-bleu-4", "adapted-rouge-l"):
        found = metric(name).score(
            ["", "red", "red"], [["red"], [""], []], entities=[["red"], ["red"], ["red"]]
        )
        assert found[0] == 0
        assert np.isnan(found[2])


def test_without_labels_and_entities_it_says_what_it_needs():
    for name in ("adapted-bleu-4", "adapted-rouge-l"):
        with pytest.raises(MetricError, match="needs opinion labels of answers and references, or entities"):
            metric(name).score(["red"], [["red"]])


@settings(max_examples=limit_cases(40), deadline=None)
@given(drawn=cases())
def test_without_any_bonus_they_are_bleu_and_rouge(drawn):
    candidates, references = zip(*drawn, strict=True)
    none = [[] for _ in drawn]
    settings = {"rouge": {"beta": 1.2, "refs": "separate"}}
    profile = Profile("test", "", (), "default", settings)
    for name in ("bleu-4", "rouge-l"):
        found = metric(f"adapted-{name}", profile).score(candidates, references, entities=none)
        assert found == pytest.approx(metric(name, profile).score(candidates, references), abs=1e-12)
