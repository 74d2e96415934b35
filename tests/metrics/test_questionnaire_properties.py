"""What must hold of the figures of questionnaires whatever people answered: order, names, copies, bounds."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.agreement.labels import (
    Labels,
    jaccard_distance,
    label_alpha,
    level_distances,
    masi_distance,
    set_distances,
)
from metrics.agreement.spans import MarkedText, span_f1, unitized_alpha
from metrics.item_means import majority, mean_by_system
from metrics.nuggets import NAMES, Nugget, nugget_scores, rubric_score
from metrics.preferences.comparisons import FIRST, SECOND, TIE, Comparisons, Samples
from metrics.preferences.strengths import fit
from metrics.soft_labels import entropies, soft_scores, targets
from metrics.support import AttributedSentence, CitedSentence, ais_attribution, alce_support, trec_support
from tests.scale import limit_cases

drawn = settings(max_examples=limit_cases(200), deadline=None)
CITED = st.lists(
    st.builds(CitedSentence, st.lists(st.integers(0, 2), max_size=4).map(tuple), st.booleans()),
    min_size=1,
    max_size=6,
)
NUGGETS = st.lists(st.builds(Nugget, st.booleans(), st.integers(0, 2)), max_size=8)
CRITERIA = st.lists(st.tuples(st.integers(-5, 10).map(float), st.booleans()), max_size=8)


def close(value):
    """Equal but for rounding; None is itself."""
    return None if value is None else pytest.approx(value, abs=1e-9)


# Support of citations.


@drawn
@given(CITED, st.randoms(use_true_random=False))
def test_support_does_not_depend_on_order_and_copies_and_stays_within_0_and_1(sentences, random):
    shuffled = [
        replace(each, citations=random.sample(each.citations, len(each.citations))) for each in sentences
    ]
    random.shuffle(shuffled)
    for score in (trec_support, alce_support):
        support = score(sentences)
        assert 0 <= support.precision <= 1
        assert 0 <= support.recall <= 1
        for other in (shuffled, [*sentences, *sentences]):
            assert score(other).precision == close(support.precision)
            assert score(other).recall == close(support.recall)


@drawn
@given(CITED, st.integers(0, 5))
def test_better_citations_and_sentences_without_any_move_support_where_they_must(sentences, place):
    before = trec_support(sentences)
    better = [replace(each, citations=[2] * len(each.citations)) for each in sentences]
    assert trec_support(better).precision == close(float(before.n_citations > 0))
    assert trec_support(better).recall >= before.recall - 1e-12
    silent = trec_support([*sentences, CitedSentence([])])
    assert silent.precision == close(before.precision)
    assert silent.recall == close(before.recall * before.n_sentences / (before.n_sentences + 1))
    alce = alce_support(sentences)
    assert (alce.recall > 0) or alce.precision == 0, (
        "a citation is precise only where its sentence is recalled"
    )


@drawn
@given(st.lists(st.builds(AttributedSentence, st.booleans(), st.booleans()), min_size=1, max_size=8))
def test_attribution_counts_what_can_be_understood_alone(sentences):
    attribution = ais_attribution(sentences)
    understood = [each for each in sentences if each.is_interpretable]
    assert (attribution.attributable is None) == (not understood)
    assert 0 <= attribution.not_interpretable <= 1
    for other in (sentences[::-1], [*sentences, *sentences]):
        assert ais_attribution(other).attributable == close(attribution.attributable)
        assert ais_attribution(other).not_interpretable == close(attribution.not_interpretable)
    unclear = ais_attribution([*sentences, AttributedSentence(False, True)])
    assert unclear.attributable == attribution.attributable


# Nuggets and rubrics.


@drawn
@given(NUGGETS, st.randoms(use_true_random=False))
def test_nuggets_are_means_between_0_and_1_and_strict_ones_are_no_higher(nuggets, random):
    scores = nugget_scores(nuggets)
    shuffled = random.sample(nuggets, len(nuggets))
    for other in (shuffled, [*nuggets, *nuggets]):
        again = nugget_scores(other)
        assert all(getattr(again, name) == close(getattr(scores, name)) for name in NAMES)
    assert (scores.all is None) == (not nuggets)
    assert (scores.vital is None) == (not any(each.is_vital for each in nuggets))
    for name in ("all", "vital", "weighted"):
        plain, strict = getattr(scores, name), getattr(scores, f"{name}_strict")
        assert (plain is None) == (strict is None)
        assert plain is None or 0 <= strict <= plain <= 1
    okay = nugget_scores([replace(each, is_vital=True) for each in nuggets if not each.is_vital]).vital
    parts = [part for part in (scores.vital, okay) if part is not None]
    if parts:
        assert min(parts) - 1e-12 <= scores.weighted <= max(parts) + 1e-12
        assert min(parts) - 1e-12 <= scores.all <= max(parts) + 1e-12


@drawn
@given(CRITERIA, st.sampled_from([0.5, 2.0, 10.0]), st.randoms(use_true_random=False))
def test_a_rubric_knows_no_order_and_no_unit_of_points_and_rises_with_what_is_met(criteria, factor, random):
    score = rubric_score(criteria)
    assert (score is None) == (not any(points > 0 for points, _ in criteria))
    for other in (
        random.sample(criteria, len(criteria)),
        [*criteria, *criteria],
        [(points * factor, met) for points, met in criteria],
    ):
        assert rubric_score(other) == close(score)
    if score is None:
        return
    best = rubric_score([(points, points > 0) for points, _ in criteria])
    worst = rubric_score([(points, points < 0) for points, _ in criteria])
    assert (best, worst <= 0) == (1, True)
    assert worst - 1e-12 <= score <= 1


# Means of systems, and the labels of several people.


@drawn
@given(
    st.dictionaries(
        st.tuples(st.sampled_from("abcde"), st.sampled_from("xyz")),
        st.floats(-3, 3).map(lambda value: round(value, 3)) | st.none(),
        max_size=15,
    )
)
def test_means_of_systems_do_not_depend_on_each_other_nor_on_names(values):
    means = mean_by_system(values, replicates=30, seed=1)
    turned = mean_by_system(dict(reversed(values.items())), replicates=30, seed=1)
    renamed = mean_by_system(
        {(item, {"x": "z", "z": "x"}.get(system, system)): value for (item, system), value in values.items()},
        replicates=30,
        seed=1,
    )
    assert turned == means
    assert renamed == {{"x": "z", "z": "x"}.get(name, name): mean for name, mean in means.items()}
    shifted = mean_by_system(
        {key: None if value is None else value + 5 for key, value in values.items()}, replicates=30, seed=1
    )
    for name, mean in means.items():
        own = [value for (_, system), value in values.items() if system == name and value is not None]
        alone = mean_by_system(
            {key: value for key, value in values.items() if key[1] == name}, replicates=0, seed=1
        )
        assert alone[name].value == mean.value
        if mean.value is None:
            assert (own, bool(mean.reason)) == ([], True)
            continue
        assert shifted[name].value == close(mean.value + 5)
        if mean.low is not None:
            assert min(own) - 1e-9 <= mean.low <= mean.high <= max(own) + 1e-9


@drawn
@given(st.lists(st.integers(0, 3), min_size=1, max_size=9), st.randoms(use_true_random=False))
def test_the_majority_is_one_of_the_labels_that_most_gave(labels, random):
    label = majority(labels)
    assert labels.count(label) == max(map(labels.count, labels))
    assert all(labels.count(each) < labels.count(label) for each in range(label))
    assert majority(random.sample(labels, len(labels))) == majority([*labels, *labels]) == label


# Soft labels.

COUNTS = st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=1, max_size=5)


@drawn
@given(COUNTS, st.permutations(range(3)))
def test_soft_labels_are_shares_whatever_the_number_of_people(counts, order):
    table = np.array(counts)
    shares = targets(table)
    rated = table.sum(axis=1) > 0
    assert shares[rated].sum(axis=1) == pytest.approx(1)
    assert np.isnan(shares[~rated]).all()
    assert targets(table * 7) == pytest.approx(shares, nan_ok=True)
    assert targets(table[:, order]) == pytest.approx(shares[:, order], nan_ok=True)
    entropy, normalised = entropies(table)
    several = table.sum(axis=1) > 1
    assert np.isnan(entropy[~several]).all()
    assert ((entropy[several] >= -1e-12) & (entropy[several] <= math.log(3) + 1e-12)).all()
    assert ((normalised[several] >= -1e-12) & (normalised[several] <= 1 + 1e-12)).all()
    assert entropies(table[:, order])[0] == pytest.approx(entropy, nan_ok=True)


@drawn
@given(COUNTS, st.lists(st.integers(1, 5), min_size=3, max_size=3))
def test_distances_of_soft_labels_are_0_for_the_same_and_bounded(counts, weights):
    table = np.array(counts)
    predicted = np.tile(np.array(weights) / sum(weights), (len(table), 1))
    scores = soft_scores(table, predicted, [1, 2, 3])
    rated = table.sum(axis=1) > 0
    for name, most in (
        ("manhattan", 2),
        ("wasserstein_normalised", 1),
        ("jensen_shannon", 1),
        ("kl", np.inf),
    ):
        values = getattr(scores, name)[rated]
        assert ((values >= -1e-9) & (values <= most + 1e-9)).all(), name
    turned = soft_scores(table[:, ::-1], predicted[:, ::-1], [1, 2, 3])
    for name in ("cross_entropy", "manhattan", "wasserstein", "kl", "jensen_shannon"):
        assert getattr(turned, name) == pytest.approx(getattr(scores, name), nan_ok=True), name
    same = soft_scores(table[rated], targets(table[rated]), [1, 2, 3])
    for name in ("manhattan", "wasserstein", "kl", "jensen_shannon"):
        assert getattr(same, name) == pytest.approx(0, abs=1e-9), name


# Agreement about labels and sets.


@st.composite
def some_labels(draw):
    n = draw(st.integers(4, 20))
    columns = [np.array(draw(st.lists(st.integers(0, most), min_size=n, max_size=n))) for most in (4, 3, 2)]
    _, first = np.unique(columns[0] * 10 + columns[1], return_index=True)  # each worker once an item
    items, workers, categories = (column[np.sort(first)] for column in columns)
    return Labels(items, workers, categories, 3)


@drawn
@given(some_labels(), st.sampled_from(["nominal", "ordinal", "interval"]), st.integers(0, 99))
def test_alpha_of_labels_knows_no_order_no_names_and_no_lone_label(labels, level, seed):
    distances = level_distances([1, 2, 3], level)
    alpha = label_alpha(labels, distances)
    assert (alpha.alpha is None) == bool(alpha.reason)
    assert alpha.alpha is None or alpha.alpha <= 1 + 1e-12
    rng = np.random.default_rng(seed)
    order, workers, items = rng.permutation(len(labels.items)), rng.permutation(4), rng.permutation(5)
    others = [
        Labels(items[labels.items[order]], workers[labels.workers[order]], labels.categories[order], 3),
        Labels(labels.items, labels.workers, 2 - labels.categories, 3),
        Labels(
            np.append(labels.items, 5),
            np.append(labels.workers, labels.workers[0]),
            np.append(labels.categories, 1),
            3,
        ),
    ]
    for other in others:
        assert label_alpha(other, distances).alpha == close(alpha.alpha)
    twice = Labels(
        np.concatenate((labels.items, labels.items + 6)),
        np.tile(labels.workers, 2),
        np.tile(labels.categories, 2),
        3,
    )
    if level != "ordinal" and alpha.observed is not None:
        assert label_alpha(twice, distances).observed == close(alpha.observed)


SETS = st.frozensets(st.sampled_from("abcd"))


@drawn
@given(SETS, SETS)
def test_distances_of_sets_are_symmetric_and_masi_is_no_less_than_jaccard(one, other):
    for distance in (masi_distance, jaccard_distance):
        assert distance(one, other) == distance(other, one)
        assert 0 <= distance(one, other) <= 1
        assert (distance(one, other) == 0) == (one == other)
    assert masi_distance(one, other) >= jaccard_distance(one, other) - 1e-12
    table = set_distances([one, other], "masi")(np.ones(2))
    assert table.tolist() == [[0, masi_distance(one, other)], [masi_distance(one, other), 0]]


# Marks of spans.


@st.composite
def marked_texts(draw):
    texts = []
    for _ in range(draw(st.integers(1, 3))):
        length = draw(st.integers(6, 12))
        spans = {}
        for worker in draw(st.lists(st.sampled_from("wxyz"), min_size=1, max_size=3, unique=True)):
            cuts = sorted(draw(st.lists(st.integers(0, length), max_size=4, unique=True)))
            spans[worker] = [
                (start, end, draw(st.sampled_from("pq")))
                for start, end in zip(cuts[::2], cuts[1::2], strict=False)
            ]
        texts.append(MarkedText(spans, length))
    return texts


@drawn
@given(marked_texts())
def test_marks_have_an_f1_and_an_alpha_that_know_no_order_no_names_and_no_lone_person(texts):
    f1, alpha = span_f1(texts), unitized_alpha(texts)
    assert (f1.macro is None) == (f1.micro is None) == all(len(text.spans) < 2 for text in texts)
    assert f1.macro is None or (0 <= f1.macro <= 1 and 0 <= f1.micro <= 1)
    assert alpha.alpha is None or alpha.alpha <= 1 + 1e-12
    turned = [MarkedText(dict(reversed(text.spans.items())), text.length) for text in reversed(texts)]
    relabelled = [
        MarkedText(
            {f"new {worker}": [(start, end, f"new {label}") for start, end, label in spans]
             for worker, spans in text.spans.items()},
            text.length,
        )
        for text in texts
    ]  # fmt: skip
    alone = [*texts, MarkedText({"w": [(0, 3, "p")]}, 9)]
    for other in (turned, relabelled, alone):
        assert span_f1(other).macro == close(f1.macro)
        assert span_f1(other).micro == close(f1.micro)
        assert unitized_alpha(other).alpha == close(alpha.alpha)
    doubled = span_f1([*texts, *texts])
    assert (doubled.macro, doubled.micro) == (close(f1.macro), close(f1.micro))
    same = [MarkedText(dict.fromkeys("ab", spans), text.length)
            for text in texts for spans in text.spans.values()]  # fmt: skip
    assert span_f1(same).macro == span_f1(same).micro == 1
    assert unitized_alpha(same).alpha in (None, close(1))


# Preferences; names and sides are in tests/metrics/preferences.


@st.composite
def comparisons(draw):
    rows = draw(
        st.lists(
            st.tuples(
                st.integers(0, 4),
                st.integers(0, 2),
                st.sampled_from([(0, 1), (1, 0), (1, 2), (2, 1), (0, 2), (2, 0)]),
                st.sampled_from([FIRST, SECOND, TIE]),
            ),
            min_size=8,
            max_size=30,
        )
    )
    return [(question, rater, *pair, outcome) for question, rater, pair, outcome in rows]


@settings(max_examples=limit_cases(100), deadline=None)
@given(comparisons(), st.sampled_from(["davidson", "half"]))
def test_copies_of_judgments_leave_strengths_and_turned_outcomes_turn_them(rows, ties):
    def fitted(these):
        return fit(Samples(Comparisons.of(("x", "y", "z"), these)).cells, ties=ties)

    once, twice = fitted(rows), fitted([*rows, *rows])
    lost = fitted([(*row[:4], {FIRST: SECOND, SECOND: FIRST, TIE: TIE}[row[4]]) for row in rows])
    assert once.reason == twice.reason == lost.reason
    if once.strengths is None:
        return
    assert once.strengths.sum() == pytest.approx(0, abs=1e-9)
    assert twice.strengths == pytest.approx(once.strengths, abs=1e-5)
    assert lost.strengths == pytest.approx(-once.strengths, abs=1e-5)
    assert once.nu is None or once.nu >= 0
    chances = once.win_probabilities()
    apart = ~np.eye(3, dtype=bool)
    assert ((chances[apart] > 0) & (chances[apart] < 1)).all()
    assert (chances + chances.T)[apart].max() <= 1 + 1e-12
    stronger = once.strengths[:, None] > once.strengths[None, :] + 1e-9
    assert (chances >= chances.T)[stronger].all()


@settings(max_examples=limit_cases(100), deadline=None)
@given(comparisons(), st.integers(0, 2))
def test_a_person_who_only_ties_moves_no_half_wins_apart(rows, rater):
    def halves(these):
        return fit(Samples(Comparisons.of(("x", "y", "z"), these)).cells, ties="half")

    before = halves(rows)
    even = [
        (question, 3, first, second, TIE)
        for question in range(5)
        for first, second in ((0, 1), (1, 2), (0, 2))
    ]
    after = halves([*rows, *even])
    if before.strengths is not None:
        assert np.ptp(after.strengths) <= np.ptp(before.strengths) + 1e-6
