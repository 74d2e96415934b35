"""Every refusal is a problem of RFC 9457."""

import json

from django.test import Client

from core.api.models import ApiToken
from tests.api.conftest import Program, is_problem, program_of
from tests.api.world import published_schema
from web.api import resources


def test_what_is_wrong_is_named_by_field(program):
    answer = program.post("/projects", {"slug": "a b", "title": "", "budget": 1})
    found = is_problem(answer, 422, "invalid")
    assert set(found["errors"]) == {"slug", "title", "budget"}
    nested = {"slug": "s", "title": "T", "kind": "poll", "endpoint": "e", "reward_cents": -1, "redundancy": 1}
    found = is_problem(
        program.post("/projects/tea/stages", {**nested, "task": {"title": ""}}), 422, "invalid"
    )
    assert {"reward_cents", "task.title", "task.description"} <= set(found["errors"])


def test_what_is_no_json_of_another_shape_or_too_large_is_refused(program, settings):
    for body in (
        '{"slug": ',
        "[1, 2",
        '{"slug": "a\\u0000b", "title": "x"}',
        '{"budget_cents": NaN}',
        "\xff",
    ):
        is_problem(program.ask("POST", "/projects", body), 400, "malformed_json")
    for body in ("[]", "null", '"text"', "1"):
        is_problem(program.ask("POST", "/projects", body), 422, "invalid")
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    is_problem(program.post("/projects", {"slug": "a", "title": "x" * 200}), 413, "too_large")


def test_addresses_and_methods_that_are_not_there(program):
    is_problem(program.get("/nothing/here"), 404, "not_found")
    is_problem(program.get("/projects/"), 404, "not_found")
    answer = program.ask("DELETE", "/projects")
    is_problem(answer, 405, "method_not_allowed")
    assert answer["Allow"] == "GET, POST"
    assert program.ask("HEAD", "/projects").content == b""


def test_tokens_that_hold_no_more_and_a_session_open_nothing(program, owner):
    browser = Client()
    browser.force_login(owner)
    is_problem(browser.get("/api/v1/projects"), 401, "token_missing")
    is_problem(Program("dst_nonsense", program.client).get("/projects"), 401, "token_invalid")
    is_problem(Program("", program.client).get("/projects"), 401, "token_missing")
    ApiToken.objects.filter(user=owner).update(revoked_at="2026-01-01T00:00Z")
    is_problem(program.get("/projects"), 401, "token_invalid")
    old = program_of(owner, days=1)
    ApiToken.objects.filter(user=owner).update(expires_at="2026-01-01T00:00Z")
    is_problem(old.get("/projects"), 401, "token_invalid")
    late = program_of(owner)
    owner.is_active = False
    owner.save()
    is_problem(late.get("/projects"), 401, "token_invalid")


def test_who_asks_too_often_waits(program, settings):
    settings.API_REQUESTS_PER_SECOND = 2
    answers = [program.get("/projects") for _ in range(6)]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused and answers[0]["RateLimit-Policy"] == '"token";q=2;w=1'
    is_problem(refused[0], 429, "too_many_requests")
    assert int(refused[0]["Retry-After"]) >= 1


def test_what_goes_wrong_here_is_logged_and_told_without_its_inside(program, monkeypatch, caplog):
    def fail(*_: object) -> None:
        raise RuntimeError("secret inside")

    monkeypatch.setattr("crowd.api.projects.projects_of", fail)
    answer = program.get("/projects", X_Request_Id="mine-1")
    found = is_problem(answer, 500, "internal")
    assert found["request_id"] == "mine-1" and "secret" not in answer.content.decode()
    assert "secret inside" in caplog.text


def test_strange_names_are_not_there(program):
    for name in ("%00", "..", "a%2fb", "%F0%9F%8D%B5", "x" * 3000):
        assert program.get(f"/projects/{name}").status_code in (400, 404)
    assert json.loads(program.get("/projects?cursor=%00").content)["code"] == "bad_request"


def test_what_is_new_says_where_it_is_and_a_taken_name_is_a_conflict(program, owner):
    owner.is_staff = True
    owner.save()
    body = {"slug": "coffee", "title": "Coffee"}
    made = program.post("/projects", body)
    assert (made.status_code, made["Location"]) == (201, "/api/v1/projects/coffee")
    assert program.get("/projects/coffee").json()["slug"] == "coffee"
    found = is_problem(program.post("/projects", body), 409, "slug_taken")
    assert found["errors"] == {"slug": [found["detail"]]}


def test_a_program_can_ask_who_it_is_and_the_schema_comes_packed(program):
    me = program.get("/me").json()
    assert (me["username"], me["staff"], me["project"]) == ("olga", False, None)
    assert "read" in me["scopes"]
    plain = Client().get("/api/v1/openapi.json")
    packed = Client().get("/api/v1/openapi.json", headers={"Accept-Encoding": "gzip"})
    assert packed["Content-Encoding"] == "gzip"
    assert len(packed.content) * 5 < len(plain.content)


def test_a_misspelt_filter_is_refused_and_does_not_give_all_rows(program):
    unknown = "There is no parameter"
    for address, code, words in (
        ("/queries?stauts=waiting", "unknown_parameter", f"{unknown} 'stauts'. Did you mean 'status'?"),
        ("/queries?xyz=1", "unknown_parameter", f"{unknown} 'xyz'. Known here: "),
        ("?page=2", "unknown_parameter", f"{unknown} 'page'. This operation takes none."),
        ("/queries?status=xyz", "invalid", "status"),
        ("/queries?only=nothing", "invalid", "only"),
    ):
        assert words in is_problem(program.get(f"/projects/tea{address}"), 422, code)["detail"]


def test_the_parameters_that_are_known_are_those_of_the_schema():
    """By what a view says of itself, each operation has the parameters that the schema publishes."""
    published = {
        facts["operationId"]: {each["name"] for each in facts.get("parameters", []) if each["in"] == "query"}
        for methods in published_schema()["paths"].values()
        for facts in methods.values()
    }
    known = {name: set(parameters) for name, parameters in resources.PARAMETERS.items()}
    assert known == published
