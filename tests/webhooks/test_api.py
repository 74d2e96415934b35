"""Webhooks and the audit log by the API, of projects and of requesters."""

import hashlib
import json

import pytest
from standardwebhooks import Webhook as Verifier

from core.api.models import IdempotencyRecord
from core.audit.chain import seal_all
from core.projects.models import Event
from core.projects.services import record
from core.webhooks.delivery import deliver
from core.webhooks.models import Webhook
from marketplace.accounts import people
from marketplace.activity import note
from tests.api.conftest import is_problem, program_of


@pytest.fixture(params=["project", "requester"])
def place(request, project):
    """Where it is, a type of events there, and a program of its owner."""
    olga = project.memberships.get().user
    if request.param == "project":
        return "/projects/kiwi", "stage.opened", program_of(olga)
    lab, _ = people.create_requester(name="Lab", fee_profile="none-1", owner=olga)
    return f"/requesters/{lab.customer_id}", "assignment.submitted", program_of(olga)


def create(place, receiver, **more):
    at, event, program = place
    body = {"name": "Bot", "address": receiver.url, "events": [event]}
    return program.post(f"{at}/webhooks", body, **more)


def test_a_webhook_is_made_tested_changed_and_removed(place, receiver, trusted):
    at, event, program = place
    assert event in [each["type"] for each in program.get(f"{at}/webhooks/event-types").json()["items"]]
    wrong = {"name": "Bot", "address": "https://10.0.0.1/in", "events": [event]}
    found = is_problem(program.post(f"{at}/webhooks", wrong), 422, "refused")
    assert "not a public address" in found["errors"]["address"][0]
    found = is_problem(program.post(f"{at}/webhooks", wrong | {"events": ["x.y"]}), 422, "refused")
    assert list(found["errors"]) == ["events"] and not Webhook.objects.exists()
    made = create(place, receiver)
    hook = made.json()
    assert made.status_code == 201 and hook["secret"].startswith("whsec_")
    one = f"{at}/webhooks/{hook['id']}"
    assert "secret" not in program.get(one).json() and program.get(one).json()["address"] == receiver.url
    assert program.post(f"{one}/test").json()["type"] == "webhook.test"
    assert deliver(hook["id"]) == 1
    headers, body = receiver.calls[0]
    assert Verifier(hook["secret"]).verify(body, headers)["type"] == "webhook.test"
    (message,) = program.get(f"{one}/messages?state=sent").json()["items"]
    assert message["attempts"][0]["status"] == 200 and message["payload"] == json.loads(body)
    first = f"{one}/messages/{message['message_id']}"
    assert program.patch(first, {"state": "waiting"}).json()["state"] == "waiting"
    first = f"{one}/messages/{message['id']}"
    assert program.patch(first, {"state": "gave_up"}).json()["state"] == "gave_up"
    is_problem(program.patch(first, {"state": "gave_up"}), 422, "refused")
    changed = program.patch(one, {"name": "Other"}).json()
    assert (changed["name"], changed["events"]) == ("Other", [event])
    assert program.patch(one, {"state": "paused"}).json()["state"] == "paused"
    assert program.patch(one, {"state": "active"}).json()["state"] == "active"
    again = program.post(f"{one}/rotate-secret").json()
    assert again["secret"] != hook["secret"] and again["two_secrets_until"]
    assert program.patch(one, {"end_former_secret": True}).json()["two_secrets_until"] is None
    assert [each["name"] for each in program.get(f"{at}/webhooks").json()["items"]] == ["Other"]
    assert program.ask("DELETE", one).status_code == 204
    is_problem(program.get(one), 404, "not_found")


def test_a_repeated_request_gets_the_same_secret_which_is_kept_sealed(place, receiver, trusted):
    first, again = (create(place, receiver, key="k1") for _ in range(2))
    assert again["Idempotency-Replayed"] == "true" and first.json() == again.json()
    assert Webhook.objects.count() == 1
    row = IdempotencyRecord.objects.get()
    assert row.body == "" and first.json()["secret"] not in row.body_sealed


def test_an_email_goes_to_the_own_address_of_its_person(place, settings):
    at, event, program = place
    settings.NOTICES_BY_EMAIL = True
    made = program.post(f"{at}/webhooks", {"name": "Mail", "shape": "email", "events": [event]}).json()
    assert (made["host"], made["secret"], made["address"]) == ("olga@example.org", "", None)


def test_the_audit_log_is_listed_filtered_and_exported(place, project):
    at, _, program = place
    if at == "/projects/kiwi":
        record(project=project, action="stage.opened", subject="one")
        action = "stage.opened"
    else:
        note(project_requester(at), "key.made", "one")
        action = "key.made"
    entries = program.get(f"{at}/audit/entries?action={action}&about=one").json()["items"]
    assert [(each["subject"], each["number"]) for each in entries] == [("one", None)]
    seal_all()
    first = program.get(f"{at}/audit/entries?limit=1").json()
    if first["next"]:
        assert program.get(f"{at}/audit/entries?limit=1&cursor={first['next']}").json()["items"]
    assert program.get(f"{at}/audit/entries?since=2100-01-01T00:00:00Z").json()["items"] == []
    lines = program.lines(f"{at}/audit/entries")
    previous = ""
    for line in lines:
        text = json.dumps(line["record"], sort_keys=True, separators=(",", ":"))
        previous = hashlib.sha256(f"{previous}\n{text}".encode()).hexdigest()
        assert previous == line["digest"]
    state = program.get(f"{at}/audit").json()
    assert (state["length"], state["head"]) == (len(lines), previous)


def project_requester(at: str) -> int:
    from marketplace.models import Requester

    return Requester.objects.get(customer_id=at.rsplit("/", 1)[1]).pk


def test_a_change_by_the_api_is_in_the_log_with_its_token(project, receiver, trusted):
    program = program_of(project.memberships.get().user)
    create(("/projects/kiwi", "stage.opened", program), receiver)
    event = Event.objects.get(action="webhook.made")
    assert (event.via, event.credential) == ("api", program.token[:12])
    (entry,) = program.get("/projects/kiwi/audit/entries?via=api&who=olga").json()["items"]
    assert entry["what"] == "made a webhook"


def test_requesters_are_listed_to_who_acts_for_them(place):
    at, _, program = place
    listed = [each["requester"] for each in program.get("/requesters").json()["items"]]
    assert listed == ([] if at == "/projects/kiwi" else [at.rsplit("/", 1)[1]])
    if listed:
        assert program.get(at).json()["role"] == "owner"
