"""Coefficients of agreement against hand-computed examples and another implementation."""

import krippendorff
import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from annotation.selectors.agreement import (
    NO_PAIRS,
    NO_VARIATION,
    curation_agreement,
    jaccard,
    masi_distance,
    mean_jaccard,
    nominal_alpha,
    percent_agreement,
    screening_agreement,
    set_alpha,
)
from tests.annotation.world import (
    make_candidates,
    make_project,
    make_query,
    make_stage,
    make_work,
    select,
    vote,
)


def sets(*words):
    return [frozenset(map(int, each)) for each in words]


def test_alpha_of_krippendorffs_own_example_with_missing_answers():
    """Krippendorff 2011, example C: four observers, twelve units, nominal alpha 0.743."""
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    units = [[value for value in unit if value is not None] for unit in zip(*observers, strict=True)]
    assert nominal_alpha(units).value == pytest.approx(0.743, abs=0.0005)


def test_alpha_of_two_editors_by_hand_and_single_answers_count_for_nothing():
    # Coincidences: yes-yes 2, no-no 2, yes-no 1 each way; 1 - (2/6) / (2*3*3/(6*5)) = 4/9.
    units = [["yes", "yes"], ["no", "no"], ["yes", "no"]]
    assert nominal_alpha(units).value == pytest.approx(4 / 9)
    assert nominal_alpha([*units, ["yes"], []]) == nominal_alpha(units)
    assert percent_agreement([["a", "a", "b"], ["a", "a"], ["b"]]).value == pytest.approx((1 / 3 + 1) / 2)
    found = nominal_alpha([["a", "a"], ["a", "a", "a"]])
    assert (found.value, found.reason) == (None, NO_VARIATION)


@pytest.mark.parametrize("measure", [nominal_alpha, percent_agreement])
def test_without_two_answers_to_a_query_there_is_no_agreement_and_it_says_so(measure):
    for units in ([], [["a"], ["b"]]):
        assert (measure(units).value, measure(units).reason) == (None, NO_PAIRS)


def test_masi_distance_and_jaccard_by_hand():
    for one, other, distance in (
        ("12", "12", 0),
        ("", "", 0),
        ("1", "12", 1 - 1 / 2 * 2 / 3),
        ("12", "23", 1 - 1 / 3 * 1 / 3),
        ("123", "12", 1 - 2 / 3 * 2 / 3),
        ("1", "2", 1),
        ("", "1", 1),
    ):
        first, second = sets(one, other)
        assert masi_distance(first, second) == pytest.approx(distance)
        assert masi_distance(second, first) == pytest.approx(distance)
    assert jaccard(*sets("12", "23")) == pytest.approx(1 / 3)
    assert jaccard(*sets("", "")) == 1
    assert jaccard(*sets("", "1")) == 0
    mean = ((1 + 0.5 + 0.5) / 3 + 0) / 2
    assert mean_jaccard([sets("1", "1", "12"), sets("1", "2"), sets("3")]).value == pytest.approx(mean)


def test_alpha_over_sets_by_hand():
    # Units {1},{1} and {2},{12}: d(2,12) = d(1,12) = 2/3, d(1,2) = 1.
    # Observed: 2 * 2/3 / (2 - 1) / 4 = 1/3. Expected over the 12 ordered pairs of {1},{1},{2},{12}:
    # 2 * (2*1 + 2*2/3 + 2/3) / 12 = 2/3. Alpha is 1 - 1/2.
    assert set_alpha([sets("1", "1"), sets("2", "12")]).value == pytest.approx(0.5)
    assert set_alpha([sets("1", "1"), sets("2", "2", "2")]).value == 1
    assert (set_alpha([sets("1")]).value, set_alpha([sets("1")]).reason) == (None, NO_PAIRS)
    assert set_alpha([sets("1", "1"), sets("1", "1")]).reason == NO_VARIATION
    assert mean_jaccard([sets("1")]).reason == NO_PAIRS


choices = st.frozensets(st.integers(1, 4), max_size=3)
some_units = st.lists(st.lists(choices, max_size=4), max_size=6)


