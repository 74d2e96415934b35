"""How a wait ends, what an error says, and what becomes of a stream that breaks off; sync and async alike."""

import asyncio
import datetime
import hashlib
import json

import httpx
import pandas
import pytest
from distillery_client import (
    AsyncClient,
    BrokenOffError,
    ChangedError,
    Client,
    ConflictError,
    DistilleryError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    RateLimitError,
    RetryPolicy,
    ServerError,
    TokenError,
    UnreachableError,
    WaitTimeoutError,
    cli,
)

QUICK = RetryPolicy(attempts=3, first_pause_s=0)
JOB = {
    "id": 7, "kind": "releases.build", "state": "running", "progress_done": 1, "progress_total": 4,
    "progress_note": "Writing", "result": None, "error": "", "attempts": 1, "max_attempts": 3,
    "created_at": "2026-11-25T00:00:00Z", "started_at": None, "finished_at": None,
}  # fmt: skip
SCORE = {
    "candidate_id": 1, "query_key": "q1", "query": "水", "system": "a", "answer": "b", "n_raw": 3,
    "n_kept": 3,
    "mean": 4.5, "sd": None, "median": 4.0, "trimmed_mean": None, "score_adjusted": None, "simulated": False,
}  # fmt: skip


def problem(status, code="refused", detail="No.", **more):
    given = {"status": status, "code": code, "detail": detail, "errors": {}, "request_id": "r1", **more}
    return httpx.Response(status, json=given)


