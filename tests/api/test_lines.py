"""Rows in bulk on their way in: one JSON object a line, checked as they come, imported by the same jobs."""

import json
import tracemalloc
from collections.abc import Iterable
from io import BytesIO
from typing import Any

import pytest
from django.http import HttpRequest
from pydantic import Field

from annotation.models import Query
from core.api.models import IdempotencyRecord
from core.jobs import runner
from core.jobs.models import Job
from judgments.models import Candidate
from retrieval.models import Corpus
from tests.api.conftest import Program, is_problem
from web.api import bodies
from web.api.bodies import BodyLine, read_lines
from web.api.problems import ProblemError

QUERIES = "/projects/tea/query-imports/lines"
TWO = [{"id": "q1", "text": "boiling point of water", "count": 5}, {"id": "q2", "text": "capital of italy"}]


def send(program: Program, path: str, rows: Iterable[Any], **more: Any):
    body = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    return program.post(path, body, **more)


def run_job(answer) -> Job:
    assert answer.status_code == 202, answer.content
    runner.run(job_id=answer.json()["job"])
    job = Job.objects.get(pk=answer.json()["job"])
    assert job.state == "done", job.error
    return job


def test_queries_come_in_as_lines(program):
    run_job(send(program, f"{QUERIES}?start_at=curation&name=log", TWO))
    assert list(Query.objects.order_by("key").values_list("key", "text", "count", "status")) == [
        ("q1", "boiling point of water", 5, "accepted"),
        ("q2", "capital of italy", 1, "accepted"),
    ]
    (listed,) = program.get("/projects/tea/query-imports").json()["items"]
    assert listed["name"] == "log.jsonl"


def test_answers_and_passages_come_in_as_lines(program):
    run_job(send(program, f"{QUERIES}?start_at=distillation", TWO))
    answers = [
        {"query_id": "q1", "system": "b", "text": "100 degrees"},
        {"query_id": "q2", "system": "b", "text": ""},
    ]
    run_job(send(program, "/projects/tea/candidate-imports/lines", answers))
    assert list(Candidate.objects.order_by("pk").values_list("query__key", "text")) == [
        ("q1", "100 degrees"),
        ("q2", ""),
    ]
    passages = [{"id": "p1", "text": "Water boils at 100 degrees at sea level.", "title": "Water"}]
    is_problem(send(program, "/projects/tea/corpora/facts/passages", passages), 404, "not_found")
    run_job(send(program, "/projects/tea/corpora/facts/passages?create=true&title=Facts", passages))
    more = [{"id": 2, "text": "Rome is the capital of Italy."}]
    run_job(send(program, "/projects/tea/corpora/facts/passages", more))
    assert Corpus.objects.get().title == "Facts"
    assert program.get("/projects/tea/corpora/facts").json()["passages"] == 2


@pytest.mark.parametrize(
    ("path", "line", "field"),
    [
        (QUERIES, {"id": "q3"}, "line 3.text"),
        (QUERIES, {"text": " "}, "line 3.text"),
        (QUERIES, {"text": "a\0b"}, "line 3"),
        (QUERIES, {"text": "x", "count": 0}, "line 3.count"),
        (QUERIES, {"text": "x", "type": "COLOUR"}, "line 3.type"),
        (QUERIES, {"text": "x", "turn": "first"}, "line 3.turn"),
        (QUERIES, ["x"], "line 3"),
    ],
)
def test_a_fault_names_line_and_field_and_keeps_nothing(program, path, line, field):
    found = is_problem(send(program, path, [*TWO, line], key="k1"), 422, "invalid")
    assert [name for name in found["errors"] if name.startswith(field)], found
    assert not Job.objects.exists() and not IdempotencyRecord.objects.exists()
    assert send(program, path, TWO, key="k1").status_code == 202  # put right, with the same key


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ({"system": "b", "text": "x"}, "line 1.query"),
        ({"query_id": "q1", "text": "x"}, "line 1.system"),
        ({"query_id": "q1", "system": "b", "text": "x" * 20_001}, "line 1.text"),
    ],
)
def test_faults_of_answers_name_their_field(program, line, field):
    found = is_problem(send(program, "/projects/tea/candidate-imports/lines", [line]), 422, "invalid")
    assert list(found["errors"]) == [field]


def test_what_is_no_line_is_refused_in_words(program):
    is_problem(program.post(QUERIES, b""), 422, "invalid")
    found = is_problem(program.post(QUERIES, b'{"text": "x"}\n{"text": '), 422, "invalid")
    assert "line 2" in found["detail"] and "Nothing was changed" in found["detail"]
    found = is_problem(program.post(QUERIES, b'{"text": "' + b"x" * (1 << 20) + b'"}'), 413, "too_large")
    assert "Line 1" in found["detail"]
    found = is_problem(send(program, QUERIES, [{}] * 50), 422, "invalid")
    assert len(found["errors"]) == 20


def test_the_same_lines_again_are_one_import_and_other_lines_need_another_key(program):
    first, again = (send(program, QUERIES, TWO, key="k1") for _ in range(2))
    assert again["Idempotency-Replayed"] == "true" and first.json() == again.json()
    assert Job.objects.count() == 1
    is_problem(send(program, QUERIES, TWO[:1], key="k1"), 422, "idempotency_key_reused")


class Thing(BodyLine):
    number: int = Field(ge=0)


class Source(BytesIO):
    """A body that is made as it is read."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.left = count

    def readline(self, size: int | None = -1) -> bytes:
        self.left -= 1
        return b'{"number": 1, "words": "%s"}\n' % (b"x" * 500) if self.left >= 0 else b""


def request_of(count: int) -> HttpRequest:
    request = HttpRequest()
    request._stream = Source(count)
    return request


def test_memory_does_not_grow_with_the_body(monkeypatch):
    peaks = []
    for count in (5_000, 20_000):
        tracemalloc.start()
        body = read_lines(request_of(count), Thing)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert body.count == count and sum(map(len, body.pieces())) > 500 * count
        body.close()
    assert peaks[1] < 1.2 * peaks[0] < 8 << 20
    monkeypatch.setattr(bodies, "MOST_BYTES", 10_000)
    with pytest.raises(ProblemError, match="larger than"):
        read_lines(request_of(100), Thing)
