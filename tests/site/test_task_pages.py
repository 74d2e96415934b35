"""Task pages that we serve: at signed addresses, to nobody in particular, for as long as there is work."""

from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from marketplace.forms.questions import html_question_xml
from marketplace.models import Batch, Holding
from marketplace.site import taskpages
from marketplace.site.lookup import work_url
from tests.marketplace.test_questionform import ask, form_xml, select
from tests.site import world

HTML = "<h1>Task</h1><form action='https://www.mturk.com/mturk/externalSubmit'><input name=a></form>"


@pytest.fixture
def group(lab):
    return world.make_group(lab, "Look & say")


@pytest.fixture
def holding(group, rosa):
    return world.take(rosa, world.post(group, question=html_question_xml(HTML, 0)))


def inside(page):
    """What the frame of a page shows, asked for without any cookie."""
    parts = urlsplit(page.context["frame_url"])
    return Client().get(f"{parts.path}?{parts.query}")


def policy(response):
    parts = response.headers["Content-Security-Policy"].split("; ")
    return dict(part.split(" ", 1) for part in parts)


def test_the_page_at_work_goes_to_the_holdings_own_address(holding, as_rosa):
    page = as_rosa.get(work_url(holding))
    query = parse_qs(urlsplit(page.context["frame_url"]).query)
    to = f"http://testserver/s/{taskpages.submit_signature(holding.pk)}"
    assert query == {
        "assignmentId": [holding.assignment_id],
        "hitId": [holding.hit.hit_id],
        "turkSubmitTo": [to],
        "workerId": ["AROSA"],
    }
    task = inside(page)
    assert f"action='{to}/mturk/externalSubmit'" in task.content.decode()
    assert policy(task)["form-action"] == f"{to}/mturk/externalSubmit"
    assert "X-Frame-Options" not in task.headers
    assert "frame-ancestors" not in policy(task)
    assert not task.cookies
    assert "no-store" in task.headers["Cache-Control"]
    assert task.headers["Referrer-Policy"] == "no-referrer"


def test_the_page_around_it_can_be_led_nowhere_else(holding, as_rosa):
    page = as_rosa.get(work_url(holding))
    assert policy(page)["frame-src"] == "http://testserver/s/ http://testserver/p/"
    text = page.content.decode()
    assert "data-opaque" in text
    sandbox = text.split('sandbox="')[1].split('"')[0].split()
    assert "allow-same-origin" not in sandbox
    assert "allow-top-navigation-by-user-activation" in sandbox  # for the link after a submission


def test_a_preview_sends_nothing_and_names_no_worker(group, visitor):
    hit = world.post(group, question=html_question_xml(HTML, 300))
    page = visitor.get(f"/projects/{group.group_id}/tasks")
    query = parse_qs(urlsplit(page.context["frame_url"]).query)
    assert query == {"assignmentId": ["ASSIGNMENT_ID_NOT_AVAILABLE"], "hitId": [hit.hit_id]}
    task = inside(page)
    assert "<h1>Task</h1>" in task.content.decode()
    assert policy(task)["form-action"] == "'none'"
    sandbox = page.content.decode().split('sandbox="')[1].split('"')[0].split()
    assert not [each for each in sandbox if "navigation" in each or "same-origin" in each]


def test_what_was_handed_in_or_back_is_not_shown_again(holding, as_rosa):
    page = as_rosa.get(work_url(holding))
    assert inside(page).status_code == 200
    world.submit(holding)
    assert inside(page).status_code == 410
    assert "You have submitted this HIT" in inside(page).content.decode()


def test_an_address_that_is_not_ours_shows_nothing(group, holding):
    for path in ("/s/nonsense/task", "/s/1-abc/task", "/p/nonsense/task", "/p/1-1-abc/task"):
        answer = Client().get(path)
        assert answer.status_code == 404
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert Client().post(path).status_code == 405
    work = taskpages.submit_signature(holding.pk)
    preview = urlsplit(taskpages.preview_url(hit=holding.hit, base_url="")).path.split("/")[2]
    assert Client().get(f"/p/{work}/task").status_code == 404
    assert Client().get(f"/s/{preview}/task").status_code == 404
    assert Client().get(f"/p/{preview}/task").status_code == 200


