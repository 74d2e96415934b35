"""Rows in bulk, one JSON object per line: written and read a piece at a time, however many there are.

@things.get("/projects/{project}/things.jsonl", …, content=lines_of(ThingLine))
def export_things(request: ApiRequest, project: str) -> StreamingHttpResponse:
    return stream_lines(rows_by_key(Thing.objects.filter(…).values("id", "title")))
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar

from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from web.api.problems import ProblemError

MEDIA_TYPE = "application/jsonl"
#: Rows of one query and of one piece of the answer.
PIECE = 2_000
LONGEST_LINE = 1 << 20
#: Faults that are named; then reading ends.
_MOST_FAULTS = 20
Line = TypeVar("Line", bound=BaseModel)


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


def read_lines(request: HttpRequest, model: type[Line]) -> Iterator[tuple[int, Line]]:
    """The lines of a body with their numbers, from 1; empty ones are passed over.

    A ProblemError names the first faults by line and field; collect the lines before anything is changed, or
    change it in one transaction.
    """
    faults: dict[str, list[str]] = {}
    for number, line in _numbered(request):
        try:
            found = model.model_validate_json(line)
        except ValidationError as error:
            for each in error.errors(include_url=False, include_input=False, include_context=False):
                field = ".".join(str(part) for part in (f"line {number}", *each["loc"]))
                faults.setdefault(field, []).append(f"{each['msg']}.")
            if len(faults) >= _MOST_FAULTS:
                break
            continue
        if not faults:
            yield number, found
    if faults:
        name, sentences = next(iter(faults.items()))
        raise ProblemError(422, "invalid", f"{name}: {sentences[0]} Nothing was changed.", errors=faults)


def _numbered(request: HttpRequest) -> Iterator[tuple[int, bytes]]:
    number = 0
    while line := request.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise ProblemError(
                413, "too_large", f"Line {number} is longer than {LONGEST_LINE:,} bytes. Send shorter ones."
            )
        if line.strip():
            yield number, line
