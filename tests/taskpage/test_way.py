"""A worker's way through the task page: look, work, send, go on to the marketplace."""

import gzip
import hashlib
import json

import pytest
from django.test import Client

from crowd.models import Assignment, Claim
from crowd.services import responses
from examples.poll.models import Vote
from tests.taskpage.world import MARKET, SUBMIT_TO, Visitor, field_of, handed_over, make_hit, make_stage, text

pytestmark = pytest.mark.django_db
State = Assignment.State


@pytest.fixture
def rosa():
    return Visitor(make_hit(make_stage()))


def directives(response):
    policy = response.headers["Content-Security-Policy"]
    return dict(part.strip().partition(" ")[::2] for part in policy.split(";"))


def test_a_worker_sees_the_title_the_instructions_and_every_unit(rosa):
    page = text(rosa.open())
    assert "Say what colour it is" in page
    assert "Look at each thing. Choose the colour that it has." in page
    assert "The sky" in page
    assert "A rose" in page
    assert "1 of 2" in page


def test_the_answer_is_stored_first_and_then_the_browser_tells_the_marketplace(rosa):
    response = rosa.send(item_0="Blue", item_1="Red")
    url, fields = handed_over(response)
    row = rosa.row
    assert (row.state, row.response) == (
        State.STORED,
        {"item:0": {"choice": "Blue"}, "item:1": {"choice": "Red"}},
    )
    assert url == f"{SUBMIT_TO}/mturk/externalSubmit"
    assert fields["assignmentId"] == "3ASSIGNMENT"
    assert fields["receipt"] == str(row.receipt)
    assert fields["sha256"] == hashlib.sha256(responses.canonical(row.response).encode()).hexdigest()
    assert responses.read_copy(fields, row) == row.response
    assert sorted(Vote.objects.values_list("unit", "choice")) == [("item:0", "Blue"), ("item:1", "Red")]


def test_the_copy_in_a_receipt_belongs_to_one_assignment(rosa):
    _, fields = handed_over(rosa.send(item_0="Blue", item_1="Red"))
    tom = Visitor(rosa.hit, worker="ATOM", assignment="3OTHER")
    tom.send(item_0="Red", item_1="Red")
    assert responses.read_copy(fields, tom.row) is None
    assert responses.read_copy(fields | {"copy": fields["copy"] + "x"}, rosa.row) is None
    assert responses.read_copy({}, rosa.row) is None


def test_what_is_missing_is_said_at_the_top_and_at_its_place_and_the_rest_is_kept(rosa):
    response = rosa.send(item_0="Blue")
    page = response.content.decode()
    assert response.status_code == 422
    assert "One answer needs another look" in text(response)
    target = page.split('<li><a href="#')[1].split('"')[0]
    assert f'class="error" id="{target}"' in page
    assert 'value="Blue" checked' in page
    assert Vote.objects.count() == 0


def test_an_option_that_was_not_offered_is_no_answer(rosa):
    assert rosa.send(item_0="Blue", item_1="Green").status_code == 422


