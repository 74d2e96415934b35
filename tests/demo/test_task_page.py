"""The sample task page: what a worker sees in a marketplace's frame, and what nobody can make it do."""

import json
import re
from html import unescape
from html.parser import HTMLParser
from urllib.parse import urlencode

import pytest
from django.test import Client

from distillery.demo.task_pages import FILE, all_tasks

SUBMIT_TO = "http://testserver/s/17-signature_of-ours"
ASSIGNMENT = "3ZSY5X72NXBM5TRZJK7MXIQD4S9ORE"


def open_page(number: int = 1, **parameters: str):
    return Client().get(f"/examples/answer/{number}/", parameters)


def at_work(number: int = 1, **parameters: str):
    return open_page(number, **{"assignmentId": ASSIGNMENT, "turkSubmitTo": SUBMIT_TO, **parameters})


class Tags(HTMLParser):
    """Start tags of a page with their attributes, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def first(self, tag: str, **wanted: str) -> dict[str, str | None]:
        return next(a for t, a in self.found if t == tag and all(a.get(k) == v for k, v in wanted.items()))

    def count(self, tag: str) -> int:
        return sum(t == tag for t, _ in self.found)


def tags(response) -> Tags:
    return Tags(response.content.decode())


def directives(response) -> dict[str, str]:
    policy = response.headers["Content-Security-Policy"]
    return dict(part.strip().partition(" ")[::2] for part in policy.split(";"))


# The tasks


def test_there_are_ten_different_questions_with_passages():
    tasks = all_tasks()
    assert len({task.query for task in tasks}) == 10
    assert all(task.passages and all(len(passage) > 100 for passage in task.passages) for task in tasks)


def test_every_task_names_its_book_and_licence():
    licence = json.loads(FILE.read_text(encoding="utf-8"))["licence"]
    assert licence["url"] == "https://creativecommons.org/licenses/by/4.0/"
    attribution = FILE.with_name("ATTRIBUTION.md").read_text(encoding="utf-8")
    for task in all_tasks():
        assert task.book.title in attribution
        assert task.book.url in attribution
        page = unescape(open_page(task.number).content.decode())
        assert task.book.title in page
        assert task.book.authors in page
        assert licence["url"] in page


# What a worker sees


@pytest.mark.parametrize("number", range(1, 11))
def test_a_worker_reads_the_question_and_its_passages(number):
    page = unescape(at_work(number).content.decode())
    task = all_tasks()[number - 1]
    assert f"<h1>{task.query}</h1>" in page
    assert all(passage in page for passage in task.passages)


def test_the_form_goes_to_the_marketplace_that_sent_the_worker():
    page = tags(at_work())
    form = page.first("form")
    assert form == {"method": "post", "action": f"{SUBMIT_TO}/mturk/externalSubmit"}
    assert page.first("input", name="assignmentId")["value"] == ASSIGNMENT
    assert "disabled" not in page.first("fieldset")
    assert "required" in page.first("textarea", name="answer")


def test_a_trailing_slash_of_turk_submit_to_does_not_double():
    assert (
        tags(at_work(turkSubmitTo=f"{SUBMIT_TO}/")).first("form")["action"]
        == f"{SUBMIT_TO}/mturk/externalSubmit"
    )
    bare = tags(at_work(turkSubmitTo="http://testserver")).first("form")["action"]
    assert bare == "http://testserver/mturk/externalSubmit"


@pytest.mark.parametrize(
    "assignment", [{}, {"assignmentId": ""}, {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}]
)
def test_a_preview_shows_everything_and_takes_nothing(assignment):
    response = open_page(2, turkSubmitTo=SUBMIT_TO, **assignment)
    page = tags(response)
    assert response.status_code == 200
    assert "accept the task first" in response.content.decode()
    assert "disabled" in page.first("fieldset")
    assert "action" not in page.first("form")


def test_the_page_works_without_script_and_sets_no_cookie():
    response = at_work()
    assert tags(response).count("script") == 0
    assert not response.cookies
    assert "Cookie" not in response.headers.get("Vary", "")
    assert directives(response)["script-src"] == "'self'"


def test_the_page_is_small():
    assert len(at_work().content) < 10_000


def test_there_is_no_eleventh_task():
    assert open_page(0).status_code == 404
    assert open_page(11).status_code == 404


def test_an_answer_is_never_posted_to_the_task_page_itself():
    assert Client(enforce_csrf_checks=True).post("/examples/answer/1/", {"answer": "x"}).status_code in (
        403,
        405,
    )


# Who may frame it, and where it may send to


def test_only_known_marketplaces_may_frame_the_page_and_receive_its_form():
    response = at_work()
    assert "X-Frame-Options" not in response.headers
    allowed = directives(response)
    assert allowed["frame-ancestors"] == "'self' http://testserver"
    assert allowed["form-action"] == "'self' http://testserver"


def test_other_pages_may_not_be_framed():
    response = Client().get("/accounts/login/")
    assert response.headers["X-Frame-Options"] == "DENY"
    assert directives(response)["frame-ancestors"] == "'none'"


def test_a_public_url_is_a_known_marketplace(settings):
    settings.PUBLIC_URL = "https://work.example.org/market"
    response = at_work(turkSubmitTo="https://work.example.org/s/1-x")
    assert response.status_code == 200
    assert directives(response)["form-action"] == "'self' http://testserver https://work.example.org"


def test_on_ones_own_machine_both_spellings_of_it_are_known():
    client = Client(HTTP_HOST="127.0.0.1:8000")
    page = client.get(
        "/examples/answer/1/", {"assignmentId": ASSIGNMENT, "turkSubmitTo": "http://localhost:8000/s/1-x"}
    )
    assert page.status_code == 200
    assert directives(page)["frame-ancestors"] == "'self' http://127.0.0.1:8000 http://localhost:8000"


@pytest.mark.parametrize(
    "submit_to",
    [
        "https://evil.example",
        "http://testserver.evil.example",
        "http://testserver@evil.example",
        "http://evil.example/http://testserver",
        "http://testserver:81",
        "https://testserver",
        "//testserver",
        "/s/1-x",
        "javascript:alert(1)",
        "data:text/html,x",
        "http://testserver\\@evil.example",
        "http://testserver/s/x?next=1",
        "http://testserver/s/x#y",
        "http://testserver/s/\r\nx",
        "http://testserver /s/x",
        "http://testserver/s/../../elsewhere",
        "ftp://testserver",
    ],
)
def test_an_unknown_place_to_submit_to_is_refused_with_an_explanation(submit_to):
    response = at_work(turkSubmitTo=submit_to)
    page = tags(response)
    assert response.status_code == 400
    assert "a place we do not know" in response.content.decode()
    assert "action" not in page.first("form")
    assert "disabled" in page.first("fieldset")
    assert "evil" not in response.content.decode()


def test_a_worker_without_a_marketplace_is_told_so():
    response = at_work(turkSubmitTo="")
    assert response.status_code == 400
    assert "does not say which marketplace sent you here" in response.content.decode()


@pytest.mark.parametrize(
    "hostile", ['"><script>alert(1)</script>', "3A' onfocus='x", "lower-case", "Ä" * 30, "3" * 65]
)
def test_hostile_text_in_the_address_never_reaches_the_page(hostile):
    response = at_work(assignmentId=hostile)
    text = response.content.decode()
    assert response.status_code == 400
    assert hostile not in text
    assert not re.search(r"<script|onfocus", text)


def test_unknown_parameters_change_nothing():
    plain = at_work().content
    noise = urlencode({"workerId": "<b>A1</b>", "hitId": "'", "query": "<script>"})
    assert (
        Client()
        .get(f"/examples/answer/1/?assignmentId={ASSIGNMENT}&turkSubmitTo={SUBMIT_TO}&{noise}")
        .content
        == plain
    )