class Broken(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body whose connection is lost after some bytes."""

    def __init__(self, content):
        self.content = content

    def __iter__(self):
        yield self.content
        raise httpx.RemoteProtocolError("incomplete chunked read")

    async def __aiter__(self):
        yield self.content
        raise httpx.RemoteProtocolError("incomplete chunked read")


def sync_client(there):
    return Client("http://there", "dst_x", retry=QUICK, transport=httpx.MockTransport(there))


def async_client(there):
    return AsyncClient("http://there", "dst_x", retry=QUICK, transport=httpx.MockTransport(there))


def answering(*answers):
    """An installation that answers one after the other, the last one for ever."""
    left = list(answers)

    def there(_):
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return answer() if callable(answer) else answer

    return there


@pytest.fixture(params=["sync", "async"])
def run(request):
    """Calls something of a client of either kind, and gives what came of it."""

    def run(there, call):
        if request.param == "sync":
            with sync_client(there) as client:
                return call(client)

        async def ask():
            async with async_client(there) as client:
                return await call(client)

        return asyncio.run(ask())

    return run


def test_a_wait_for_a_job_ends_and_says_how_far_it_is(run):
    with pytest.raises(WaitTimeoutError) as caught:
        run(answering(lambda: httpx.Response(200, json=JOB)), lambda client: client.project("tea").wait(
            7, label="Building release 1.0.0", timeout_s=0
        ))  # fmt: skip
    assert isinstance(caught.value, TimeoutError)
    assert caught.value.job == 7
    assert caught.value.missing == "job 7 is running, 25 %, 1 of 4, Writing"
    assert str(caught.value).startswith(
        "Building release 1.0.0 is not done after 0 s: job 7 is running, 25 %, 1 of 4, Writing. It goes on;"
    )


def progress_of(**counts):
    return {
        "alarms": [], "answered": 6, "answers_missing": 4, "assignments": {}, "counted_at": None,
        "currency": "USD", "done": False, "expired_places": 0, "fees_cents": 0, "held": 2, "hits": {},
        "open_places": 0,
        "pace": None,
        "pay": {"assignments": 0, "median_seconds": None, "cents_per_hour": None, "floor_cents": 0,
                "below_floor": False, "simulated": False},
        "places": 10, "rewards_cents": 0, "simulated": 0, "status": "paused", "units_missing": 1,
        "waiting_decisions": 0, "waiting_operations": 0,
        **counts,
    }  # fmt: skip


def test_a_wait_for_people_says_what_is_missing_and_that_nothing_is_on_offer(run):
    there = answering(lambda: httpx.Response(200, json=progress_of()))
    with pytest.raises(WaitTimeoutError) as caught:
        run(there, lambda client: client.project("tea").stage("judging").wait_until_collected(timeout_s=0))
    assert caught.value.missing == "4 answers are missing"
    assert "judging is not collected after 0 s" in str(caught.value)
    assert "4 answers are missing; 6 of 10 assignments came in; the stage" in str(caught.value)
    assert "the stage is paused: nothing is on offer; 2 assignments are held for a person" in str(
        caught.value
    )


def test_a_wait_for_people_goes_on_until_their_answers_are_decided_about(run):
    """A stage that is opened before would publish only what is decided by then."""
    came_in = iter([progress_of(answers_missing=0, waiting_decisions=3), progress_of(answers_missing=0)])
    there = answering(lambda: httpx.Response(200, json=next(came_in)))
    found = run(there, lambda client: client.project("tea").stage("curation").wait_until_collected())
    assert found.waiting_decisions == 0 and next(came_in, None) is None
    undecided = answering(
        lambda: httpx.Response(200, json=progress_of(answers_missing=0, waiting_decisions=3))
    )
    with pytest.raises(WaitTimeoutError, match="3 units have their answers and are not decided yet"):
        run(
            undecided,
            lambda client: client.project("tea").stage("curation").wait_until_collected(timeout_s=0),
        )


def test_every_wait_has_a_limit_unless_it_is_taken_away():
    from inspect import signature

    from distillery_client import AsyncProject, AsyncRelease, AsyncStage, Project, Release, Stage

    waits = {
        (Project, AsyncProject): ("wait", "import_queries", "import_candidates", "build_release"),
        (Stage, AsyncStage): ("simulate", "wait_until_collected", "apply_filters"),
        (Release, AsyncRelease): ("evaluate",),
    }
    for classes, names in waits.items():
        for each in classes:
            for name in names:
                limit = signature(getattr(each, name)).parameters["timeout_s"].default
                assert limit and limit > 0, (each, name)


def test_without_a_limit_it_is_waited_until_the_job_is_done(run, monkeypatch):
    real = asyncio.sleep
    monkeypatch.setattr("distillery_client.client.time.sleep", lambda _: None)
    monkeypatch.setattr("distillery_client.async_client.asyncio.sleep", lambda _: real(0))
    jobs = [*[lambda: httpx.Response(200, json=JOB)] * 50, httpx.Response(200, json=JOB | {"state": "done"})]
    found = run(answering(*jobs), lambda client: client.project("tea").wait(7, timeout_s=None))
    assert found.state == "done"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, InvalidError), (401, TokenError), (403, ForbiddenError), (404, NotFoundError),
        (409, ConflictError), (412, ChangedError), (413, InvalidError), (422, InvalidError),
        (428, ChangedError), (429, RateLimitError),
        (500, ServerError), (503, ServerError),
    ],
)  # fmt: skip
def test_a_refusal_is_an_error_of_its_kind(run, status, kind):
    with pytest.raises(DistilleryError) as caught:
        run(answering(lambda: problem(status)), lambda client: client.get_project("tea"))
    assert type(caught.value) is kind


def test_an_error_says_what_is_wrong_by_field_and_names_a_fault_of_the_server(run):
    errors = {"slug": ["Too long."], "budget_cents": ["Less than 0."]}
    refused = problem(422, "invalid", "slug: Too long.", errors=errors)
    with pytest.raises(InvalidError) as caught:
        run(answering(refused), lambda client: client.create_project({"slug": "x" * 99}))
    assert str(caught.value) == "slug: Too long. (422 invalid)\n  budget_cents: Less than 0."
    with pytest.raises(ServerError, match="Request id, for a report: r1"):
        run(answering(lambda: problem(500, "internal")), lambda client: client.get_project("tea"))


def test_a_proxys_page_and_a_redirect_are_told_apart_from_the_api(run):
    page = lambda: httpx.Response(502, text="<html>Bad Gateway")  # noqa: E731
    with pytest.raises(ServerError, match="A proxy in front of it may be down"):
        run(answering(page), lambda client: client.get_project("tea"))
    moved = httpx.Response(301, headers={"Location": "https://there/api/v1/projects/tea"})
    with pytest.raises(DistilleryError, match="It leads to https://there/api/v1/projects/tea"):
        run(answering(moved), lambda client: client.get_project("tea"))


def test_a_token_from_a_file_may_end_with_a_newline_and_others_are_refused_at_once():
    assert Client("http://there", "dst_x\n").token == "dst_x"
    for wrong in ("", " ", "dst_…", "dst_a\nb"):
        for kind in (Client, AsyncClient):
            with pytest.raises(DistilleryError, match="not a token"):
                kind("http://there", wrong)


def test_a_removal_whose_reply_was_lost_is_done(run):
    lost = answering(httpx.ReadError("gone"), problem(404, "not_found"))
    assert run(lost, lambda client: client.remove_member("projects", "tea", "bert")) is None
    with pytest.raises(NotFoundError):
        run(
            answering(problem(404, "not_found")),
            lambda client: client.remove_member("projects", "tea", "bert"),
        )


def test_a_key_that_is_given_is_sent_instead_of_a_new_one(run):
    keys = []

    def there(request):
        keys.append(request.headers["Idempotency-Key"])
        return problem(409, "stage_state")

    with pytest.raises(ConflictError):
        run(there, lambda client: client.open_stage("tea", "judging", body={}, idempotency_key="open-1"))
    assert keys == ["open-1"]


# Streams of rows


def rows_of(client, kind="to_list"):
    return getattr(client.project("tea").stage("judging").scores(), kind)()


LINE = json.dumps(SCORE).encode() + b"\n"


def test_a_stream_is_asked_for_again_where_nothing_came_yet(run):
    there = answering(httpx.ConnectError("refused"), problem(503), httpx.Response(200, content=LINE * 2))
    assert len(run(there, rows_of)) == 2


def test_all_rows_are_asked_for_again_where_a_stream_breaks_off(run):
    broken = lambda: httpx.Response(200, stream=Broken(LINE + LINE[:20]))  # noqa: E731
    assert run(answering(broken, httpx.Response(200, content=LINE * 2)), rows_of) == [SCORE, SCORE]
    with pytest.raises(BrokenOffError, match="broke off after 1 rows: incomplete chunked read"):
        run(answering(broken), rows_of)


def test_half_a_row_is_no_row(run):
    half = lambda: httpx.Response(200, content=LINE + LINE[:20])  # noqa: E731
    with pytest.raises(BrokenOffError, match="half a row"):
        run(answering(half), rows_of)
    with pytest.raises(DistilleryError, match="not as the API"):
        run(answering(lambda: httpx.Response(200, text="<html>")), rows_of)


def test_a_frame_has_the_columns_of_the_table_in_their_order_also_without_a_row(run):
    empty = run(answering(httpx.Response(200, content=b"")), lambda client: rows_of(client, "to_pandas"))
    assert list(empty.columns) == list(SCORE)
    full = run(answering(httpx.Response(200, content=LINE)), lambda client: rows_of(client, "to_pandas"))
    assert full.dtypes.astype(str).to_dict() | {"query": "", "query_key": "", "system": "", "answer": ""} == {
        "candidate_id": "int64", "query_key": "", "query": "", "system": "", "answer": "", "n_raw": "int64",
        "n_kept": "int64", "mean": "float64", "sd": "float64", "median": "float64", "trimmed_mean": "float64",
        "score_adjusted": "float64", "simulated": "bool",
    }  # fmt: skip
    assert full.loc[0, "query"] == "水" and pandas.isna(full.loc[0, "sd"])


def test_times_and_missing_whole_numbers_have_types_of_their_own(run):
    rows = [
        {
            "id": 1,
            "revises_id": None,
            "created_at": "2026-11-25T00:00:00Z",
            "checked_at": None,
            "new": "kept",
        },
        {"id": 2, "revises_id": 1, "created_at": "2026-11-25T00:00:00.5Z", "checked_at": None},
    ]
    content = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    frame = run(
        answering(httpx.Response(200, content=content)),
        lambda client: client.project("tea").stage("writing").answers().to_pandas(),
    )
    assert str(frame["revises_id"].dtype) == "Int64"
    assert frame["created_at"].max() - frame["created_at"].min() == datetime.timedelta(seconds=0.5)
    assert str(frame["checked_at"].dtype).startswith("datetime64") and frame["checked_at"].isna().all()
    assert frame.columns[-1] == "new", "what a newer installation adds"


def test_an_answer_of_another_version_names_the_field(run):
    with pytest.raises(DistilleryError, match=r"budget_cents: Field required.*differ in version"):
        run(
            answering(lambda: httpx.Response(200, json={"title": "Tea"})),
            lambda client: client.get_project("tea"),
        )


def test_figures_of_agreement_are_a_frame(run):
    found = {
        "kind": "judging", "counts": {}, "report": None, "report_is_fresh": False, "report_job": None,
        "caution": "", "figures": {
            "alpha.ordinal": {"value": 0.8, "reason": ""}, "icc1": {"value": None, "reason": "Too few."},
        },
    }  # fmt: skip
    frame = run(
        answering(httpx.Response(200, json=found)),
        lambda client: client.project("tea").stage("judging").agreement().to_pandas(),
    )
    assert list(frame["figure"]) == ["alpha.ordinal", "icc1"]
    assert frame.loc[0, "value"] == 0.8 and frame.loc[1, "reason"] == "Too few."


# Files, for asyncio as without it


CONTENT = bytes(range(256)) * 64
PATH = "jsonl/scores-train.jsonl"


def release_of(content):
    files = [{"path": PATH, "bytes": len(content), "rows": 1, "sha256": hashlib.sha256(content).hexdigest(),
              "format": "jsonl"}]  # fmt: skip
    columns = [{"name": "candidate_id", "kind": "text"}, {"name": "n", "kind": "integer"}]
    return {
        "version": "1.0.0", "state": "ready", "notes": "", "digest": "", "bytes": 1, "simulated": False,
        "imported": False, "public": False, "error": "", "job": None, "created_by": None,
        "created_at": "2026-11-25T00:00:00Z", "built_at": None, "withdrawn_at": None, "withdrawn_reason": "",
        "options": {}, "files": files,
        "tables": [{"name": name, "columns": columns, "rows": {}} for name in ("scores", "retrieval")],
    }  # fmt: skip


def files_of(content):
    def there(request):
        if request.url.path.endswith(PATH):
            return httpx.Response(200, content=content)
        return httpx.Response(200, json=release_of(content))

    return there


def test_a_release_is_fetched_and_a_file_sent_by_both_clients(run, tmp_path):
    folder = run(files_of(CONTENT), lambda client: client.project("tea").release("1.0.0").download(tmp_path))
    assert (folder / PATH).read_bytes() == CONTENT
    bodies, log = [], tmp_path / "log.csv"
    log.write_bytes(CONTENT)
    row = {"sha256": "0" * 64, "name": "log.csv", "bytes": 1, "kept_until": "2026-11-26T00:00:00Z"}

    def receive(request):
        assert request.headers["Content-Length"] == str(len(CONTENT))
        bodies.append(request.content)
        return httpx.Response(200, json=row)

    run(receive, lambda client: client.project("tea").upload(log))
    assert bodies == [CONTENT]


def test_a_table_without_a_row_is_an_empty_frame_and_one_that_there_is_not_is_told(
    run, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    there = files_of(b'{"candidate_id": "c", "n": 1}\n')
    table = lambda name: lambda client: client.project("tea").release("1.0.0").table(name).to_pandas()  # noqa: E731
    assert run(there, table("scores")).dtypes.astype(str).to_dict()["n"] == "int64"
    empty = run(there, table("retrieval"))
    assert (list(empty.columns), len(empty)) == (["candidate_id", "n"], 0)
    with pytest.raises(NotFoundError, match="has no 'nothing'"):
        run(there, table("nothing"))


def test_the_same_file_fetched_by_many_at_once_is_whole_and_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    lines = b"".join(b'{"candidate_id": "%d", "n": 1}\n' % number for number in range(2000))

    async def slowly(request):
        await asyncio.sleep(0)
        return files_of(lines)(request)

    async def ask():
        async with async_client(slowly) as client:
            release = client.project("tea").release("1.0.0")
            return await asyncio.gather(*(release.scores().to_list() for _ in range(8)))

    assert {len(rows) for rows in asyncio.run(ask())} == {2000}
    assert [each.name for each in tmp_path.rglob("*") if each.is_file()] == ["scores-train.jsonl"]


def test_a_time_to_try_again_may_be_a_number_or_a_date():
    policy = RetryPolicy()
    assert policy.pause_after(0, {"Retry-After": "3"}) == 3
    assert policy.pause_after(0, {"Retry-After": "999"}) == 30
    assert policy.pause_after(0, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
    assert 0 <= policy.pause_after(0, {"Retry-After": "soon"}) <= policy.first_pause_s


def test_nothing_that_answers_is_told_after_all_attempts(run):
    with pytest.raises(UnreachableError, match="does not answer: refused"):
        run(answering(httpx.ConnectError("refused")), rows_of)


# The end of a study at the command line


@pytest.mark.parametrize(("word", "state", "at", "words"), [
    ("close", "closed", "2026-11-25T00:00:00+00:00", "tea is closed."),
    ("reopen", "open", None, "tea is open again."),
])  # fmt: skip
def test_a_project_is_closed_and_reopened_with_a_reason(monkeypatch, capsys, word, state, at, words):
    project = {
        "slug": "tea", "title": "Tea", "language": "en", "licence": "", "currency": "USD",
        "wage_floor_cents": 0, "budget_cents": 5, "reserved_cents": 0, "spent_cents": 0, "read_only": False,
        "role": "owner", "created_at": "2026-11-25T00:00:00Z", "closed_at": at,
    }  # fmt: skip
    asked = []

    def there(request):
        asked.append((request.url.path, json.loads(request.content)))
        return httpx.Response(200, json=project)

    monkeypatch.setattr(
        cli, "Client", lambda url, token, **_: Client(url, token, transport=httpx.MockTransport(there))
    )
    given = ["--url", "http://there", "--token", "dst_x"]
    assert cli.main(["study", word, "tea", "--why", "Paid.", *given]) == 0
    assert asked == [("/api/v1/projects/tea/state", {"state": state, "why": "Paid."})]
    assert capsys.readouterr().out == f"{words}\n"
    assert cli.main(["study", word, "tea", "--json", *given]) == 0
    assert json.loads(capsys.readouterr().out) == {"project": "tea", "closed_at": at}
