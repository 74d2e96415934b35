"""Bodies however large: files by the piece, and rows on their way out as lines of JSON.

@things.get("/projects/{project}/things", …, lines=ThingLine)
def list_things(request: ApiRequest, project: str, …) -> Page[ThingOut] | StreamingHttpResponse:
    if wants_lines(request):
        return stream_lines(rows_by_key(Thing.objects.filter(…).values("id", "title")))
    …
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from pydantic import BaseModel, Field
from pydantic_core import to_json

#: Bytes in memory at a time.
PIECE = 1 << 18
#: What the schema says of a body that is a file.
FILE: Mapping[str, Any] = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}


class JobRef(BaseModel):
    """A job that does what takes long; `GET /projects/{project}/jobs/{job}` says how far it is."""

    job: int = Field(description="The id of the job.")


def body_pieces(request: HttpRequest) -> Iterator[bytes]:
    """The bytes of a body; do not touch `request.body` before."""
    while piece := request.read(PIECE):
        yield piece


# Rows on their way out.

LINES = "application/jsonl"
#: Rows of one query and of one piece of the answer.
ROWS_AT_ONCE = 2_000


def lines_of(model: type[BaseModel]) -> Mapping[str, Any]:
    """What the schema says of a stream of lines, each as this model has it."""
    return {LINES: {"schema": {"type": "string"}, "x-line": model.model_json_schema()}}


def wants_lines(request: HttpRequest) -> bool:
    """Whether the answer of a list is all its rows as lines, which `Accept` asks for, and not a page."""
    return request.get_preferred_type(["application/json", LINES]) == LINES


def rows_by_key(
    rows: QuerySet[Any, dict[str, Any]], *, key: str = "id", size: int = ROWS_AT_ONCE
) -> Iterator[dict[str, Any]]:
    """Rows of `values(…)` in the order of a unique column; no cursor is open between two pieces."""
    last = None
    while True:
        page = list((rows if last is None else rows.filter(**{f"{key}__gt": last})).order_by(key)[:size])
        yield from page
        if len(page) < size:
            return
        last = page[-1][key]


def stream_lines(rows: Iterable[Mapping[str, Any] | BaseModel]) -> StreamingHttpResponse:
    """An answer of one line per row."""
    return StreamingHttpResponse(_line_pieces(rows), content_type=LINES)


def _line_pieces(rows: Iterable[Mapping[str, Any] | BaseModel]) -> Iterator[bytes]:
    left = iter(rows)
    while piece := [to_json(row) for row in islice(left, ROWS_AT_ONCE)]:
        yield b"\n".join((*piece, b""))
