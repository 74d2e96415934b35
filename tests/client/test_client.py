"""The client: what it was made from, repetitions, errors, pages, and files checked against their digests."""

import asyncio
import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from functools import partial

import httpx
import pytest
from distillery_client import ApiError, AsyncClient, Client, RetryPolicy, UnreachableError, cli

from tests.client.running import CLIENT
from tests.repository import ROOT

QUICK = RetryPolicy(attempts=4, first_pause_s=0)
PROJECT = {
    "slug": "tea", "title": "Tea", "language": "en", "licence": "", "currency": "USD", "wage_floor_cents": 0,
    "budget_cents": 5, "reserved_cents": 0, "spent_cents": 0, "read_only": False, "role": "owner",
    "created_at": "2026-11-25T00:00:00Z",
    "closed_at": None,
}  # fmt: skip


class Installation:
    """Answers one after the other, and keeps what was asked."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def __call__(self, request):
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self):
        return Client("http://there", "dst_x", retry=QUICK, transport=httpx.MockTransport(self))


def problem(status, code, **more):
    given = {"status": status, "code": code, "detail": "No.", "errors": {}, "request_id": "r1", **more}
    return httpx.Response(status, json=given)


def test_a_source_distribution_makes_a_wheel_with_all_modules(tmp_path):
    run = partial(subprocess.run, check=True, capture_output=True, text=True)
    run([sys.executable, "setup.py", "--quiet", "sdist", "--dist-dir", tmp_path], cwd=CLIENT)
    [archive] = tmp_path.glob("*.tar.gz")
    shutil.unpack_archive(archive, tmp_path)
    sources = tmp_path / archive.name.removesuffix(".tar.gz")
    shutil.rmtree(sources / "distillery_client" / "generated")
    for twin in ("client.py", "rows.py", "transfers.py"):
        (sources / "distillery_client" / twin).unlink()
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", "--no-index"]
    run([*pip, "--wheel-dir", tmp_path, sources])
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        modules = {name: packed.read(name) for name in packed.namelist() if name.endswith(".py")}
    here = {
        path.relative_to(CLIENT).as_posix(): path.read_bytes()
        for path in CLIENT.glob("distillery_client/**/*.py")
    }
    assert modules == here


def test_every_operation_is_a_method_of_both_clients():
    schema = json.loads((ROOT / "docs" / "openapi.json").read_text())
    names = {each["operationId"] for methods in schema["paths"].values() for each in methods.values()}
    assert names <= set(dir(Client)) and names <= set(dir(AsyncClient))


def test_a_lost_reply_is_asked_for_again_with_the_same_key():
    there = Installation(
        httpx.ReadError("gone"),
        problem(409, "idempotency_key_in_flight"),
        httpx.Response(503, text="a proxy's page"),
        httpx.Response(201, json=PROJECT),
    )
    made = there.client().create_project({"slug": "tea", "title": "Tea"})
    assert made.slug == "tea"
    assert len({request.headers["Idempotency-Key"] for request in there.asked}) == 1
    assert {request.headers["Authorization"] for request in there.asked} == {"Bearer dst_x"}


def test_a_refusal_is_not_repeated_and_says_what_is_wrong():
    there = Installation(problem(422, "invalid", errors={"slug": ["Too long."]}))
    with pytest.raises(ApiError) as caught:
        there.client().create_project({"slug": "x" * 99, "title": "Tea"})
    assert (caught.value.code, caught.value.errors) == ("invalid", {"slug": ["Too long."]})
    assert caught.value.request_id == "r1"


def test_where_nothing_answers_it_gives_up():
    there = Installation(*[httpx.ConnectError("refused")] * QUICK.attempts)
    with pytest.raises(UnreachableError):
        there.client().get_project("tea")
    assert len(there.asked) == QUICK.attempts


def test_all_pages_of_a_list_follow_each_other():
    there = Installation(
        httpx.Response(200, json={"items": [PROJECT], "next": "c1"}),
        httpx.Response(200, json={"items": [PROJECT | {"slug": "coffee"}], "next": None}),
    )
    client = there.client()
    assert [each.slug for each in client.pages(client.list_projects)] == ["tea", "coffee"]
    assert [dict(each.url.params).get("cursor") for each in there.asked] == [None, "c1"]


def test_lines_come_one_by_one():
    there = Installation(httpx.Response(200, text='{"id": 1}\n{"id": 2}\n'))
    assert [row["id"] for row in there.client().export_queries("tea")] == [1, 2]


def test_a_file_with_other_bytes_than_the_release_has_is_refused(tmp_path):
    listed = {
        "path": "../out",
        "bytes": 1,
        "rows": None,
        "sha256": hashlib.sha256(b"a").hexdigest(),
        "format": "",
    }
    release = {
        "version": "1.0.0", "state": "ready", "notes": "", "digest": "", "bytes": 1, "simulated": False,
        "imported": False, "public": False, "error": "", "job": None, "created_by": None,
        "created_at": "2026-11-25T00:00:00Z", "built_at": None, "withdrawn_at": None, "withdrawn_reason": "",
        "options": {}, "tables": [], "files": [listed],
    }  # fmt: skip
    outside = Installation(httpx.Response(200, json=release)).client().project("tea").release("1.0.0")
    with pytest.raises(ApiError, match="leads out"):
        outside.download(tmp_path)
    listed["path"] = "data.jsonl"
    other = Installation(httpx.Response(200, json=release), httpx.Response(200, content=b"b"))
    with pytest.raises(ApiError, match="other bytes"):
        other.client().project("tea").release("1.0.0").download(tmp_path)
    whole = Installation(httpx.Response(200, json=release), httpx.Response(200, content=b"a"))
    folder = whole.client().project("tea").release("1.0.0").download(tmp_path)
    assert (folder / "data.jsonl").read_bytes() == b"a"


def test_the_same_for_asyncio():
    there = Installation(httpx.ReadError("gone"), httpx.Response(200, json=PROJECT))

    async def ask():
        transport = httpx.MockTransport(there)
        async with AsyncClient("http://there", "dst_x", retry=QUICK, transport=transport) as client:
            return await client.get_project("tea")

    assert asyncio.run(ask()).title == "Tea"


def test_the_command_line_says_where_it_lacks_an_address(capsys, monkeypatch):
    monkeypatch.delenv("DISTILLERY_URL", raising=False)
    assert cli.main(["study", "status", "tea"]) == 2
    assert "DISTILLERY_URL" in capsys.readouterr().err
