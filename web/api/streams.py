"""Rows in bulk on their way out, one JSON object per line: a piece at a time, however many there are.

@things.get("/projects/{project}/things.jsonl", …, content=lines_of(ThingLine))
def export_things(request: ApiRequest, project: str) -> StreamingHttpResponse:
    return stream_lines(rows_by_key(Thing.objects.filter(…).values("id", "title")))
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from pydantic import BaseModel
from pydantic_core import to_json

MEDIA_TYPE = "application/jsonl"
#: Rows of one query and of one piece of the answer.
PIECE = 2_000


def lines_of(model: type[BaseModel]) -> Mapping[str, Any]:
    """What the schema says of a stream of lines, each as this model has it."""
    return {MEDIA_TYPE: {"schema": {"type": "string"}, "x-line": model.model_json_schema()}}


def rows_by_key(
    rows: QuerySet[Any, dict[str, Any]], *, key: str = "id", size: int = PIECE
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
    return StreamingHttpResponse(_pieces(rows), content_type=MEDIA_TYPE)


def _pieces(rows: Iterable[Mapping[str, Any] | BaseModel]) -> Iterator[bytes]:
    left = iter(rows)
    while piece := [to_json(row) for row in islice(left, PIECE)]:
        yield b"\n".join((*piece, b""))