def test_a_preview_takes_nothing(rosa):
    response = rosa.open(assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE")
    page = response.content.decode()
    assert "Accept the HIT to begin" in text(response)
    assert '<fieldset class="all" disabled>' in page
    assert 'name="ticket"' not in page
    assert "data-draft" not in page
    assert (
        "<button" not in page.partition('class="languages"')[0]
    )  # to read it in another language sends nothing
    assert not Assignment.objects.exists()


def test_a_preview_needs_no_worker_and_no_address_to_submit_to(rosa):
    assert rosa.client.get(rosa.path).status_code == 200


def test_a_reload_brings_the_same_units_in_the_same_order_with_the_draft(rosa):
    first = rosa.open()
    rosa.save(field_of(first, "ticket"), {"1|choice": "Red"})
    again = rosa.open()
    order = [text(page).index("The sky") < text(page).index("A rose") for page in (first, again)]
    assert order[0] == order[1]
    assert again.content.decode().count("checked>") == first.content.decode().count("checked>") + 1
    assert Claim.objects.count() == 2


def test_workers_see_the_units_in_different_orders(rosa):
    pages = [text(Visitor(rosa.hit, worker=f"A{n}", assignment=f"3A{n}").open()) for n in range(12)]
    assert {page.index("The sky") < page.index("A rose") for page in pages} == {True, False}


def test_a_reload_after_sending_goes_on_at_the_handover(rosa):
    sent = handed_over(rosa.send(item_0="Blue", item_1="Red"))
    assert handed_over(rosa.open()) == sent


def test_sending_the_same_form_again_gives_the_same_receipt_and_changes_nothing(rosa):
    ticket = rosa.ticket()
    first = handed_over(rosa.send(ticket, item_0="Blue", item_1="Red"))
    assert handed_over(rosa.send(ticket, item_0="Red", item_1="Blue")) == first
    assert rosa.row.response["item:0"] == {"choice": "Blue"}
    assert Vote.objects.count() == 2


@pytest.mark.parametrize("state", [State.SUBMITTED, State.APPROVED, State.REJECTED])
def test_what_the_marketplace_has_is_not_handed_over_again(rosa, state):
    ticket = rosa.ticket()
    rosa.send(ticket, item_0="Blue", item_1="Red")
    Assignment.objects.update(state=state)
    for response in (rosa.open(), rosa.send(ticket, item_0="Blue", item_1="Red")):
        assert "You have sent this HIT already" in text(response)
        assert f'href="{MARKET}/" target="_top"' in response.content.decode()


def test_attention_checks_look_like_any_other_unit_and_failures_are_counted():
    visitor = Visitor(make_hit(make_stage(), "item:0", "check:0"))
    page = visitor.open().content.decode()
    assert page.count('class="unit"') == 2
    visitor.send(item_0="Blue", check_0="Blue")
    assert visitor.row.failed_checks == 1


def test_the_page_sets_no_cookie_asks_for_none_and_is_kept_nowhere(rosa):
    response = rosa.open()
    assert not response.cookies
    assert "Cookie" not in response.headers.get("Vary", "")
    assert "csrfmiddlewaretoken" not in response.content.decode()
    assert "no-store" in response.headers["Cache-Control"]


def test_the_whole_page_is_at_most_50_kilobytes(rosa):
    client = Client()
    parts = {
        name: len(gzip.compress(b"".join(client.get(f"/static/{name}"))))
        for name in ("tokens.css", "task.css", "task.js", "handover.js")
    }
    assert max(parts.values()) <= 8_000
    assert sum(parts.values()) + len(rosa.open().content) <= 30_000


def test_only_the_endpoints_marketplaces_may_frame_the_page_and_get_its_form(rosa):
    response = rosa.open()
    assert "X-Frame-Options" not in response.headers
    assert directives(response)["frame-ancestors"] == f"'self' {MARKET}"
    assert directives(response)["form-action"] == f"'self' {MARKET}"
    assert directives(response)["default-src"] == "'none'"


def test_a_draft_may_come_from_a_frame_without_an_origin(rosa):
    asked = rosa.client.options(f"{rosa.path}draft/", headers={"Origin": "null"})
    assert asked.status_code == 204
    assert asked.headers["Access-Control-Allow-Origin"] == "*"
    assert "Authorization" in asked.headers["Access-Control-Allow-Headers"]
    assert rosa.save(rosa.ticket(), {}).headers["Access-Control-Allow-Origin"] == "*"


def test_measures_come_with_drafts_and_with_the_form_and_are_summed_over_visits(rosa):
    ticket = rosa.ticket()
    rosa.save(ticket, {}, visit="one", first_key_ms=900, active_ms=4000, keystrokes=3, pastes=1)
    rosa.save(ticket, {}, visit="one", first_key_ms=900, active_ms=6000, keystrokes=9, pastes=1)
    told = json.dumps({"visit": "two", "first_key_ms": 100, "active_ms": 500, "keystrokes": 2})
    rosa.client.post(
        rosa.path,
        {"ticket": ticket, "telemetry": told, "0|choice": "Blue", "1|choice": "Red"},
    )
    row = rosa.row
    assert row.state == State.STORED
    measured = {name: value for name, value in row.telemetry.items() if name != "visits"}
    assert measured == {
        "first_key_ms": 900,
        "active_ms": 6500,
        "keystrokes": 11,
        "pastes": 1,
        "pasted_characters": 0,
        "focus_losses": 0,
        "edits": 0,
    }
    assert row.draft == {"0|choice": "Blue", "1|choice": "Red"}


def test_the_answer_of_somebody_without_a_script_has_no_measures(rosa):
    rosa.send(item_0="Blue", item_1="Red")
    assert rosa.row.telemetry == {}


def test_the_switch_of_the_shortcuts_is_remembered_with_the_draft(rosa):
    page = rosa.open()
    assert '<input type="checkbox" checked>' in page.content.decode()
    rosa.save(field_of(page, "ticket"), {"|shortcuts": "off"})
    assert '<input type="checkbox">' in rosa.open().content.decode()


def test_opening_and_sending_ask_the_database_a_fixed_number_of_times(django_assert_max_num_queries):
    stage = make_stage(config={"question": "?", "options": ["a", "b"], "items": ["x"] * 20})
    rosa = Visitor(make_hit(stage, *[f"item:{n}" for n in range(20)]))
    with django_assert_max_num_queries(24):
        page = rosa.open()
    with django_assert_max_num_queries(4):
        rosa.open()
    with django_assert_max_num_queries(7):
        rosa.save(field_of(page, "ticket"), {"0|choice": "a"})
