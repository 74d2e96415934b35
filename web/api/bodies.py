"""Bodies that are files: read a piece at a time, however large they are."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.http import HttpRequest
from pydantic import BaseModel, Field

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
