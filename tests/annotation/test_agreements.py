"""Rows of screening and curation on the project's page of agreement."""

import pytest

from annotation.desk.overview import agreement_rows
from annotation.models import Query
from annotation.selectors.agreement import NO_PAIRS, screening_agreement
from tests.annotation.world import make_project, make_query, make_stage, vote

pytestmark = pytest.mark.django_db
CLASSES = ("informational", "informational", "navigational")


@pytest.fixture
def stage():
    return make_stage("screening", make_project())


def votes(stage, *intents):
    query = make_query(stage.project, f"query {Query.objects.count()}")
    for intent in intents:
        vote(stage, query, intent=intent)


def test_the_row_of_screening_is_about_the_class_of_the_query(stage):
    votes(stage, *CLASSES)
    votes(stage, "navigational", "navigational")
    row = agreement_rows([stage], False)[stage.pk]
    assert row.before == screening_agreement(stage)[0].alpha.value
    assert (row.after, row.items, row.of) == (None, 2, "queries")
    assert row.signature.startswith("krippendorff-alpha|distance=nominal|queries=2|")


def test_without_pairs_the_row_says_why_there_is_no_number(stage):
    row = agreement_rows([stage], False)[stage.pk]
    assert (row.before, row.note, row.items) == (None, NO_PAIRS, 0)


def test_curation_has_a_row_of_its_own():
    stage = make_stage("curation", make_project())
    assert agreement_rows([stage], False)[stage.pk].measure == "Chosen passages: alpha with MASI distance"


def test_nothing_is_worked_out_where_it_has_to_be_quick(stage, django_assert_num_queries):
    votes(stage, *CLASSES)
    with django_assert_num_queries(0):
        assert agreement_rows([stage], True) == {}
    row = agreement_rows([stage], False)[stage.pk]
    with django_assert_num_queries(0):
        assert agreement_rows([stage], True) == {stage.pk: row}


def test_a_row_is_kept_until_the_work_changes(stage, django_assert_num_queries):
    votes(stage, *CLASSES)
    before = agreement_rows([stage], False)[stage.pk]
    with django_assert_num_queries(1):
        assert agreement_rows([stage], False)[stage.pk] == before
    votes(stage, *CLASSES)
    assert agreement_rows([stage], False)[stage.pk].items == 2
