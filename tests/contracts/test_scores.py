"""Metrics, agreement and retrieval measures have the signatures and the values of the snapshots."""

import pytest

from tests.contracts import scores
from tests.contracts.snapshots import check_snapshot, list_snapshots


@pytest.mark.parametrize("profile", scores.list_profiles())
def test_metrics_have_the_signatures_and_values_they_had(profile):
    check_snapshot(f"metrics/{profile}", scores.render_metrics(profile))


@pytest.mark.parametrize("recipe", scores.list_recipes())
def test_agreement_is_what_it_was(recipe):
    check_snapshot(f"agreement/{recipe}", scores.render_agreement(recipe))


def test_profiles_and_recipes_that_were_there_are_still_there():
    assert sorted(list_snapshots("metrics") - set(scores.list_profiles())) == []
    assert sorted(list_snapshots("agreement") - set(scores.list_recipes())) == []


def test_measures_of_rankings_are_what_they_were():
    check_snapshot("retrieval_measures", scores.render_retrieval())
