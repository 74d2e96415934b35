"""Scores of passages by both profiles."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.ranking.parameters import Parameters, defaults
from retrieval.ranking.scoring import combined, fade, score
from tests.retrieval.crown.literal import literal_final, literal_parts
from tests.retrieval.crown.world import Known, columns
from tests.scale import limit_cases

WORDS = "abcdef"
PAIRS = [(a, b) for a in WORDS for b in WORDS if a < b]


def scored(passages, terms, evidence=None, profile="crown-2020", engine=None, **options):
    engine = engine or [0.0] * len(passages)
    parameters = Parameters.of({"profile": profile, **options})
    return score(columns(passages), terms, evidence or Known(), parameters, engine)


def values(column):
    return [round(float(value), 6) for value in column]


def test_every_occurrence_of_a_similar_word_adds_its_similarity_times_the_weight_of_the_turn():
    found = scored(
        [["films and batman", "films"], ["nothing"]],
        {"batman": 1, "movies": 0.5},
        Known({("films", "movies"): 0.8}),
    )
    assert values(found.raw["node"]) == [1.8, 0]
    near = Known({("film", "movie"): 0.8, ("film", "cinema"): 0.8})
    assert values(scored([["film"]], {"movie": 0.5, "cinema": 1}, near).raw["node"]) == [0.4]
    near = Known({("film", "movie"): 0.75})
    assert values(scored([["film"]], {"movie": 1}, near, alpha=0.75).raw["node"]) == [0]
    assert values(scored([["film"]], {"movie": 1}, near, alpha=0.74).raw["node"]) == [0.75]


def test_a_word_belongs_to_the_most_similar_word_of_the_query_whatever_the_weights():
    """The paper takes the largest product, the published code the product of the largest similarity."""
    near = Known({("film", "movie"): 0.8, ("film", "cinema"): 0.9})
    assert values(scored([["film"]], {"movie": 1, "cinema": 0.5}, near).raw["node"]) == [0.45]


def test_edges_are_pairs_within_three_words_of_one_sentence():
    for sentences, expected in (
        (["a b"], 0.5),
        (["b x y a"], 0.5),
        (["a x y z b"], 0),
        (["a", "b"], 0),
        (["a b a b"], 2.0),
        (["a a"], 0),
        (["a x"], 0),
    ):
        found = scored([sentences], {"a": 1, "b": 1}, Known(near={("a", "b"): 0.5, ("a", "x"): 0.9}))
        assert values(found.raw["edge"]) == [expected], sentences
    # Words that mean the same word of the query make none.
    near = Known({("film", "movie"): 0.9}, {("film", "movie"): 0.5})
    assert values(scored([["film movie"]], {"movie": 1}, near).raw["edge"]) == [0]
    near = Known(near={("a", "b"): 0.01})
    assert values(scored([["a b"]], {"a": 1, "b": 1}, near, beta=0.01).raw["edge"]) == [0]
    assert values(scored([["a b"]], {"a": 1, "b": 1}, near, beta=0).raw["edge"]) == [0.01]


def test_parts_of_the_published_profile_are_ranks_with_equals_at_the_best_of_them():
    found = scored([["a a"], ["a"], ["a"], ["x"]], {"a": 1})
    assert values(found.parts["node"]) == [1, 0.5, 0.5, 0.25]
    assert values(found.parts["edge"]) == [1, 1, 1, 1]
    assert values(found.parts["prior"]) == [1, 0.5, 0.333333, 0.25]
    found = scored([["x"], ["a"], ["a"]], {"a": 1}, weights={"prior": 0, "node": 1, "edge": 0, "pos": 0})
    assert found.order.tolist() == [1, 2, 0]
    found = scored([["", "x y", "a b"]], {"a": 1, "b": 1}, Known(near={("a", "b"): 0.5}))
    assert values(found.raw["pos"]) == [1.25]


def test_parts_of_balanced_are_shares_and_coverage_is_by_rarity_and_weight():
    found = scored([["a"], ["a a"], ["x"]], {"a": 1}, profile="balanced", engine=[8, 4, 2])
    assert values(found.parts["bm25"]) == [1, 0.5, 0.25]
    assert values(found.parts["node"]) == [0.5, 1, 0]
    evidence = Known({("film", "movies"): 0.8}, idf={"batman": 3, "movies": 1, "nolan": 4})
    found = scored(
        [["batman film", "movies"], ["film"], ["x"]],
        {"batman": 1, "movies": 1, "nolan": 0.5},
        evidence,
        profile="balanced",
    )
    assert values(found.raw["coverage"]) == [round(10 / 18, 6), round(0.8 / 18, 6), 0]
    found = scored([["a", "x", "x", "a b"], ["x", "b"]], {"a": 1, "b": 1}, profile="balanced")
    assert values(found.raw["early"]) == [0.5, round(0.5 / 2**0.5, 6)]


class Forms(Known):
    """Evidence in which `movie` is a form of `movies`."""

    def same_stem(self, words, terms):
        return np.array([[word.rstrip("s") == term.rstrip("s") for term in terms] for word in words])


def test_a_form_of_a_word_covers_half_of_it_and_is_no_node():
    found = scored([["movie"], ["movies"], ["x"]], {"movies": 1}, Forms(), profile="balanced")
    assert values(found.raw["coverage"]) == [0.5, 1, 0]
    assert values(found.raw["early"]) == [0.5, 1, 0]
    assert values(found.raw["node"]) == [0, 1, 0]
    evidence = Forms({("movie", "movies"): 0.9})
    assert values(scored([["movie"]], {"movies": 1}, evidence, profile="balanced").raw["coverage"]) == [0.9]
    found = scored([["film"]], {"movies": 1}, Known({("film", "movies"): 0.75}), profile="balanced")
    assert values(found.raw["coverage"]) == [0.75]
    assert values(found.raw["node"]) == [0]


def test_the_score_of_balanced_by_hand():
    # Two words: 81/82 of coverage. The passages have nothing in common, so there is no feedback.
    found = scored(
        [["a b"], ["x"]],
        {"a": 1, "b": 1},
        Known(near={("a", "b"): 0.5}),
        profile="balanced-1",
        engine=[2, 1],
    )
    assert values(found.final) == [1, round(0.4878 / 2, 6)]
    found = scored(
        [["a b"], ["x"]],
        {"a": 1, "b": 1},
        Known(near={("a", "b"): 0.5}),
        profile="balanced",
        engine=[2, 1],
    )
    first = 0.3846 + 3 * 0.0192 + (0.2308 + 0.1731) * 81 / 82
    assert values(found.final) == [round(first, 6), round(0.3846 / 2, 6)]


@pytest.mark.parametrize(("length", "share"), [(0, 1), (3, 16 / 17), (6, 1 / 2), (12, 1 / 17), (18, 1 / 82)])
def test_coverage_fades_with_the_length_of_the_question(length, share):
    """1 / (1 + (n / 6)⁴), worked out by hand; feedback has what is left of 1."""
    assert fade(length) == pytest.approx(share)
    parts = {name: np.array([1.0, 0.5]) for name in defaults().weights}
    found = combined(parts, defaults(), length=length).parts
    assert found["coverage"].tolist() == pytest.approx([share, share / 2])
    assert found["early"].tolist() == pytest.approx([share, share / 2])
    assert found["feedback"].tolist() == pytest.approx([1 - share, (1 - share) / 2])
    assert found["bm25"].tolist() == [1, 0.5]


def test_the_length_is_that_of_the_question_where_it_is_given():
    both = [scored([["a"], ["x"]], {"a": 1}, profile="balanced", engine=[2, 1])]
    parameters = Parameters.of({})
    both.append(score(columns([["a"], ["x"]]), {"a": 1}, Known(), parameters, [2, 1], length=6))
    assert values(both[0].parts["coverage"]) == [round(1 / (1 + 1 / 1296), 6), 0]
    assert values(both[1].parts["coverage"]) == [0.5, 0]


def test_feedback_is_the_likeness_to_the_engines_first_passages_but_oneself():
    """Unit vectors (1, 1, 0)/√2, (1, 0, 0), (0, 1, 1)/√2; the engine's scores as shares 1, ½, ½.

    First: (½ · 1/√2 + ½ · ½) / 1. Second: (1 · 1/√2 + ½ · 0) / 1½. Third: (1 · ½ + ½ · 0) / 1½.
    """
    found = scored([["a b"], ["a"], ["b", "c"]], {"a": 1}, profile="balanced", engine=[4, 2, 2])
    assert values(found.raw["feedback"]) == [
        round(0.5 / 2**0.5 + 0.25, 6),
        round(1 / 2**0.5 / 1.5, 6),
        round(0.5 / 1.5, 6),
    ]


def test_a_sixth_passage_is_compared_to_the_first_five_only():
    """The first five have nothing in common; the sixth and the seventh are the same, and like the first."""
    passages = [["a"], ["b"], ["c"], ["d"], ["e"], ["a a a"], ["a a a"]]
    found = scored(passages, {"z": 1}, profile="balanced", engine=[2] * 7)
    assert values(found.raw["feedback"]) == [0, 0, 0, 0, 0, 0.2, 0.2]


def test_rare_words_and_repeated_ones_count_for_more_in_feedback():
    """Vectors (3 ln 2, ln 2) and (3 ln 3, 0): cosine 3 / √10, whatever the length of the second."""
    rare = Known(idf={"a": 3, "b": 1})
    found = scored([["a b"], ["a a"]], {"z": 1}, rare, profile="balanced", engine=[2, 1])
    assert values(found.raw["feedback"]) == [round(3 / 10**0.5, 6)] * 2


def test_a_word_without_a_vector_matches_itself():
    """Fault 3."""
    evidence = Known(without_vector={"crispr"})
    assert values(scored([["crispr"]], {"crispr": 1}, evidence).raw["node"]) == [1]


@pytest.mark.parametrize("cosine", [1.0, 1 + 2e-7, 1 - 2e-7])
def test_at_alpha_one_a_word_still_is_like_itself_whatever_its_cosine_by_rounding(cosine):
    """Fault 4."""

    class Rounded(Known):
        def similarity(self, one, other):
            return cosine if one == other else 0.99999

    for profile in ("crown-2020", "balanced"):
        found = scored([["a"], ["b"]], {"a": 1}, Rounded(), profile, alpha=1)
        assert found.raw["node"].tolist() == pytest.approx([1, 0], abs=1e-6)


def test_the_order_is_the_same_every_time():
    """Fault 10."""
    passages = [[" ".join(np.random.default_rng(seed).choice(list(WORDS), 9))] for seed in range(40)]
    orders = {
        tuple(scored(passages, {"a": 1, "b": 0.5, "c": 0.5}, profile=profile).order.tolist())
        for profile in ("crown-2020", "balanced")
        for _ in range(3)
    }
    assert len(orders) == 2


def test_the_network_is_asked_once_for_all_passages():
    """Fault 11: one call per word of a passage and word of the query took five seconds for 100 passages."""

    class Counting(Known):
        asked = 0

        def similarities(self, words, terms):
            self.asked += 1
            return super().similarities(words, terms)

        def associations(self, first, second):
            self.asked += 1
            assert len(set(zip(first, second, strict=True))) == len(first)
            return super().associations(first, second)

    for profile in ("crown-2020", "balanced"):
        evidence = Counting(near={("a", "b"): 0.5})
        scored([["a b a b", "b a"]] * 50, {"a": 1, "b": 1}, evidence, profile)
        assert evidence.asked == 2


def test_repeating_a_common_word_does_not_beat_the_rare_word_of_the_question():
    """Fault 13: the published sums know neither length nor rarity; coverage knows both."""
    passages = [[" ".join(["movies"] * 30)], ["nolan movies"]]
    terms, evidence = {"nolan": 1, "movies": 1}, Known(idf={"nolan": 6, "movies": 1})
    assert scored(passages, terms, evidence).order.tolist() == [0, 1]
    assert scored(passages, terms, evidence, "balanced", [5, 5]).order.tolist() == [1, 0]


def test_nothing_to_score_or_nothing_in_common_leaves_the_engines_order():
    for profile in ("crown-2020", "balanced"):
        for passages, terms in (
            ([], {"a": 1}), ([["", ""]], {"a": 1}), ([["a b"]], {}), ([["x"], []], {"a": 1}),
        ):  # fmt: skip
            found = scored(passages, terms, profile=profile)
            assert found.order.tolist() == list(range(len(passages))), (profile, passages)
            assert np.isfinite(found.final).all()
        assert np.isfinite(scored([["a"], ["b"]], {"a": 1}, profile=profile, engine=[0, 0]).final).all()


passages_of = st.lists(st.lists(st.text(WORDS, max_size=8).map(list), max_size=4), min_size=1, max_size=6)
hundredths = st.integers(-100, 100).map(lambda number: number / 100)


@settings(max_examples=limit_cases(200), deadline=None)
@given(
    passages_of,
    st.dictionaries(st.sampled_from(WORDS), st.sampled_from([0.25, 0.5, 1.0]), min_size=1),
    st.dictionaries(st.sampled_from(PAIRS), hundredths),
    st.dictionaries(st.sampled_from(PAIRS), hundredths),
    st.sampled_from([0.5, 0.75, 0.9]),
)
def test_all_at_once_is_the_same_as_in_loops(passages, terms, similar, near, alpha):
    passages = [[sentence for sentence in passage if sentence] for passage in passages]
    evidence = Known(similar, near)
    found = scored(passages, terms, evidence, alpha=alpha, beta=0.05)
    parts = [
        literal_parts(passage, terms, evidence.similarity, evidence.npmi, alpha, 0.05) for passage in passages
    ]
    for name, column in zip(("node", "edge", "pos"), zip(*parts, strict=True), strict=True):
        assert found.raw[name].tolist() == pytest.approx(column, abs=1e-9)
    rounded = [[round(value, 9) for value in row] for row in parts]
    assert found.final.tolist() == pytest.approx(
        literal_final(rounded, defaults("crown-2020").weights.values())
    )
