"""Files on their way: sent in pieces, resumed where they broke off, and refused with other bytes."""

import hashlib
import re

import httpx
import pytest
from distillery_client import ApiError, Client, ProgressUpdate, RetryPolicy, UnreachableError, cli

CONTENT = bytes(range(256)) * 64
DIGEST = hashlib.sha256(CONTENT).hexdigest()
PATH = "jsonl/scores-train.jsonl"
RELEASE = {
    "version": "1.0.0", "state": "ready", "notes": "", "digest": "", "bytes": 1, "simulated": False,
    "imported": False, "public": False, "error": "", "job": None, "created_by": None,
    "created_at": "2026-11-25T00:00:00Z", "built_at": None, "withdrawn_at": None, "withdrawn_reason": "",
    "options": {}, "tables": [],
    "files": [{"path": PATH, "bytes": len(CONTENT), "rows": 1, "sha256": DIGEST, "format": "jsonl"}],
}  # fmt: skip


class Broken(httpx.SyncByteStream):
    """A body whose connection is lost after some bytes."""

    def __init__(self, content):
        self.content = content

    def __iter__(self):
        yield self.content
        raise httpx.ReadError("the connection is lost")


class Files:
    """An installation with one file, which gives at most `most` bytes at a time; `ranges` were asked for."""

    def __init__(self, content=CONTENT, *, most=None):
        self.content, self.most, self.ranges = content, most, []

    def __call__(self, request):
        if not request.url.path.endswith(PATH):
            return httpx.Response(200, json=RELEASE)
        wanted = request.headers.get("Range", "")
        self.ranges.append(wanted)
        start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1]) if wanted else 0
        assert request.headers.get("If-Range", "") == (f'"{DIGEST}"' if start else "")
        if start and start >= len(self.content):
            return httpx.Response(416, headers={"Content-Range": f"bytes */{len(self.content)}"})
        rest = self.content[start:]
        body = rest if self.most is None or len(rest) <= self.most else None
        stream = {"content": body} if body is not None else {"stream": Broken(rest[: self.most])}
        return httpx.Response(206 if start else 200, **stream)

    def release(self, **settings):
        retry = RetryPolicy(attempts=3, first_pause_s=0)
        client = Client("http://there", "dst_x", retry=retry, transport=httpx.MockTransport(self), **settings)
        return client.project("tea").release("1.0.0")


def test_a_download_that_breaks_off_again_and_again_goes_on_where_it_stopped(tmp_path):
    there = Files(most=4000)
    folder = there.release().download(tmp_path)
    assert (folder / PATH).read_bytes() == CONTENT
    assert there.ranges == ["", "bytes=4000-", "bytes=8000-", "bytes=12000-", "bytes=16000-"]
    assert [each.name for each in folder.rglob("*") if each.is_file()] == ["scores-train.jsonl"]


def test_what_an_interrupted_process_left_is_gone_on_with(tmp_path):
    half = tmp_path / "1.0.0" / f"{PATH}.part"
    half.parent.mkdir(parents=True)
    half.write_bytes(CONTENT[:100])
    there = Files()
    there.release().download(tmp_path)
    assert there.ranges == ["bytes=100-"]
    there.release().download(tmp_path)
    assert there.ranges == ["bytes=100-"], "what is whole is not fetched again"


@pytest.mark.parametrize("left", [CONTENT, CONTENT[:-1] + b"?", CONTENT + b"?"])
def test_what_was_left_and_cannot_be_gone_on_with_is_no_obstacle(tmp_path, left):
    half = tmp_path / "1.0.0" / f"{PATH}.part"
    half.parent.mkdir(parents=True)
    half.write_bytes(left)
    folder = Files().release().download(tmp_path)
    assert (folder / PATH).read_bytes() == CONTENT


def test_other_bytes_than_the_release_has_are_kept_nowhere(tmp_path):
    with pytest.raises(ApiError, match="other bytes"):
        Files(b"?" * len(CONTENT)).release().download(tmp_path)
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == []


def test_where_nothing_comes_any_more_what_came_is_kept(tmp_path):
    class Dead(Files):
        def __call__(self, request):
            if self.ranges:
                raise httpx.ConnectError("refused")
            return super().__call__(request)

    with pytest.raises(UnreachableError, match="goes on from there"):
        Dead(most=5000).release().download(tmp_path)
    assert (tmp_path / "1.0.0" / f"{PATH}.part").read_bytes() == CONTENT[:5000]


def test_a_refused_file_says_why(tmp_path):
    problem = {"status": 403, "code": "scope_missing", "detail": "The token lacks the scope read."}

    class Refusing(Files):
        def __call__(self, request):
            if request.url.path.endswith(PATH):
                return httpx.Response(403, json=problem)
            return super().__call__(request)

    with pytest.raises(ApiError, match="lacks the scope"):
        Refusing().release().download(tmp_path)