def test_an_answer_in_the_address_is_posted_from_a_page_of_ours(holding):
    """Survey sites lead back to `externalSubmit?assignmentId=…&code=…`, as they did to MTurk."""
    address = f"{taskpages.submit_to(holding=holding, base_url='')}/mturk/externalSubmit"
    page = Client().get(address, {"assignmentId": holding.assignment_id, "code": ["<1>", "2"]})
    assert (page.status_code, policy(page)["form-action"]) == (200, f"http://testserver{address}")
    assert b'name="code" value="&lt;1&gt;"' in page.content
    assert b"data-at-once" in page.content
    holding.refresh_from_db()
    assert holding.state == Holding.State.ACCEPTED
    Client().post(address, {"assignmentId": holding.assignment_id, "code": ["<1>", "2"]})
    holding.refresh_from_db()
    assert "<FreeText>&lt;1&gt;|2</FreeText>" in holding.answer
    assert Client().get(address).status_code == 405
    assert Client().delete(f"{address}?a=1").status_code == 405


def test_an_old_preview_is_gone(holding, monkeypatch):
    path = urlsplit(taskpages.preview_url(hit=holding.hit, base_url="")).path
    monkeypatch.setattr(taskpages, "PREVIEW_AGE", -1)
    answer = Client().get(path)
    assert answer.status_code == 404
    assert "out of date" in answer.content.decode()


def test_an_external_question_has_no_task_page_here(group, rosa):
    holding = world.take(rosa, world.post(group))
    assert Client().get(f"/s/{taskpages.submit_signature(holding.pk)}/task").status_code == 404


def test_a_batch_loads_from_its_own_hosts(lab, holding):
    now = holding.accepted_at
    holding.hit.batch = Batch.objects.create(
        requester=lab, number=1, name="b", html="", hosts=["https://images.example.org"], columns=[],
        properties={}, task_count=1, created_at=now,
    )  # fmt: skip
    holding.hit.save()
    task = Client().get(f"/s/{taskpages.submit_signature(holding.pk)}/task")
    assert policy(task)["img-src"] == "'self' data: blob: https://images.example.org"
    assert "connect-src" not in policy(task)


@pytest.fixture
def form_holding(group, rosa):
    xml = form_xml(
        "<Overview><Title>A &lt;b&gt;</Title></Overview>",
        ask("bird", select("robin", "wren"), required=True),
        ask("why", "<FreeTextAnswer/>"),
    )
    return world.take(rosa, world.post(group, question=xml))


def test_a_question_form_is_drawn_by_us(form_holding, as_rosa):
    page = as_rosa.get(work_url(form_holding))
    assert 'class="task fits"' in page.content.decode()
    task = inside(page)
    text = task.content.decode()
    assert "Look &amp; say" in text
    assert "A &lt;b&gt;" in text
    assert 'name="answer:bird" value="robin"' in text
    rules = policy(task)
    assert rules["script-src"] == "'self'"
    assert "https:" in rules["img-src"].split()
    to = f"http://testserver/s/{taskpages.submit_signature(form_holding.pk)}/mturk/externalSubmit"
    assert rules["form-action"] == to
    assert f'action="{to}"' in text


def test_a_form_that_is_not_well_filled_in_comes_back_as_it_was(form_holding):
    path = f"/s/{taskpages.submit_signature(form_holding.pk)}/mturk/externalSubmit"
    answer = Client().post(path, {"answer:why": "<i>because</i>"})
    assert answer.status_code == 422
    text = answer.content.decode()
    assert "An answer is needed here." in text
    assert "&lt;i&gt;because&lt;/i&gt;" in text
    form_holding.refresh_from_db()
    assert form_holding.state == "accepted"
    answer = Client().post(path, {"answer:why": "because", "answer:bird": "wren"})
    assert answer.status_code == 200
    form_holding.refresh_from_db()
    assert "<SelectionIdentifier>wren</SelectionIdentifier>" in form_holding.answer
    assert "<FreeText>because</FreeText>" in form_holding.answer
    assert Client().post(path, {"answer:bird": "robin"}).status_code == 200
    assert Holding.objects.get(pk=form_holding.pk).answer == form_holding.answer, "the first one counts"


def test_a_preview_of_a_form_cannot_be_sent(group, visitor):
    world.post(group, question=form_xml(ask()))
    task = inside(visitor.get(f"/projects/{group.group_id}/tasks"))
    assert "<button disabled>Accept the HIT first</button>" in task.content.decode()
    assert policy(task)["form-action"] == "'none'"
