"""Recall of what editors see, estimated from passages that were drawn from below the cut."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.models import CandidatePassage
from annotation.selectors.curation import PooledQuery, estimate, recall_of
from tests.annotation.world import make_candidates, make_project, make_query, make_stage, make_work, select


def test_each_chosen_one_stands_for_those_that_were_not_drawn_with_the_interval_of_a_ratio():
    found = estimate(
        [PooledQuery(above=3, below=1, sampled=2, of=20), PooledQuery(above=2, below=0, sampled=2, of=30)]
    )
    assert (found.above, found.below, found.missed) == (5, 1, 10.0)
    assert found.recall == pytest.approx(5 / 15)
    error = (2 * 2 * (4 / 3) ** 2) ** 0.5 / 15
    assert found.high == pytest.approx(1 / 3 + 1.959964 * error)
    assert 1 / 3 - 1.959964 * error < found.low == 0
    found = estimate([PooledQuery(2, 0, 2, 9), PooledQuery(1, 0, 2, 9)])
    assert (found.recall, found.low, found.high) == (1.0, 1.0, 1.0)
    found = estimate([PooledQuery(3, 1, 1, 3)])
    assert (found.recall, found.low) == (0.5, None)


@pytest.mark.parametrize("seen", [[], [PooledQuery(0, 0, 2, 9)], [PooledQuery(0, 0, 0, 0)]])
def test_where_nothing_was_chosen_there_is_no_recall(seen):
    found = estimate(seen)
    assert (found.recall, found.low, found.high, found.queries) == (None, None, None, len(seen))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.builds(PooledQuery, st.integers(0, 9), st.integers(0, 3), st.integers(3, 9), st.integers(9, 99)),
        max_size=8,
    )
)
def test_recall_lies_in_its_interval_and_between_0_and_1(seen):
    found = estimate(seen)
    if found.recall is not None and found.low is not None and found.high is not None:
        assert 0 <= found.low <= found.recall <= found.high <= 1


@pytest.fixture
def project():
    return make_project()


def asked(project, *below):
    """A query with three candidates; those with these ranks are from below the cut."""
    query = make_query(project, status="accepted")
    for candidate in make_candidates(query, "one", "two", "three"):
        if candidate.rank in below:
            candidate.retrieval = {"ranker": "bm25", "below": {"drawn": len(below), "of": 10 * len(below)}}
            candidate.save()
    return query


def keys(query, *ranks):
    found = CandidatePassage.objects.filter(query=query, rank__in=ranks)
    return list(found.values_list("key", flat=True))


@pytest.mark.django_db
def test_it_counts_what_editors_whose_work_counts_chose(project):
    stage = make_stage("curation", project, redundancy=2)
    one, other, without = asked(project, 3), asked(project, 2, 3), asked(project)
    select(stage, one, *keys(one, 1, 3))
    select(stage, one, *keys(one, 1))
    select(stage, other, *keys(other, 1))
    select(stage, other, *keys(other, 2), work=make_work(stage, state="rejected"))
    select(stage, without, *keys(without, 1))
    found = recall_of(project)
    assert (found.queries, found.above, found.below, found.missed) == (2, 2, 1, 10.0)


@pytest.mark.django_db
def test_the_command_says_it(project):
    stage = make_stage("curation", project)
    output = StringIO()
    call_command("candidates", project.slug, "--recall", stdout=output)
    assert "No query has a choice of editors who also saw passages from below the cut." in output.getvalue()
    for ranks in ((1, 2), (1, 3)):
        query = asked(project, 3)
        select(stage, query, *keys(query, *ranks))
    output = StringIO()
    call_command("candidates", project.slug, "--recall", stdout=output)
    assert "Queries: 2. Editors chose 3 passages above the cut, and 1 of those drawn" in output.getvalue()
    assert "Estimated recall of what is shown: 0.231" in output.getvalue()
    output = StringIO()
    call_command("candidates", project.slug, "--recall", "--json", stdout=output)
    assert json.loads(output.getvalue())["missed"] == 10.0