@given(some_units)
def test_alpha_over_sets_is_that_of_the_krippendorff_library_with_a_metric_of_ours(units):
    """Its data are numbers, so each set has one, and the metric looks the distance up."""
    known = sorted({each for unit in units for each in unit}, key=sorted)
    found = set_alpha(units)
    if found.value is None:
        assert found.reason in (NO_PAIRS, NO_VARIATION)
        return
    table = np.array([[unit.count(each) for each in known] for unit in units])
    distances = np.array([[masi_distance(a, b) for b in known] for a in known])

    def metric(v1, v2, i1, i2, n_v, dtype=np.float64):
        return distances[i1, i2].astype(dtype)

    theirs = krippendorff.alpha(
        value_counts=table, value_domain=list(range(len(known))), level_of_measurement=metric
    )
    assert found.value == pytest.approx(theirs)


@given(some_units.flatmap(lambda units: st.tuples(st.just(units), st.permutations(units))))
def test_the_order_of_queries_and_editors_changes_nothing(pair):
    units, shuffled = pair
    turned = [list(reversed(unit)) for unit in shuffled]
    assert set_alpha(turned).value == pytest.approx(set_alpha(units).value)
    assert mean_jaccard(turned).value == pytest.approx(mean_jaccard(units).value)
    assert percent_agreement(turned).value == pytest.approx(percent_agreement(units).value)


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=4), max_size=6))
def test_no_coefficient_is_ever_nan(units):
    for found in (nominal_alpha(units), percent_agreement(units)):
        assert (found.value is None) == bool(found.reason)
        assert found.value is None or -1 <= found.value <= 1


@given(choices, choices)
def test_masi_is_a_distance_between_none_and_one(one, other):
    assert 0 <= masi_distance(one, other) <= 1
    assert (masi_distance(one, other) == 0) == (one == other)
    assert masi_distance(one, other) >= 1 - jaccard(one, other)


@pytest.mark.django_db
def test_screening_agreement_is_told_for_each_question_of_the_form():
    project = make_project()
    stage = make_stage("screening", project)
    fit, odd = make_query(project), make_query(project)
    for changes in ({}, {"sensitive": True}):
        vote(stage, fit, **changes)
        vote(stage, odd, intent="navigational")
    vote(stage, fit, adult=True, work=make_work(stage, state="rejected"))
    vote(stage, make_query(project))
    with CaptureQueriesContext(connection) as asked:
        found = {row.name: row for row in screening_agreement(stage)}
    assert len(asked) == 1
    assert list(found) == ["intent", "excluded_kind", "unambiguous", "answerable", "sensitive", "adult"]
    assert (found["intent"].alpha.value, found["intent"].percent.value) == (1, 1)
    assert found["sensitive"].alpha.value == pytest.approx(0)
    assert (found["sensitive"].percent.value, found["sensitive"].percent_words) == (0.5, "50.0 %")
    assert (found["adult"].alpha.value, found["adult"].alpha.reason) == (None, NO_VARIATION)
    assert (found["adult"].queries, found["adult"].answers) == (2, 4)


@pytest.mark.django_db
def test_curation_agreement_is_over_ranks_and_the_empty_set():
    project = make_project()
    stage = make_stage("curation", project, redundancy=2)
    first, second, third = (make_query(project, status="accepted") for _ in range(3))
    for query in (first, second, third):
        make_candidates(query, "a", "b")
    select(stage, first, "p1")
    select(stage, first, "p1")
    select(stage, second, "p2")
    select(stage, second, "p1", "p2")
    select(stage, second, work=make_work(stage, state="rejected"))
    select(stage, third, "p1")
    with CaptureQueriesContext(connection) as asked:
        found = curation_agreement(stage)
    assert len(asked) == 2
    assert found.alpha.value == pytest.approx(0.5)
    assert found.jaccard.value == pytest.approx(0.75)
    assert (found.queries, found.selections) == (2, 4)


@pytest.mark.django_db
def test_stages_without_answers_say_why_there_is_nothing_to_tell():
    project = make_project()
    rows = screening_agreement(make_stage("screening", project))
    assert {row.alpha.reason for row in rows} == {row.percent.reason for row in rows} == {NO_PAIRS}
    found = curation_agreement(make_stage("curation", project))
    assert (found.alpha.reason, found.jaccard.reason) == (NO_PAIRS, NO_PAIRS)
