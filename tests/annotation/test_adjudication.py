"""The desk: queries on which editors were of two minds, and how far editors agree."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import CuratedSet, Query, QueryStep
from annotation.selectors.curation import next_undecided
from annotation.services.curation import AdjudicationError, accept_query, exclude_query
from annotation.services.steps import move
from core.projects.models import Event
from tests.annotation.world import (
    ARABIC,
    HOSTILE,
    LONG_WORD,
    make_candidates,
    make_project,
    make_query,
    make_stage,
    make_work,
    select,
    status,
    vote,
)
from tests.cases import apart
from tests.saving import messages_of
from tests.taskpage.world import make_stage as make_poll
from tests.taskpage.world import text

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(ada):
    return make_project(owner=ada)


@pytest.fixture
def screening(project):
    return make_stage("screening", project, redundancy=2)


@pytest.fixture
def curation(project):
    return make_stage("curation", project, redundancy=2)


@pytest.fixture
def desk(ada):
    client = Client()
    client.force_login(ada)
    return client


def make_tied(stage, words="mercury", **fields):
    query = make_query(stage.project, words, **fields)
    vote(stage, query)
    vote(stage, query, unambiguous=False)
    move(query=query, to=Query.Status.TIED, reason="1 of 2: fit to be answered", stage=stage)
    return query


def make_disputed(stage, words="boiling point", **fields):
    query = make_query(stage.project, words, status="accepted", **fields)
    make_candidates(query, "It is 100 °C.", "It is 90 °C.", "Water is wet.")
    select(stage, query, "p1", conflicts=[{"a": "p1", "b": "p2", "trusted": "p1"}])
    select(stage, query, "p2", highlights=[{"passage": "p2", "start": 6, "end": 11}])
    move(query=query, to=Query.Status.DISPUTED, reason="No passage was chosen by more", stage=stage)
    return query


def at(name, query):
    return reverse(f"annotation:{name}", args=[query.project.slug, query.pk])


def queue_of(project):
    return reverse("annotation:adjudication", args=[project.slug])


def test_tied_and_disputed_queries_of_the_project_wait_in_the_queue(desk, project, screening, curation):
    assert "Nothing waits for you" in text(desk.get(queue_of(project)))
    page = desk.get(f"/desk/projects/{project.slug}/queues/").content.decode()
    assert f'<a href="{queue_of(project)}">Adjudication</a>' in page
    tied, disputed = make_tied(screening), make_disputed(curation)
    make_query(project, "still waiting")
    make_tied(make_stage("screening", make_project()))
    page = desk.get(queue_of(project))
    assert list(page.context["rows"]) == [tied, disputed]
    assert "mercury tied 1 of 2: fit to be answered just now" in text(page)
    assert list(desk.get(queue_of(project) + "?state=tied").context["rows"]) == [tied]
    assert list(desk.get(queue_of(project) + "?state=disputed").context["rows"]) == [disputed]


def test_the_votes_on_a_tied_query_stand_side_by_side(desk, screening):
    query = make_tied(screening, context=[{"text": "planets", "answer": "Eight."}])
    vote(screening, query, work=make_work(screening, "AREJECTED", state="rejected"))
    words = text(desk.get(at("case", query)))
    assert "planets Reply: Eight." in words
    assert "Is the intent clear? yes no yes" in words
    assert "AREJECTED rejected" in words


def test_accepting_moves_the_query_with_name_and_reason_and_goes_on_to_the_next(desk, ada, screening):
    first, second = make_tied(screening), make_tied(screening)
    answer = desk.post(at("accept", first), {"reason": "The metal is meant."}, follow=True)
    assert answer.redirect_chain[-1][0] == at("case", second)
    assert messages_of(answer) == ["Accepted."]
    assert status(first) == "accepted"
    step = QueryStep.objects.get(query=first, after="accepted")
    assert (step.before, step.actor, step.stage) == ("tied", ada, screening)
    assert step.reason == "The metal is meant."
    event = Event.objects.get(action="query.adjudicated")
    assert (event.actor, event.subject, event.details["became"]) == (ada, first.key, "accepted")


def test_excluding_needs_a_reason_that_can_be_stored_and_is_done_once(desk, screening):
    query = make_tied(screening)
    for reason, why in (
        ("  ", "Give a reason; it stays with the query."),
        ("x" * 301, "The reason is longer than 300 characters, or cannot be stored."),
        ("a\0b", "The reason is longer than 300 characters, or cannot be stored."),
    ):
        answer = desk.post(at("exclude", query), {"reason": reason}, follow=True)
        assert (messages_of(answer), status(query)) == ([why], "tied")
    answer = desk.post(at("exclude", query), {"reason": "Three meanings."}, follow=True)
    assert answer.redirect_chain[-1][0] == queue_of(query.project), "the last leads back to the empty queue"
    query.refresh_from_db()
    assert (query.status, query.status_reason) == ("excluded", "Three meanings.")
    desk.post(at("accept", query), follow=True)
    assert status(query) == "excluded"


def test_of_two_decisions_at_the_same_moment_one_counts(ada, screening):
    query = make_tied(screening)
    seen_by_both = Query.objects.get(pk=query.pk)
    accept_query(query=query, actor=ada)
    with pytest.raises(AdjudicationError, match="Another person decided"):
        exclude_query(query=seen_by_both, actor=ada, reason="No.")
    assert QueryStep.objects.filter(query=query, before="tied").count() == 1


def test_selections_stand_beside_each_other_and_the_passages_below(desk, curation):
    words = text(desk.get(at("case", make_disputed(curation))))
    assert "Passage 1 chosen \N{EN DASH}" in words
    assert "Passage 2 \N{EN DASH} chosen" in words
    assert "Editor 1: passages 1 and 2 contradict each other, and 1 is the more trustworthy." in words
    assert "Chosen by editor 2." in words
    assert "Marked: 90 °C" in words
    assert "Water is wet." in words


def test_the_chosen_passages_become_the_curated_set(desk, ada, curation):
    query = make_disputed(curation)
    pks = dict(query.candidates.values_list("key", "pk"))
    desk.post(at("curate", query), {"passage": [pks["p3"], pks["p1"]], "reason": "Measured."})
    assert status(query) == "curated"
    made = CuratedSet.objects.get()
    assert (made.query, made.rule, made.stage, made.decided_by) == (query, "person", curation, ada)
    assert list(made.members.values_list("candidate__key", flat=True)) == ["p1", "p3"]
    step = QueryStep.objects.get(after="curated")
    assert (step.actor, step.reason, step.details) == (ada, "Measured.", {"passages": ["p1", "p3"]})


def test_a_set_without_passages_or_with_those_of_another_query_is_refused(desk, curation):
    query, other = make_disputed(curation), make_disputed(curation)
    own, foreign = query.candidates.first().pk, other.candidates.first().pk
    for chosen, words in (
        ([], "Choose at least one of the passages of this query."),
        ([foreign], "Choose at least one of the passages of this query."),
        ([own, foreign], "One of the passages is not, or not any more, among those of this query."),
        (["x", "-1", "²", str(2**63), "9" * 5000], "Choose at least one of the passages of this query."),
    ):
        assert messages_of(desk.post(at("curate", query), {"passage": chosen}, follow=True)) == [words]
    assert status(query) == "disputed"
    assert not CuratedSet.objects.exists()


def test_a_disputed_query_is_taken_out_with_a_reason(desk, screening, curation):
    tied, query = make_tied(screening), make_disputed(curation)
    desk.post(at("accept", query))
    desk.post(at("unanswerable", tied), {"reason": "No."})
    assert (status(tied), status(query)) == ("tied", "disputed"), "decisions belong to a state"
    desk.post(at("unanswerable", query), {"reason": ""})
    assert status(query) == "disputed"
    desk.post(at("unanswerable", query), {"reason": "All of them guess."})
    assert status(query) == "unanswerable"


def test_a_settled_dispute_is_reopened_on_the_page_of_the_query(desk, curation):
    query = make_disputed(curation)
    desk.post(at("curate", query), {"passage": [query.candidates.first().pk]})
    place = reverse("annotation:query", args=[query.project.slug, query.pk])
    assert "Take the decision back" in text(desk.get(place))
    words = {"decision": "take_back", "reason": "A slip."}
    answer = desk.post(
        reverse("annotation:decide_query", args=[query.project.slug, query.pk]), words, follow=True
    )
    assert messages_of(answer) == ["The decision is taken back: its passages are disputed again."]
    assert status(query) == "disputed" and not CuratedSet.objects.exists()
    assert "Take the decision back" not in text(desk.get(place))


def test_next_goes_round_the_queue(project, screening):
    one, two, three = (make_tied(screening) for _ in range(3))
    assert next_undecided(project, one.pk) == two.pk
    assert next_undecided(project, three.pk) == one.pk
    Query.objects.exclude(pk=two.pk).update(status="accepted")
    assert next_undecided(project, two.pk) is None


def test_queries_of_other_projects_are_not_there_and_nothing_is_decided_by_looking(desk, project, screening):
    foreign = make_tied(make_stage("screening", make_project()))
    assert desk.get(reverse("annotation:case", args=[project.slug, foreign.pk])).status_code == 404
    assert desk.post(reverse("annotation:accept", args=[project.slug, foreign.pk])).status_code == 404
    query = make_tied(screening)
    for name in ("accept", "exclude", "curate", "unanswerable"):
        assert desk.get(at(name, query)).status_code == 405


def test_hostile_text_is_shown_as_text(desk, project, screening, curation, subtests):
    for words in [HOSTILE, ARABIC, LONG_WORD]:
        with apart(subtests, words=words):
            tied = make_tied(screening, words, context=[{"text": words, "answer": words}])
            disputed = make_disputed(curation, words)
            disputed.candidates.update(text=words, title=words, url=words[:2000])
            Query.objects.update(status_reason=words[:300])
            pages = [queue_of(project), at("case", tied), at("case", disputed)]
            for place in pages:
                answer = desk.get(place)
                body = answer.content.decode()
                assert answer.status_code == 200
                assert "<script>alert" not in body and "&{49}" not in body
                assert "style=" not in body and "onclick" not in body


def test_the_agreement_of_stages_of_both_kinds_stands_in_a_table(desk, project, screening, curation):
    for changes in ({}, {"intent": "navigational"}):
        query = make_query(project)
        vote(screening, query, **changes)
        vote(screening, query, **changes)
    page = desk.get(reverse("annotation:agreement", args=[project.slug, screening.slug]))
    assert "Class: navigational, transactional, informational 1.000 100.0 % 2 4" in text(page)
    assert "not defined: all answers are the same" in text(page)
    page = desk.get(reverse("annotation:agreement", args=[project.slug, curation.slug]))
    assert text(page).count("not defined: no query has two answers yet") == 2
    make_disputed(curation)
    page = desk.get(reverse("annotation:agreement", args=[project.slug, curation.slug]))
    assert "Mean Jaccard similarity of pairs 0.000" in text(page)
    poll = make_poll("a-poll", project=project)
    place = reverse("annotation:agreement", args=[project.slug, screening.slug])
    assert place in desk.get(f"/desk/projects/{project.slug}/stages/{screening.slug}/").content.decode()
    assert desk.get(reverse("annotation:agreement", args=[project.slug, poll.slug])).status_code == 404


def test_a_second_decision_finds_nothing_to_decide(desk, screening):
    query = make_tied(screening)
    desk.post(at("accept", query))
    answer = desk.post(at("exclude", query), {"reason": "No."}, follow=True)
    assert messages_of(answer)[-1].startswith("This query is accepted, waiting for passages;")
    assert status(query) == "accepted"
