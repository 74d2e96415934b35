"""The body of a protocol request: bounded bytes, and the JSON in them."""

import json
from typing import Any

from django.http import HttpRequest

from marketplace.protocol.errors import ProtocolError

MAX_BODY = 1_048_576


def body(request: HttpRequest) -> bytes:
    """The request's bytes; raises ProtocolError for more of them than a call needs."""
    try:
        length = int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError as error:
        raise ProtocolError("SerializationException", "Content-Length is not a number.") from error
    if length > MAX_BODY:
        raise ProtocolError("RequestEntityTooLargeException", f"A request has at most {MAX_BODY} bytes.", 413)
    return request.read(length) if length > 0 else b""


def decoded(raw: bytes) -> Any:
    """The JSON value in a body; nothing at all is an empty object."""

    def refuse_constant(name: str) -> None:
        raise ValueError(f"{name} is not JSON")

    try:
        return json.loads(raw.decode("utf-8") or "{}", parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ProtocolError("SerializationException", f"The body is not a JSON object: {error}.") from error
