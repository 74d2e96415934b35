"""The desk: queries accepted and excluded by hand, single flags, and decisions in doubt."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.models import Doubt, QueryStep
from crowd.services.tick import settle_news
from tests.annotation.test_decided_again import FIT, FLAG, NO, reject, screened
from tests.annotation.world import HOSTILE, make_project, make_query, make_stage, status, unit_of
from tests.cases import apart
from tests.saving import messages_of, undo_button
from tests.taskpage.world import make_hit, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project(owner=User.objects.create_user("ada"))


@pytest.fixture
def screening(project):
    return make_stage("screening", project)


@pytest.fixture
def desk(project):
    client = Client()
    client.force_login(User.objects.get(username="ada"))
    return client


def at(name, project, *parts, **asked):
    address = reverse(f"annotation:{name}", args=[project.slug, *parts])
    return f"{address}?{'&'.join(f'{key}={value}' for key, value in asked.items())}" if asked else address


def counts(desk, project):
    page = desk.get(reverse("desk:queues", args=[project.slug]))
    return {each.queue.name: each.count for each in page.context["waiting"]}


def test_a_query_that_one_flag_excluded_waits_for_a_person(desk, project, screening):
    flagged, disliked, twice = (make_query(project, words) for words in ("prostate", "maps", "adult"))
    screened(screening, flagged, FIT, FIT, FLAG)
    screened(screening, disliked, FIT, NO, FLAG | NO)
    screened(screening, twice, FIT, FLAG, FLAG)
    assert counts(desk, project) == {"one-flag": 1}
    case = at("case", project, flagged.pk)
    opened = desk.get(reverse("desk:queue", args=[project.slug, "one-flag"]))
    assert opened.headers["Location"] == case
    page = text(desk.get(case))
    assert "Accept the query after all" in page and "Leave it out" in page
    answer = desk.post(at("accept", project, flagged.pk), {"reason": "It is no secret."}, follow=True)
    assert messages_of(answer) == ["Accepted."]
    assert (status(flagged), counts(desk, project)) == ("accepted", {})


def test_left_out_it_waits_no_longer(desk, project, screening):
    query = make_query(project)
    screened(screening, query, FIT, FIT, FLAG)
    assert messages_of(desk.post(at("exclude", project, query.pk), {"reason": ""}, follow=True)) == [
        "Say why; the reason stays in the query's history."
    ]
    desk.post(at("exclude", project, query.pk), {"reason": "A person's name."})
    query.refresh_from_db()
    assert (query.status, query.by_hand, query.status_reason) == ("excluded", True, "A person's name.")
    assert counts(desk, project) == {}
    assert list(desk.get(at("queries", project, only="by-hand")).context["rows"])


@pytest.fixture
def doubted(project, screening):
    """An accepted query that curation asks about, one of whose votes was rejected."""
    query = make_query(project, "mercury")
    votes = screened(screening, query, FIT, FIT, NO)
    make_hit(make_stage("curation", project), unit_of(query), external_id="3CURATE")
    reject(votes[0])
    settle_news(screening)
    return query


def test_a_doubt_is_shown_with_its_evidence_and_settled(desk, project, doubted):
    assert counts(desk, project) == {"doubt": 1}
    assert "mercury in doubt the work of" in text(desk.get(at("adjudication", project, state="doubt")))
    page = text(desk.get(at("case", project, doubted.pk)))
    assert "The work that counts now says 2 of 3 votes count" in page
    assert "Built on the decision 1 HIT on offer" in page
    assert page.count("rejected: does not count") == 1
    assert text(desk.get(at("query", project, doubted.pk))).count("does not count") == 1
    place = at("settle_doubt", project, doubted.pk, Doubt.objects.get().pk)
    assert messages_of(desk.post(place, {"decision": "burn", "reason": "x"}, follow=True)) == [
        "Choose what becomes of the decision."
    ]
    answer = desk.post(place, {"decision": "keep", "reason": "I read it."}, follow=True)
    assert messages_of(answer) == ["The decision stays."]
    assert (status(doubted), counts(desk, project)) == ("accepted", {})


def test_a_doubt_is_settled_the_other_ways(desk, project, doubted, subtests):
    place = at("settle_doubt", project, doubted.pk, Doubt.objects.get().pk)
    for decision, becomes in (("again", "waiting"), ("out", "excluded")):
        with apart(subtests, decision=decision):
            desk.post(place, {"decision": decision, "reason": "I read it."})
            assert status(doubted) == becomes


def test_what_cannot_be_decided_is_named_and_the_rest_is_decided_from_the_table(desk, project):
    queries = [make_query(project, status="excluded") for _ in range(3)]
    page = desk.get(at("queries", project, status="excluded")).content.decode()
    assert page.count('name="chosen"') == 3 and "choose.js" in page
    sent = {"chosen": [query.pk for query in queries[:2]], "decision": "accept", "reason": "They are fine."}
    answer = desk.post(at("decide_queries", project, status="excluded"), sent, follow=True)
    assert answer.redirect_chain[-1][0] == at("queries", project, status="excluded")
    assert messages_of(answer) == ["2 queries are accepted by hand."]
    assert [status(query) for query in queries] == ["accepted", "accepted", "excluded"]
    assert QueryStep.objects.filter(actor__username="ada", reason="They are fine.").count() == 2
    answer = desk.post(*undo_button(answer), follow=True)
    assert messages_of(answer) == ["2 queries are decided by the votes again."]
    assert [status(query) for query in queries] == ["excluded"] * 3
    query = make_query(project, HOSTILE, status="curated")
    sent = {"chosen": [query.pk, "x", "²"], "decision": "accept", "reason": HOSTILE}
    answer = desk.post(at("decide_queries", project), sent, follow=True)
    assert messages_of(answer)[0].endswith(
        "This query is curated, being answered; that cannot be done with it."
    )
    assert "<script>alert" not in answer.content.decode()


def test_all_queries_that_match_are_decided_about_and_back_at_once(desk, project, monkeypatch):
    monkeypatch.setattr("annotation.services.queries.MOST_AT_ONCE", 2)
    queries = [make_query(project, f"query {number}", status="excluded") for number in range(4)]
    place = at("decide_queries", project, status="excluded", q="query")
    sent = {"every": 4, "decision": "accept", "reason": "They are fine."}
    page = desk.post(place, sent)
    assert "Accept 4 queries?" in text(page)
    assert 'name="reason" value="They are fine."' in page.content.decode()
    make_query(project, "one more query", status="excluded")
    page = desk.post(place, sent | {"confirmed": 1}, follow=True)
    assert messages_of(page) == ["4 matched when you confirmed, 5 match now. Nothing was done."]
    page = desk.post(place, sent | {"every": 5, "confirmed": 1}, follow=True)
    assert messages_of(page) == ["5 queries are accepted by hand."]
    assert {status(query) for query in queries} == {"accepted"}
    desk.post(*undo_button(page))
    assert {status(query) for query in queries} == {"excluded"}
    for decision in ("", "withdraw", "nonsense"):
        page = desk.post(place, sent | {"decision": decision}, follow=True)
        assert messages_of(page)[-1] == "Choose what to do with the queries."


def test_a_query_is_decided_about_on_its_page_and_back(desk, project, screening):
    query = make_query(project)
    screened(screening, query, FIT, FIT, FLAG)
    place = at("decide_query", project, query.pk)
    answer = desk.post(place, {"decision": "accept", "reason": "Fine."}, follow=True)
    assert messages_of(answer) == ["It is accepted by hand: accepted, waiting for passages."]
    assert "by ada" in text(answer) and "Take the decision back" in text(answer)
    answer = desk.post(place, {"decision": "take_back", "reason": "I was wrong."}, follow=True)
    assert messages_of(answer) == ["It is decided by the votes again: excluded by screening."]
    assert messages_of(desk.post(place, {"decision": "accept", "reason": " "}, follow=True)) != []
    assert status(query) == "excluded"
