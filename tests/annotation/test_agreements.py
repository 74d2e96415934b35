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
    row = agreement_rows([stage], False)[stage.pk]
    assert (row.before, row.note, row.items) == (None, NO_PAIRS, 0)
    votes(stage, *CLASSES)
    votes(stage, "navigational", "navigational")
    row = agreement_rows([stage], False)[stage.pk]
    assert row.before == screening_agreement(stage)[0].alpha.value
    assert (row.after, row.items, row.of) == (None, 2, "queries")
    assert row.signature.startswith("krippendorff-alpha|distance=nominal|queries=2|")
    stage = make_stage("curation", make_project())
    assert agreement_rows([stage], False)[stage.pk].measure == "Chosen passages: alpha with MASI distance"


def test_a_row_is_kept_until_the_work_changes_and_not_worked_out_where_it_has_to_be_quick(
    stage, django_assert_num_queries
):
    votes(stage, *CLASSES)
    with django_assert_num_queries(0):
        assert agreement_rows([stage], True) == {}
    row = agreement_rows([stage], False)[stage.pk]
    with django_assert_num_queries(0):
        assert agreement_rows([stage], True) == {stage.pk: row}
    with django_assert_num_queries(1):
        assert agreement_rows([stage], False)[stage.pk] == row
    votes(stage, *CLASSES)
    assert agreement_rows([stage], False)[stage.pk].items == 2
