"""Task pages, drafts and submissions with mutated addresses and bodies: no fault, no hang.

Each case begins where a worker has the task open, and is undone; afterwards an answer is still taken.
"""

import json
import random
from typing import Any
from urllib.parse import quote_plus, urlencode, urlsplit

import pytest
from django.test import Client

from crowd.simulation.answers import PROFILES, SimulatedPerson, answer_unit, read_form
from marketplace.accounts import people
from marketplace.qualifications import grants
from marketplace.qualifications.grants import QualificationTest
from marketplace.site import taskpages
from tests.conformance.test_questions import html_question
from tests.questionforms import KEY, TEST
from tests.robustness.files import whole_files
from tests.robustness.fuzzing import ODD_TEXT, encoded, odd_json, random_for, repeat
from tests.robustness.webforms import (
    FORM,
    MULTIPART,
    Sender,
    WebForm,
    forms_of,
    json_body,
    multipart,
    mutated_fields,
    mutated_path,
    odd_body,
    urlencoded,
)
from tests.scale import limit_cases
from tests.site import world as site
from tests.taskpage.test_checks_hidden import WORLDS
from tests.taskpage.world import Visitor, handed_over, make_hit

pytestmark = pytest.mark.django_db

#: Of each kind of page.
CASES = limit_cases(60)
_PAGE = "<form action='${to}'><input name='a'></form><crowd-form><input name='b'></crowd-form>"


def changed(chance: random.Random, values: dict[str, str], most: int = 2) -> dict[str, str]:
    """Some of the values replaced, or gone."""
    values = dict(values)
    for _ in range(chance.randrange(most + 1)):
        name = chance.choice([*values, "other"])
        if chance.randrange(5):
            values[name] = chance.choice([*ODD_TEXT, *values.values()])
        else:
            values.pop(name, None)
    return values


def query(values: dict[str, str]) -> str:
    return "&".join(f"{quote_plus(encoded(n))}={quote_plus(encoded(v)[:4000])}" for n, v in values.items())


def body_of(chance: random.Random, form: WebForm, whole: list[bytes]) -> tuple[bytes, str]:
    """A mutated form, and its type."""
    fields = mutated_fields(chance, form)
    if chance.randrange(4) == 0:
        body, kind = multipart(chance, fields, ["file"] if chance.randrange(2) else [], whole), MULTIPART
    else:
        body, kind = urlencoded(fields), FORM
    if chance.randrange(4) == 0:
        kind, body = odd_body(chance, body)
    return body, kind


# Our task pages


def filled(visitor: Visitor) -> WebForm:
    """The form of the open page as a diligent worker fills it in."""
    form = read_form(visitor.open().content.decode(), "http://testserver/")
    assert form is not None
    form.behind = {
        str(position): unit for position, unit in visitor.hit.units.values_list("position", "unit")
    }
    values = dict(form.hidden)
    for unit in form.behind.values():
        values |= answer_unit(
            visitor.hit.stage, form, unit, SimulatedPerson(1, PROFILES["diligent"], 7), attempt=2
        )
    choices = {name: found.options for name, found in form.fields.items()}
    return WebForm(visitor.path, "post", {name: [value] for name, value in values.items()}, choices)


def draft(chance: random.Random, form: WebForm, ticket: str) -> tuple[bytes, dict[str, str]]:
    """What the page's script sends, and with which ticket."""
    fields: dict[str, Any] = {name: values[0] for name, values in form.values.items() if "|" in name}
    telemetry: dict[str, Any] = {"active_ms": 1200, "keys": 3, "pastes": 0}
    for members in (fields, telemetry):
        for _ in range(chance.randrange(3)):
            members[chance.choice([*members, *ODD_TEXT])] = odd_json(chance)
    value = {"fields": fields, "telemetry": telemetry}
    for _ in range(chance.randrange(2)):
        value[chance.choice(["fields", "telemetry", "other"])] = odd_json(chance)  # type: ignore[assignment]
    body = json.dumps(value).encode()
    if chance.randrange(5) == 0:
        body = json_body(chance, value)
    named = ticket if chance.randrange(8) else changed(chance, {"t": ticket}, 1).get("t", "")
    return body, {"HTTP_AUTHORIZATION": f"Ticket {named.encode('ascii', 'replace').decode()}"}


