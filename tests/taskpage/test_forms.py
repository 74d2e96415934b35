"""Hostile and odd contents of forms and drafts."""

import json

import pytest

from crowd.models import Assignment
from crowd.services import responses
from tests.cases import apart
from tests.taskpage.world import Visitor, field_of, handed_over, make_hit, make_stage, text

pytestmark = pytest.mark.django_db
State = Assignment.State
HOSTILE = '"><script>alert(1)</script>{{ stage.seed }}'


@pytest.fixture
def rosa():
    return Visitor(make_hit(make_stage()))


def test_text_of_researchers_and_names_of_units_are_shown_as_text():
    config = {"question": HOSTILE, "options": [HOSTILE, "b"], "items": [HOSTILE]}
    stage = make_stage(config=config, task_title=HOSTILE, task_description=HOSTILE)
    page = Visitor(make_hit(stage, "item:0")).open().content.decode()
    assert "<script>alert" not in page
    assert page.count("{{ stage.seed }}") >= 5
    hit = make_hit(stage, 'item:0"><script>alert(1)</script>', external_id="3NEXT")
    assert "<script>alert" not in Visitor(hit).open().content.decode()


def test_text_of_workers_comes_back_as_text(rosa):
    page = rosa.send(item_0=HOSTILE).content.decode()
    assert "<script>alert" not in page


def test_odd_characters_are_kept_as_far_as_they_can_be(rosa, subtests):
    for odd in ["a\0b", "\0", "\u202e", "e\u0301", "😀" * 10, "a\r\nb", "\x1b[31m"]:
        with apart(subtests, odd=odd):
            ticket = rosa.ticket()
            assert rosa.save(ticket, {"0|note": odd, f"0|{odd}": "x"}).status_code == 200
            kept = odd.replace("\0", "").replace("\r\n", "\n")
            assert rosa.row.draft == {"0|note": kept, f"0|{kept}": "x"}
            response = rosa.client.post(rosa.path, {"ticket": ticket, "0|note": odd})
            assert response.status_code == 422
            assert rosa.row.draft == {"0|note": kept}


def test_half_a_character_is_replaced(rosa):
    body = '{"fields": {"0|note": "a\\ud800b", "0|\\udfff": "x"}}'
    response = rosa.client.post(
        f"{rosa.path}draft/",
        body,
        content_type="application/json",
        headers={"Authorization": f"Ticket {rosa.ticket()}"},
    )
    assert response.status_code == 200
    assert rosa.row.draft == {"0|note": "a\ufffdb", "0|\ufffd": "x"}


def test_a_form_of_200_kilobytes_comes_back_with_what_was_written_and_a_sentence(rosa):
    long = "x" * 200_000
    ticket = rosa.ticket()
    rosa.save(ticket, {"0|choice": "Blue"})
    response = rosa.client.post(rosa.path, {"ticket": ticket, "1|choice": "Red", "0|note": long})
    assert response.status_code == 413
    assert "longer than 200,000 characters" in text(response)
    assert 'value="Red" checked' in response.content.decode()
    assert rosa.row.draft == {"0|choice": "Blue"}
    assert rosa.row.state == State.WORKING


def test_a_form_that_cannot_be_read_is_refused_in_words(rosa):
    form = "application/x-www-form-urlencoded"
    for body, content_type in (
        (b"ticket=" + b"x" * 3_000_000, form),
        (b"&".join(b"a%d=1" % n for n in range(10_100)), form),
        (b"--x\r\nnothing", "multipart/form-data; boundary=x"),
        (b"--x\r\nnothing", "multipart/form-data"),
    ):
        response = rosa.client.post(rosa.path, body, content_type=content_type)
        assert response.status_code in (403, 413)
        assert "nothing was s" in text(response).lower()
    body = f"ticket={rosa.ticket()}&item%3A0%7Cchoice=%ff%fe&item%3A1%7Cchoice=%ed%a0%80".encode()
    assert rosa.client.post(rosa.path, body, content_type=form).status_code == 422, "bytes that are no text"


def test_a_draft_that_cannot_be_read_is_refused_as_json(rosa):
    headers = {"Authorization": f"Ticket {rosa.ticket()}"}
    for body in [
        b"",
        b"nothing",
        b"[]",
        b"null",
        b'{"fields": 3}',
        b'{"fields": []}',
        b'{"telemetry": {}}',
        b'{"fields": {}, "telemetry": 7}',
        b"\xff\xfe",
        b'{"a":' * 100_000,
        b'{"fields": {"a|b": "' + b"x" * 3_000_000 + b'"}}',
    ]:
        response = rosa.client.post(
            f"{rosa.path}draft/", body, content_type="application/json", headers=headers
        )
        assert (response.status_code, bool(response.json()["error"])) == (400, True), body[:60]


def test_a_draft_changes_only_the_fields_it_names_and_takes_what_is_text(rosa):
    changes = {"0|a": 3, "0|b": {"c": 1}, "0|d": "kept", "ticket": "x", "telemetry": "{}"}
    rosa.save(rosa.ticket(), changes)
    assert rosa.row.draft == {"0|d": "kept"}
    ticket = rosa.ticket()
    rosa.save(ticket, {"0|choice": "Blue", "0|sure": "yes"})
    rosa.save(ticket, {"1|choice": "Red", "0|sure": None, "0|d": None})
    draft = {"0|choice": "Blue", "1|choice": "Red"}
    assert rosa.row.draft == draft
    assert rosa.save(ticket, {"0|note": "x" * 200_000}).status_code == 413
    assert rosa.row.draft == draft
    rosa.open()
    assert rosa.save("", {"0|choice": "Red"}).status_code == 403
    assert rosa.client.get(f"{rosa.path}draft/").status_code == 405


def test_a_draft_of_work_that_is_sent_is_not_kept(rosa):
    page = rosa.open()
    ticket = field_of(page, "ticket")
    handed_over(rosa.send(ticket, item_0="Blue", item_1="Red"))
    late = rosa.save(ticket, {"0|choice": "Red"}, active_ms=99)
    assert late.status_code == 409
    assert rosa.row.draft["0|choice"] == "Blue"
    assert rosa.row.telemetry == {}


def test_only_numbers_that_make_sense_are_measures_and_do_not_grow_without_end():
    told = {
        "active_ms": -1,
        "keystrokes": True,
        "pastes": 10**12,
        "edits": 1.5,
        "focus_losses": "7",
        "pasted_characters": 12,
        "password": "secret",
    }
    assert responses.add_telemetry({}, told)["pasted_characters"] == 12
    assert responses.add_telemetry({}, told)["visits"] == {"": {"pasted_characters": 12}}
    measured: dict = {}
    for number in range(150):
        measured = responses.add_telemetry(measured, {"visit": str(number), "keystrokes": 1})
    assert measured["keystrokes"] == len(measured["visits"]) == 100


def test_a_visit_without_a_decent_name_is_no_visit():
    before = {"active_ms": 3, "visits": {"": {"active_ms": 3}}}
    for visit in ({}, [], 7, None, "x" * 41):
        assert responses.add_telemetry(before, {"visit": visit, "active_ms": 5}) == before


def test_a_hidden_field_that_somebody_wrote_stops_no_answer(rosa, subtests):
    for hidden in ["", "no", "[]", "7", '{"visit": 3, "keystrokes": 2}', "[" * 50_000]:
        with apart(subtests, hidden=hidden):
            fields = {"0|choice": "Blue", "1|choice": "Red", "telemetry": hidden}
            handed_over(rosa.client.post(rosa.path, {"ticket": rosa.ticket(), **fields}))
            json.dumps(rosa.row.telemetry)