def test_a_program_is_told_how_far_a_download_is(tmp_path):
    told = []
    Files(most=6000).release(progress=told.append).download(tmp_path)
    assert [each.done for each in told] == sorted(each.done for each in told)
    assert told[-1] == ProgressUpdate(f"Fetching {PATH}", len(CONTENT), len(CONTENT), is_bytes=True)


def test_a_file_is_sent_in_pieces_and_from_its_start_after_a_lost_reply(tmp_path):
    log, bodies, told = tmp_path / "log.csv", [], []
    log.write_bytes(CONTENT * 20)
    row = {"sha256": DIGEST, "name": "log.csv", "bytes": 1, "kept_until": "2026-11-26T00:00:00Z"}

    def receive(request):
        bodies.append(request.read())
        assert request.headers["Content-Length"] == str(len(CONTENT) * 20)
        if len(bodies) == 1:
            raise httpx.ReadError("gone")
        return httpx.Response(200, json=row)

    retry = RetryPolicy(first_pause_s=0)
    client = Client("http://there", "dst_x", retry=retry, transport=httpx.MockTransport(receive))
    client.project("tea").upload(log, progress=told.append)
    assert bodies == [CONTENT * 20] * 2
    assert told[0].done == 0 and told[-1].done == told[-1].total == len(CONTENT) * 20


# The command line, as a person meets it.


@pytest.fixture
def command(monkeypatch, capsys):
    """Runs the command against an installation made of a function; gives exit code, output and complaints."""

    def run(*words, there):
        transport = httpx.MockTransport(there)
        monkeypatch.setattr(cli, "_RETRY", RetryPolicy(attempts=2, first_pause_s=0))
        monkeypatch.setattr(
            cli, "Client", lambda url, token, **more: Client(url, token, transport=transport, **more)
        )
        code = cli.main([*words, "--url", "http://there", "--token", "dst_x"])
        return code, *capsys.readouterr()

    return run


def test_a_release_is_fetched_by_its_name_and_version_alike(command, tmp_path):
    for words in (["tea/1.0.0"], ["tea", "1.0.0"]):
        code, out, _ = command("release", "get", *words, "--out", str(tmp_path), there=Files())
        assert (code, out) == (0, f"{tmp_path}/1.0.0: 1 files, whole.\n")


def test_a_download_that_is_interrupted_says_that_it_goes_on(command, tmp_path):
    def interrupt(_):
        raise KeyboardInterrupt

    code, _, errors = command("release", "get", "tea/1.0.0", "--out", str(tmp_path), there=interrupt)
    assert (code, errors) == (130, "Interrupted. The same command goes on where this one stopped.\n")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (httpx.Response(404, text="<html>Not found"), "http://there/api/v1/projects/tea/status answered 404"),
        (httpx.Response(200, text="<html>Welcome"), "Is the address right?"),
        (httpx.Response(401, json={"code": "token", "detail": "There is no such token."}), "no such token"),
        (httpx.ConnectError("Connection refused"), "http://there does not answer: Connection refused"),
    ],
)
def test_a_wrong_address_or_token_is_told_in_a_sentence(command, answer, words):
    def there(_):
        if isinstance(answer, Exception):
            raise answer
        return answer

    code, out, errors = command("study", "status", "tea", there=there)
    assert (code, out) == (1, "") and words in errors and errors.count("\n") == 1


def test_what_is_no_address_is_refused_before_anything_is_sent(capsys):
    for wrong in ("crowd.example.org", "ftp://there", "https://", "http://[::"):
        assert cli.main(["study", "status", "tea", "--url", wrong, "--token", "dst_x"]) == 1
        assert "no address of an installation" in capsys.readouterr().err


def test_a_status_is_a_table_for_people(command):
    stage = {"stage": "judging", "kind": "judging", "status": "open", "done": 9, "total": 10, "held": 1,
             "waiting_operations": 0}  # fmt: skip
    answer = {"project": "tea", "stages": [stage]}
    _, out, _ = command("study", "status", "tea", there=lambda _: httpx.Response(200, json=answer))
    assert out.splitlines()[1].split() == ["judging", "judging", "open", "9/10", "1"]


def test_names_of_metrics_with_parameters_may_have_commas():
    assert cli._split_names("bleu-1, adapted-bleu-4(alpha=1.5,beta=0.5),rouge-l") == [
        "bleu-1", "adapted-bleu-4(alpha=1.5,beta=0.5)", "rouge-l",
    ]  # fmt: skip


def test_a_study_file_that_is_not_there_is_named(command):
    code, _, errors = command("study", "apply", "nowhere.toml", there=Files())
    assert (code, errors) == (1, "There is no file nowhere.toml.\n")