#: A build tries the first one.
KINDS = [
    pytest.param(kind, marks=pytest.mark.long if number else ()) for number, kind in enumerate(sorted(WORLDS))
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "signed", [pytest.param(False, marks=pytest.mark.long), True], ids=["unsigned", "signed"]
)
def test_no_task_page_breaks(seed: int, kind: str, signed: bool) -> None:
    stage, units = WORLDS[kind]()
    visitor = Visitor(make_hit(stage, *units), signed=signed)
    form, sender, whole = filled(visitor), Sender(), whole_files()
    ticket = form.values["ticket"][0]
    address = {
        "assignmentId": visitor.assignment,
        "hitId": visitor.hit.external_id,
        "turkSubmitTo": visitor.proof() if signed else visitor.submit_to,
        "workerId": visitor.worker,
    }
    for number in range(CASES // 2):
        chance = random_for(seed, kind, signed, number)
        match number % 3:
            case 0:
                path = mutated_path(chance, visitor.path)
                sender.send(visitor.client, "GET", f"{path}?{query(changed(chance, address))}")
            case 1:
                body, content = body_of(chance, form, whole)
                sender.send(visitor.client, "POST", mutated_path(chance, visitor.path), body, content)
            case _:
                body, headers = draft(chance, form, ticket)
                content = "application/json" if chance.randrange(6) else odd_body(chance, b"")[0]
                path = mutated_path(chance, f"{visitor.path}draft/")
                sender.send(visitor.client, "POST", path, body, content, **headers)
    assert not sender.faults, "\n\n".join([repeat(seed), *sender.faults])
    handed_over(visitor.client.post(visitor.path, {name: values[0] for name, values in form.values.items()}))


# The marketplace's own pages, and where they submit

QUESTIONS = {"external": "", "html": html_question(_PAGE, 500), "form": TEST}


@pytest.mark.parametrize("kind", QUESTIONS)
def test_no_submission_breaks(seed: int, kind: str) -> None:
    lab, rosa = site.make_requester(), site.make_worker()
    holding = site.take(rosa, site.post(site.make_group(lab), question=QUESTIONS[kind]))
    signed = urlsplit(taskpages.submit_to(holding=holding, base_url="http://testserver")).path
    client, known, sender, whole = Client(), Client(), Sender(), whole_files()
    known.force_login(rosa.user)
    form = WebForm(f"{signed}/mturk/externalSubmit", "post", {"a": ["1"], "b": ["2"]})
    if kind == "form":
        [form] = forms_of(client.get(f"{signed}/task").content, f"{signed}/task")
    form.values["assignmentId"] = [holding.assignment_id]
    preview = urlsplit(taskpages.preview_url(hit=holding.hit, base_url="http://testserver")).path
    for number in range(CASES):
        chance = random_for(seed, kind, number)
        if number % 4 == 0 and kind != "external":
            page = mutated_path(chance, chance.choice([f"{signed}/task", preview]))
            sender.send(
                client, "GET", f"{page}?{query(changed(chance, {'assignmentId': 'A', 'hitId': 'B'}))}"
            )
            continue
        body, content = body_of(chance, form, whole)
        path = chance.choice(
            [form.path, form.path, f"{signed}~0.0/mturk/externalSubmit", "/mturk/externalSubmit"]
        )
        sender.send(chance.choice([client, known]), "POST", mutated_path(chance, path), body, content)
    assert not sender.faults, "\n\n".join([repeat(seed), *sender.faults])
    sent = {"assignmentId": holding.assignment_id, "answer:moves": "d", "answer:fruit": "apple", "a": "1"}
    assert client.post(form.path, sent).status_code == 200
    holding.refresh_from_db()
    assert holding.state == holding.State.SUBMITTED


def worker_call(
    chance: random.Random, ids: dict[str, str], test: WebForm, whole: list[bytes]
) -> tuple[str, bytes, str]:
    """One call of a script: the path, and its mutated body with its type."""
    name = chance.choice(["next", "accept", "return", "qualification", "test"])
    if name == "test":
        body, kind = body_of(chance, test, whole)
        return mutated_path(chance, test.path), body, kind
    named = dict(chance.sample(sorted(ids.items()), chance.randrange(3)))
    body = json_body(chance, changed(chance, named or ids))
    kind = "application/json" if chance.randrange(6) else odd_body(chance, b"")[0]
    return f"/worker-api/{name}", body, kind


def test_no_call_of_a_scripted_worker_breaks(seed: int) -> None:
    lab = site.make_requester()
    worker, token = people.create_scripted_worker(name="script")
    holding = site.take(worker, site.post(site.make_group(lab)))
    tested = site.make_qualification(lab, "Chess", test=QualificationTest(TEST, KEY, 600))
    wish = grants.ask(worker=worker, qualification_type=tested)
    ids = {
        "hit_id": holding.hit.hit_id,
        "group_id": holding.hit.hit_type.group_id,
        "assignment_id": holding.assignment_id,
        "qualification_type_id": tested.qualification_type_id,
    }
    answers = {"answer:moves": "d", "answer:fruit": "apple"}
    test = WebForm(f"/worker-api/test/{wish.request_id}", "post", {k: [v] for k, v in answers.items()})
    client, sender, whole = Client(headers={"Authorization": f"Bearer {token}"}), Sender(), whole_files()
    for number in range(CASES):
        chance = random_for(seed, "script", number)
        path, body, kind = worker_call(chance, ids, test, whole)
        sender.send(client, "POST", path, body, kind)
    assert not sender.faults, "\n\n".join([repeat(seed), *sender.faults])
    assert client.post(test.path, urlencode(answers), content_type=FORM).status_code == 200
