"""Requests and errors on the wire: the bounded JSON body, `__type`, and what MTurk's clients look for."""

import json
import time
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from marketplace.errors import Refusal

CODE_PREFIX = "AWS.MechanicalTurk."
#: Codes that all of Amazon's services share have a prefix of their own.
_SHARED_PREFIX = "AWS."


@dataclass(slots=True)
class ProtocolError(Exception):
    """An error of the front door (signature, constraints, rate), before any operation runs.

    `kind` becomes the exception class or `Error.Code` in boto3.
    """

    kind: str
    message: str
    status: int = 400

    def body(self) -> dict[str, Any]:
        """JSON body of the answer, with one message: R's paws fails where two names are like "message"."""
        return {"__type": self.kind, "Message": self.message}


def validation_error(message: str) -> ProtocolError:
    """One violated constraint, in the wording of AWS."""
    return ProtocolError("ValidationException", f"1 validation error detected: {message}")


def refusal_body(refusal: Refusal) -> dict[str, Any]:
    """JSON body for a refusal of the marketplace: stem, time in epoch milliseconds, TurkErrorCode."""
    shared = refusal.code.startswith(_SHARED_PREFIX)
    return {
        "__type": refusal.kind,
        "Message": f"{refusal.message} ({time.time_ns() // 1_000_000})",
        "TurkErrorCode": refusal.code if shared else f"{CODE_PREFIX}{refusal.code}",
    }


def fault_body() -> dict[str, Any]:
    """JSON body for a failure of ours; clients retry it."""
    return {
        "__type": "ServiceFault",
        "Message": "The service is temporarily unable to process your request.",
        "TurkErrorCode": "AWS.ServiceUnavailable",
    }


# The body of a protocol request: bounded bytes, and the JSON in them.

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
