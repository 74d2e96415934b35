"""What is said of a template while it is edited and when it is stored, and the preview of it."""

import pytest
from django.urls import reverse

from marketplace.batches.templates import find_problems, sample_rows
from marketplace.forms.html import SANDBOX
from marketplace.models import Template
from tests.batches import making


def test_each_problem_is_told_with_its_line(subtests):
    for html, said in [
        ("<p>\n<crowd-google-map><input>", "Line 2: There is no element <crowd-google-map>"),
        ("<input>\n\n${ name }", "Line 3: ${ name } is no name of a column"),
        ("<input>\n${name", "Line 2: ${name has no closing brace"),
        ("<p>Thank you</p>", "The page has no field"),
        (
            "<input>\n{{ task.input.taskObject | grant_read_access }}",
            "Line 2: {{ task.input.taskObject … is Liquid",
        ),
        ("<input>{% for pair in task.input.pairs %}", "Line 1: {% for pair in task.input.pairs … is Liquid"),
    ]:
        with subtests.test(html=html, said=said):
            [problem] = find_problems(html)
            assert str(problem).startswith(said)


def test_comments_and_right_pages_say_nothing():
    assert find_problems("<!-- <crowd-google-map>\n${ x } --><input name='${a}'>") == []
    assert find_problems("<crowd-form><crowd-input name='a'></crowd-input></crowd-form>") == []


def test_rows_come_from_a_table_or_are_made_up():
    html = "${question} ${image_url}"
    made = sample_rows(html, "")
    assert made.made_up
    assert made.rows == [{"question": "[question]", "image_url": "/static/samples/circle.svg"}]
    given = sample_rows(html, "question;image_url\nWhat?;/1.jpg\nWho?;/2.jpg\n")
    assert [row["question"] for row in given.rows] == ["What?", "Who?"]
    assert "no column image_url" in sample_rows(html, "question\nWhat?\n").problem
    assert "opens here and never closes" in sample_rows(html, 'question\n"What\n').problem


@pytest.fixture
def address(lab) -> str:
    return reverse("requester:template_preview", args=[lab.customer_id])


def test_the_preview_is_the_page_of_a_batch_in_the_sandbox_of_workers(as_owner, address, settings):
    form = {"html": making.HTML, "sample": "question,image_url\n<b>Bold</b>,/1.jpg\nTwo,/2.jpg\n", "row": "1"}
    answer = as_owner.post(address, form)
    page = answer.content.decode()
    assert "<b>Bold</b>" in page and 'src="/1.jpg"' in page
    assert f"sandbox {SANDBOX}" in answer.headers["Content-Security-Policy"]
    assert "form-action 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"
    found = as_owner.post(address, form | {"row": "9", "check": "1"}).json()
    assert (found["row"], found["rows"], found["problems"]) == (2, 2, [])
    assert not Template.objects.exists()


def test_what_is_wrong_is_refused_at_save_with_its_line_and_what_may_be_is_told(lab, as_owner):
    new = reverse("requester:new_template", args=[lab.customer_id])
    form = {
        "name": "N",
        "title": "t",
        "description": "d",
        "reward": "0.10",
        "places": "1",
        "frame_height": "0",
    }
    for name in ("duration", "lifetime", "auto_approval"):
        form |= {f"{name}_0": "1", f"{name}_1": "3600"}
    wrong = as_owner.post(new, form | {"html": "<p>\n<crowd-google-map>"})
    assert wrong.status_code == 422
    assert (
        "Line 2: There is no element &lt;crowd-google-map&gt; in this marketplace" in wrong.content.decode()
    )
    stored = as_owner.post(new, form | {"html": "<p>${ a }</p>"}, follow=True).content.decode()
    assert "The template is stored." in stored and "Line 1: ${ a } is no name" in stored
    assert "data-preview-form" in stored
