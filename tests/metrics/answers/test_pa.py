"""Phrasing-aware metrics against the independently computed Table 2 of Mitra et al. (2016)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import Answers, metric
from metrics.answers import pa_bleu
from metrics.answers.bleu import Bleu, bleu
from metrics.answers.importance import CHOICES, SizedCache, importance, importance_of, weighted
from metrics.answers.pa import by_pairs, pairwise
from metrics.answers.pa_bleu import PairBleu, Vocabulary, similarities, split_sets, tables_of
from metrics.errors import MetricError
from metrics.profiles import Profile
from metrics.scoring import in_chunks, score, score_chunks
from metrics.tokens import tokeniser_named
from tests.metrics.answers.drawn import WORDS, cases, scored, split_on_spaces
from tests.metrics.goldens import golden
from tests.scale import limit_cases

TABLE = golden("pa_metrics_table2")
REFERENCES = TABLE["references"]
CANDIDATES = TABLE["candidates"]
SPLITS = pytest.mark.parametrize("split", list(TABLE["configs"]))
EXACT = {"smoothing": "none", "effective": False}


def under(split):
    return Profile("test", "", (), f"distillery-{split}", {"bleu": EXACT})


def expected(split, key):
    return pytest.approx(np.array(TABLE["configs"][split][key]), abs=TABLE["tolerance"])


@SPLITS
def test_tokens_are_those_of_the_golden_file(split):
    tokens = tokeniser_named(f"distillery-{split}").split
    config = TABLE["configs"][split]
    assert [tokens(text) for text in CANDIDATES] == config["candidate_tokens"]
    assert [len(tokens(text)) for text in REFERENCES] == config["reference_lengths"]
    assert [len(tokens(text)) for text in CANDIDATES] == config["candidate_lengths"]


@SPLITS
def test_bleu_against_all_references_is_that_of_the_golden_file(split):
    said = [REFERENCES] * len(CANDIDATES)
    assert metric("bleu-4", under(split)).score(CANDIDATES, said) == expected(split, "bleu4_closest")
    for n, values in TABLE["configs"][split]["bleu_by_n"].items():
        found = metric(f"bleu-{n}", under(split)).score(CANDIDATES, said)
        assert found == pytest.approx(values, abs=TABLE["tolerance"])


@SPLITS
def test_similarities_importances_and_pa_bleu_are_those_of_the_golden_file_with_and_without_itself(split):
    similarity = pairwise(metric("bleu-4", under(split)))
    pairs = np.array([similarity([text] * 20, REFERENCES) for text in CANDIDATES])
    assert pairs == expected(split, "sim_bleu4_cand_ref")

    weights = importance(REFERENCES, similarity)
    assert weights == expected(split, "pa_bleu4_importance")
    assert weighted(pairs, weights) == expected(split, "pa_bleu4")

    found = metric("pa-bleu-4", under(split)).score(CANDIDATES, [REFERENCES] * 5)
    assert found == expected(split, "pa_bleu4")
    weights = importance(REFERENCES, similarity, itself=False)
    assert weighted(pairs, weights) == expected(split, "pa_bleu4_without_self")

    profile = Profile("test", "", (), f"distillery-{split}", {"bleu": EXACT, "pa": {"itself": False}})
    found = metric("pa-bleu-4", profile).score(CANDIDATES, [REFERENCES] * 5)
    assert found == expected(split, "pa_bleu4_without_self")


def test_the_papers_profile_gives_every_printed_pa_bleu():
    found = metric("pa-bleu-4", "distillery-2016").score(CANDIDATES, [REFERENCES] * 5)
    assert [round(value, 2) for value in found] == TABLE["printed_table2"]["pa-BLEU"]


@pytest.mark.parametrize("split", ["marks", "fit"])
def test_printed_bleu_comes_out_for_candidates_3_4_and_5_only(split):
    found = metric("bleu-4", under(split)).score(CANDIDATES, [REFERENCES] * 5)
    same = [
        round(value, 2) == printed
        for value, printed in zip(found, TABLE["printed_table2"]["BLEU"], strict=True)
    ]
    assert same == [False, False, True, True, True]


@SPLITS
def test_the_misprinted_penalty_would_be_a_bonus(split):
    tokeniser = tokeniser_named(f"distillery-{split}")
    how = Bleu(**EXACT)

    def as_printed(hits, totals, c, r):
        penalty = np.where(c < r, np.exp(1 - c / r) / np.exp(1 - r / c), 1.0)
        return bleu(hits, totals, c, r, how) * penalty

    words = Vocabulary()
    (tables,) = tables_of(split_sets([REFERENCES], tokeniser, words), 4)
    among, found = (
        similarities(tables, [0], split_sets([texts], tokeniser, words), 4, as_printed)[0]
        for texts in (REFERENCES, CANDIDATES)
    )
    assert weighted(found, importance_of(among)) == expected(split, "pa_bleu4_with_eq7_as_printed")


METEORS = [("minchunk", 0.1), ("minchunk", 0.9), ("mincross", 0.1), ("mincross", 0.9)]


def meteor(split, variant, alpha, gamma=0.5, **pa):
    given = {"variant": variant, "alpha": alpha, "gamma": gamma, "language": "", "synonyms": ""}
    return Profile("test", "", (), f"distillery-{split}", {"meteor": given, "pa": pa})


@SPLITS
@pytest.mark.parametrize(("variant", "alpha"), METEORS)
def test_meteor_and_pa_meteor_are_those_of_the_golden_file(split, variant, alpha):
    said, key = [REFERENCES] * len(CANDIDATES), f"meteor_{variant}_alpha{alpha}"
    profile, without = meteor(split, variant, alpha), meteor(split, variant, alpha, itself=False)
    assert metric("meteor", profile).score(CANDIDATES, said) == expected(split, key)
    assert metric("pa-meteor", profile).score(CANDIDATES, said) == expected(split, f"pa_{key}")
    assert metric("pa-meteor", without).score(CANDIDATES, said) == expected(split, f"pa_{key}_without_self")


@SPLITS
def test_likeness_and_importance_by_meteor_are_those_of_the_golden_file(split):
    similarity = pairwise(metric("meteor", meteor(split, "minchunk", 0.1)))
    pairs = np.array([similarity([text] * 20, REFERENCES) for text in CANDIDATES])
    assert pairs == expected(split, "sim_meteor_minchunk_alpha0.1_cand_ref")
    weights = importance(REFERENCES, similarity)
    assert weights == expected(split, "pa_meteor_minchunk_alpha0.1_importance")


def highest_meteors(split):
    """What METEOR could reach at most, whatever alpha is, if chunks cost nothing."""
    said = [REFERENCES] * len(CANDIDATES)
    ends = [metric("meteor", meteor(split, "minchunk", alpha, gamma=0)) for alpha in (0, 1)]
    return np.maximum(*(end.score(CANDIDATES, said) for end in ends))


@SPLITS
def test_two_printed_meteors_are_above_what_any_one_to_one_mapping_can_reach(split):
    highest = highest_meteors(split)
    assert highest == expected(split, "one_to_one_upper_bound_any_alpha_no_penalty")
    printed = np.array(TABLE["printed_table2"]["METEOR"])
    assert (printed > highest + 0.005).tolist() == [False, True, True, False, False]


@settings(max_examples=limit_cases(80), deadline=None)
@given(
    drawn=cases(references=st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)),
    n=st.integers(1, 4),
    smoothing=st.sampled_from(["none", "exp", "floor", "kpqa"]),
)
def test_the_table_of_n_grams_says_what_each_pair_alone_says(drawn, n, smoothing):
    base = metric(f"bleu-{n}", split_on_spaces(bleu={"smoothing": smoothing}))
    how = base.measure.keywords["how"]
    sets = [([candidate, *references], references) for candidate, references in drawn]

    found = PairBleu(how, tokeniser_named("whitespace"))(sets)

    for ours, one in zip(found, by_pairs(base)(sets), strict=True):
        assert ours == pytest.approx(one, abs=1e-12)


@pytest.mark.parametrize("name", ["bleu-4", "rouge-l", "rouge-1-stem"])
@settings(max_examples=limit_cases(20), deadline=None)
@given(drawn=cases(most=1))
def test_with_one_reference_it_is_the_metric_itself(drawn, name):
    assert scored(metric(f"pa-{name}"), drawn) == pytest.approx(scored(metric(name), drawn), abs=1e-12)


@pytest.mark.parametrize("name", ["bleu-1", "bleu-4", "rouge-1", "rouge-l"])
@settings(max_examples=limit_cases(25), deadline=None)
@given(drawn=cases())
def test_it_is_the_weighted_mean_of_pairs(drawn, name):
    similarity = pairwise(metric(name))
    wanted = [
        weighted(
            similarity([candidate] * len(references), references)[None, :], importance(references, similarity)
        )[0]
        for candidate, references in drawn
    ]
    assert scored(metric(f"pa-{name}"), drawn) == pytest.approx(wanted, abs=1e-12)


def test_references_without_weight_twice_or_empty_count_as_they_should():
    found = metric("pa-bleu-4", split_on_spaces(bleu=EXACT)).score(
        ["one two three four", "one two"],
        [["one two", "two three", "three"], ["one two", "two three", "three"]],
    )
    assert found.tolist() == [0, 0]
    assert weighted(np.array([[0.2, 0.4, 0.9]]), np.zeros(3)) == pytest.approx([0.5])
    pa = metric("pa-rouge-l")
    found = pa.score(["the cat sat", "", "x"], [["the cat sat", ""], ["the cat"], []])
    assert found[:2].tolist() == [1, 0]
    assert np.isnan(found[2])
    once, twice = metric("pa-bleu-1").score(["red", "red"], [["red", "blue"], ["red", "red", "blue"]])
    assert once == 0.5
    assert twice == pytest.approx(4 / 5)


def test_chunks_and_what_is_kept_change_nothing():
    pa = [metric("pa-bleu-4"), metric("pa-rouge-l")]
    answers = Answers(CANDIDATES * 4, [REFERENCES, REFERENCES[:3], [], REFERENCES[5:], [""]] * 4)
    whole = score(answers, pa)
    for size in (1, 3, 7):
        parts = list(score_chunks(in_chunks(answers, size), pa).values())
        for name, values in whole.values.items():
            np.testing.assert_array_equal(np.concatenate([part[name] for part in parts]), values)
    assert whole.undefined["pa-bleu-4"] == {"there is no reference": 4}


def test_other_processes_give_the_same_bits():
    answers = Answers(CANDIDATES, [REFERENCES] * 5)
    pa = [metric("pa-bleu-4", "distillery-2016")]
    one, two = (list(score_chunks(in_chunks(answers, 2), pa, processes=n).values()) for n in (1, 2))
    for here, there in zip(one, two, strict=True):
        np.testing.assert_array_equal(here["pa-bleu-4"], there["pa-bleu-4"])


def test_a_question_with_many_references_is_worked_out_part_by_part():
    many = [f"{'old' if n % 3 else 'new'} bridge number {n}" for n in range(400)]
    found = metric("pa-bleu-1").score(["old bridge", "new"], [many, many])
    similarity = pairwise(metric("bleu-1"))
    pairs = np.array([similarity([text] * 400, many) for text in ("old bridge", "new")])
    assert found == pytest.approx(weighted(pairs, importance(many, similarity)))


def test_what_is_kept_has_a_bound_and_the_longest_unused_goes_first():
    kept = SizedCache(3)
    kept.put("a", 1, 1)
    kept.put("b", 2, 1)
    assert kept.get("a") == 1
    kept.put("c", 3, 2)
    kept.put("too large", 4, 9)
    assert [kept.get(key) for key in ("a", "b", "c", "too large")] == [1, None, 3, None]


def test_signatures_say_what_is_weighted_and_how():
    assert metric("pa-bleu-4", "distillery-2016").signature == (
        "metric:pa-bleu-4|v:1|imp:sum|self:yes|of:bleu-4|v:1|tok:distillery-fit|n:4|smooth:none|eff:no|refs:clip"
    )


@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"ONES": 12, "CELLS": 30, "TOKENS": 9},
        {"ONES": 1, "CELLS": 1, "SETS": 1},
        {"EXACT_BITS": 10},
        {"KEY_BITS": 3, "WORDS": 0},
    ],
)
def test_importance_is_that_of_references_looked_up_as_candidates(monkeypatch, limits):
    for name, limit in limits.items():
        monkeypatch.setattr(pa_bleu, name, limit)
    sets = [
        ("the cat the cat sat", "the cat sat on the mat", "a dog", "", "the the the"),
        ("one",),
        ("किताब ले लो", "किताब", "é é", "e\u0301 é", "किताब ले लो"),
        ("", ""),
        ("the cat sat the cat", "sat", "the " * 300, "cat", "the the cat"),
    ]
    for smoothing in ("exp", "kpqa", "none"):
        base = metric("bleu-4", Profile("test", "", (), "default", {"bleu": {"smoothing": smoothing}}))
        pairs = PairBleu(Bleu(4, smoothing), tokeniser_named("default"))
        both = [(references, references) for references in sets]
        alone = [one.tobytes() for one in by_pairs(base)(both)]
        for _ in range(2):
            assert [one.tobytes() for one in pairs.among(sets)] == alone
            assert [one.tobytes() for one in pairs(both)] == alone


def test_words_are_numbered_afresh_when_there_are_many_and_values_stay(monkeypatch):
    pairs = PairBleu(Bleu(4), tokeniser_named("default"))
    sets = [(["a b c", "c d"], ["a b c d", "b c"])]
    before = pairs(sets)[0].tolist()
    assert len(pairs._book.vocabulary.numbers) == 4
    monkeypatch.setattr(pa_bleu, "WORDS", 3)
    pairs([(["x"], ["y"])])
    assert set(pairs._book.vocabulary.numbers) == {"x", "y"}
    assert pairs(sets)[0].tolist() == before


def test_references_of_many_different_words_are_compared():
    many = " ".join(f"w{number}" for number in range(60_000))
    found = metric("pa-bleu-4").score([many, "w1 w2 w3 w4"], [[many, "w1 w2 w3 w4"]] * 2)
    assert found == pytest.approx([0.5, 0.5], abs=0.01)


@pytest.mark.parametrize("base", ["bleu4", "meteor_minchunk_alpha0.1"])
def test_other_importance_functions_on_table_2_are_those_of_the_golden_similarities(base):
    config = TABLE["configs"]["fit"]
    similar = np.array(config[f"sim_{base}_cand_ref"])
    most = int(np.argmax(config[f"pa_{base}_importance"]))
    expected = {
        "imp=sum": config[f"pa_{base}"],
        "self=no": config[f"pa_{base}_without_self"],
        "imp=uniform": similar.mean(axis=1),
        "imp=medoid": similar[:, most],
    }
    name = "pa-bleu-4" if base == "bleu4" else "pa-meteor"
    answers = Answers(TABLE["candidates"], [TABLE["references"]] * 5)
    for choice, values in expected.items():
        made = metric(f"{name}({choice})", "distillery-2016")
        assert made.name == f"{name}({choice})"
        found = score(answers, [made]).values[made.name]
        np.testing.assert_allclose(found, values, atol=1e-9)


#: Similarities of three references to each other, and of a candidate to each: weights and values by hand.
AMONG = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 1.0]])
CANDIDATE = np.array([[0.6, 0.3, 0.9]])


@pytest.mark.parametrize(
    ("choice", "itself", "weights", "value"),
    [
        ("sum", True, [1.5, 1.7, 1.2], 2.49 / 4.4),
        ("sum", False, [0.5, 0.7, 0.2], 0.69 / 1.4),
        ("uniform", True, [1, 1, 1], 0.6),
        ("nearest", True, [0.5, 0.5, 0.2], 0.63 / 1.2),
        ("medoid", True, [0, 1, 0], 0.3),
    ],
)
def test_each_importance_function_by_hand(choice, itself, weights, value):
    found = importance_of(AMONG, itself=itself, choice=choice)
    np.testing.assert_allclose(found, weights)
    assert weighted(CANDIDATE, found)[0] == pytest.approx(value)


def test_references_of_equal_sums_share_the_medoid_and_one_reference_is_its_own():
    assert importance_of(np.array([[1.0, 0.3], [0.3, 1.0]]), choice="medoid").tolist() == [1, 1]
    for choice in CHOICES:
        assert weighted(np.array([[0.4]]), importance_of(np.ones((1, 1)), choice=choice))[0] == 0.4


@pytest.mark.parametrize("name", ["pa-bleu(imp=most)", "pa-bleu(alpha=1)", "pa-bleu(imp=sum", "pa-bleu()"])
def test_an_importance_function_that_there_is_not_is_refused(name):
    with pytest.raises(MetricError, match="there are imp: sum, uniform, nearest, medoid; self: yes, no"):
        metric(name)
