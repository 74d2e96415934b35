"""A query as metrics see it: references by importance, and why an answer has its score."""

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from judgments.models import Candidate
from tests.cases import apart
from tests.judgments import desk_world

pytestmark = pytest.mark.django_db
REFERENCES = ["A gift of Aunt Ida.", "The bridge was opened in March 1932.", "The bridge was opened in 1932."]


@pytest.fixture
def place():
    made = desk_world.make_place()
    desk_world.query_of(made, "q1", references=REFERENCES)
    for system, text in (("a", "The bridge was opened in 1935."), ("b", desk_world.HOSTILE)):
        candidate = desk_world.candidate_of(made, f"q1/{system}")
        Candidate.objects.filter(pk=candidate.pk).update(text=text)
    desk_world.people(made)
    return made


@pytest.fixture
def viewer(place) -> Client:
    return desk_world.as_("viewer")


def address(place, key="q1"):
    return reverse("evaluations:query", args=[place.project.slug, place.queries[key].pk])


def page(client, place, **asked):
    answer = client.get(address(place), asked)
    assert answer.status_code == 200
    return answer.content.decode()


def marked(html):
    """Runs of words that are marked in the two texts, without the legend."""
    texts = "".join(re.findall(r'<p class="card matched".*?</p>', html, re.S))
    return re.findall(r'<mark class="m(\d)">(.*?)</mark>', texts)


def test_references_stand_by_importance_with_their_numbers(viewer, place):
    html = page(viewer, place)
    assert re.findall(r"· reference (\d)", html) == ["3", "2", "1"]
    assert re.findall(r'<strong>([\d.]+)</strong> <span class="by">importance', html) == [
        "1.68",
        "1.65",
        "1.13",
    ]
    assert "38\xa0% of all" in html
    assert "Why" not in html


def test_an_answer_of_a_system_shows_what_matched_and_why(viewer, place):
    html = page(viewer, place, metric="bleu-2", candidate=place.candidates["q1/a"].pk)
    assert marked(html) == [
        ("2", "The bridge was opened in"),
        ("1", "."),
        ("2", "The bridge was opened in"),
        ("1", "."),
    ]
    assert "Why BLEU-2 says" in html
    assert "The answer of <bdi>a</bdi>" in html
    assert '<th scope="row">2-grams</th><td class="number">4</td><td class="number">6</td>' in html
    assert "metric:bleu-2|v:1|tok:default.2" in html


def test_a_typed_answer_goes_before_that_of_a_system(viewer, place):
    html = page(viewer, place, metric="rouge-l", candidate=place.candidates["q1/a"].pk, answer="Aunt Ida")
    assert marked(html) == [("1", "Aunt Ida"), ("1", "Aunt Ida")]
    assert "Reference 1, which it matches best" in html
    assert "Longest common subsequence" in html


def test_phrasing_aware_metrics_say_what_each_reference_adds(viewer, place):
    html = page(viewer, place, candidate=place.candidates["q1/a"].pk)
    assert "Why pa-BLEU-4 says" in html
    assert html.count("to the score") == 3
    assert "adds most" in html


def test_what_people_wrote_is_text(viewer, place):
    html = page(viewer, place, candidate=place.candidates["q1/b"].pk)
    assert "<script>alert" not in html
    html = page(viewer, place, metric="bleu-1", answer="<b>bridge</b> {{7*7}}")
    assert ("1", "bridge") in marked(html)
    assert escape("<b>") in html


@pytest.mark.long
def test_an_address_that_asks_for_nothing_possible_shows_the_form_again(viewer, place, subtests):
    for asked in [
        {"metric": "no such"},
        {"profile": "no such"},
        {"candidate": "9" * 30},
        {"candidate": "x"},
        {"answer": "x" * 5000},
        {"metric": "cider"},
        {"answer": "\x00"},
    ]:
        with apart(subtests, asked=asked):
            assert 'class="field wrong"' in page(viewer, place, **asked)


def test_a_query_without_references_says_where_they_come_from(viewer, place):
    desk_world.query_of(place, "q2")
    html = viewer.get(address(place, "q2"), {"answer": "1932"}).content.decode()
    assert "No references yet" in html
    assert "There is no reference to compare with." in html


def test_too_much_text_is_refused_in_words(viewer, place):
    place.queries["q1"].references = ["word " * 2000] * 40
    place.queries["q1"].save()
    assert "too much text to be compared pair by pair" in page(viewer, place, metric="pa-meteor")


def test_queries_of_other_projects_are_not_there(place):
    other = desk_world.make_place()
    desk_world.query_of(other, "q9")
    theirs = reverse("evaluations:query", args=[place.project.slug, other.queries["q9"].pk])
    assert desk_world.as_("viewer").get(theirs).status_code == 404
    assert desk_world.as_("stranger").get(address(place)).status_code == 404
    assert desk_world.as_("anonymous").get(address(place)).status_code == 302


@pytest.mark.long
def test_pages_of_the_query_and_of_the_answer_lead_here(viewer, place):
    slug, candidate = place.project.slug, place.candidates["q1/a"]
    query = viewer.get(reverse("annotation:query", args=[slug, place.queries["q1"].pk])).content.decode()
    assert f'href="{address(place)}"' in query
    answer = viewer.get(reverse("judgments:candidate", args=[slug, candidate.pk])).content.decode()
    assert f'href="{address(place)}?candidate={candidate.pk}"' in answer


@pytest.mark.long
def test_it_asks_the_database_no_more_for_more_answers(viewer, place, django_assert_num_queries):
    viewer.get(address(place))
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as few:
        viewer.get(address(place))
    for number in range(9):
        desk_world.candidate_of(place, f"q1/more{number}")
    with django_assert_num_queries(len(few)):
        viewer.get(address(place))
