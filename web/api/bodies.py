"""Bodies however large: files by the piece, and rows as lines of JSON.

    @things.post("/projects/{project}/things/lines", …, status=202, lines=ThingLine)
    def import_thing_lines(request: ApiRequest, project: str) -> JobRef:
        file = stage(name="things.jsonl", pieces=request.lines.pieces())

All lines are read and checked before the view is called, into a file that is gone with the request: a fault
names its line and field, and nothing was done. The digest of the body is that of an Idempotency-Key.

Rows on their way out are lines, too: a piece at a time, however many there are.

    @things.get("/projects/{project}/things", …, lines_out=ThingLine)
    def list_things(request: ApiRequest, project: str, …) -> Page[ThingOut] | StreamingHttpResponse:
        if wants_lines(request):
            return stream_lines(rows_by_key(Thing.objects.filter(…).values("id", "title")))
        …
"""

import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import islice
from typing import IO, Any

from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import to_json

from core.files.json_objects import check_storable
from core.files.refusals import BadFieldError
from web.api.problems import ProblemError

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


# Rows in bulk on their way in: one JSON object a line, read a line at a time.

#: What lines are called: the word of newer tools, and that of most.
MEDIA_TYPES = ("application/x-ndjson", "application/jsonl")
LONGEST_LINE, MOST_BYTES = 1 << 20, 2 << 30
#: Bytes in memory before they go into a file, and of one piece.
_IN_MEMORY, _PIECE = 1 << 20, 1 << 18
#: Faults that are named; then reading ends.
_MOST_FAULTS = 20
_MARK, _ESCAPED_NUL = b"\xef\xbb\xbf", b"\\u0000"


class BodyLine(BaseModel):
    """Base of a line: fields with our names, and others that are kept as they are."""

    model_config = ConfigDict(extra="allow")

    def check(self) -> None:
        """What types do not say; BadFieldError names the field."""


class LineBody:
    """The lines of a body, checked and kept aside."""

    def __init__(self, file: IO[bytes], digest: str, count: int) -> None:
        self._file, self.digest, self.count = file, digest, count

    def pieces(self) -> Iterator[bytes]:
        """The bytes as they came."""
        self._file.seek(0)
        while piece := self._file.read(_PIECE):
            yield piece

    def close(self) -> None:
        """Remove them."""
        self._file.close()


def describe_lines(model: type[BodyLine]) -> Mapping[str, Any]:
    """What the schema says of a body of such lines."""
    line = model.model_json_schema()
    return {media: {"schema": {"type": "string"}, "x-line": line} for media in MEDIA_TYPES}


def read_lines(request: HttpRequest, model: type[BodyLine]) -> LineBody:
    """Read and check every line of a body; ProblemError names the first faults by line and field."""
    digest, number, count, size = hashlib.sha256(), 0, 0, 0
    faults: dict[str, list[str]] = {}
    file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115  # closed with the request
    with ExitStack() as faulty:
        faulty.callback(file.close)
        while line := request.readline(LONGEST_LINE + 1):
            number, size = number + 1, size + len(line)
            if len(line) > LONGEST_LINE or size > MOST_BYTES:
                raise _too_large(number, len(line))
            digest.update(line)
            if number == 1:
                line = line.removeprefix(_MARK)
            if not line.strip():
                continue
            count += 1
            file.write(line)
            _check_line(line, number, model, faults)
            if len(faults) >= _MOST_FAULTS:
                break
        if faults:
            name, sentences = next(iter(faults.items()))
            raise ProblemError(422, "invalid", f"{name}: {sentences[0]} Nothing was changed.", errors=faults)
        if not count:
            raise ProblemError(422, "invalid", "There is no line in the body. Send one JSON object per line.")
        faulty.pop_all()  # a good body is closed with its request
    return LineBody(file, digest.hexdigest(), count)


def _too_large(number: int, length: int) -> ProblemError:
    if length > LONGEST_LINE:
        message = f"Line {number} is longer than {LONGEST_LINE:,} bytes. Nothing was changed."
    else:
        message = f"The body is larger than {MOST_BYTES // 2**30} GiB. Send it in parts. Nothing was changed."
    return ProblemError(413, "too_large", message)


def _check_line(line: bytes, number: int, model: type[BodyLine], faults: dict[str, list[str]]) -> None:
    place = f"line {number}"
    try:
        parsed_line = model.model_validate_json(line)
        if _ESCAPED_NUL in line:
            check_storable(parsed_line.model_dump())
        parsed_line.check()
    except ValidationError as error:
        for each in error.errors(include_url=False, include_input=False, include_context=False):
            field = ".".join(str(part) for part in (place, *each["loc"]))
            message = str(each["msg"]).removeprefix("Value error, ")
            faults.setdefault(field, []).append(message if message.endswith(".") else f"{message}.")
    except BadFieldError as error:
        faults.setdefault(f"{place}.{error.field}" if error.field else place, []).append(str(error))


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
