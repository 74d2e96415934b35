"""Errors on the wire, and what is refused at the border: bodies that are too large, calls beyond the rate."""

import json
import logging
import time
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import Error, transaction
from django.db.models import F
from django.http import HttpRequest

from core.accounts import security
from core.accounts.security import address_of
from core.rates import limits
from marketplace import clock
from marketplace.errors import Refusal
from marketplace.models import RefusedCalls

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


# Calls that are refused before it is known whose they are: counted per day and reason, not stored.

logger = logging.getLogger(__name__)
#: Errors of the front door.
AT_THE_DOOR = frozenset(
    {
        "AccessDeniedException",
        "IncompleteSignatureException",
        "InvalidSignatureException",
        "MethodNotAllowedException",
        "MissingAuthenticationTokenException",
        "RequestEntityTooLargeException",
        "ThrottlingException",
        "UnrecognizedClientException",
    }
)
#: Of these the log of security events has a line: somebody tried a key.
_TRIED = frozenset({"InvalidSignatureException", "UnrecognizedClientException", "AccessDeniedException"})


def count_refusal(reason: str, environ: dict[str, Any]) -> None:
    """One more of today; what cannot be counted is answered all the same."""
    if reason in _TRIED:
        credential = str(environ.get("HTTP_AUTHORIZATION", "")).partition("Credential=")[2]
        security.log(
            "signature.refused",
            reason=reason,
            access_key=credential.partition("/")[0][:64],
            address=address_of(environ),
        )
    day = clock.now().date()
    try:
        with transaction.atomic():
            counted = RefusedCalls.objects.filter(day=day, reason=reason)
            if not counted.update(count=F("count") + 1):
                # The first of its day. Another process may make the row meanwhile; both then count in it.
                RefusedCalls.objects.bulk_create(
                    [RefusedCalls(day=day, reason=reason)], ignore_conflicts=True
                )
                counted.update(count=F("count") + 1)
    except Error:
        logger.exception("A refused call could not be counted")


# Rate limits: of calls per requester, of wrong signatures per key and address.

#: So many wrong signatures at once from one address for one key; then one every so many seconds.
MOST_GUESSES = 20
SECONDS_FOR_A_GUESS = 3.0


def throttled(message: str = "Rate exceeded") -> ProtocolError:
    """What a call beyond the rate gets; botocore waits and tries again."""
    return ProtocolError("ThrottlingException", message)


def check_rate(requester_id: int) -> None:
    """Let a call pass or raise ThrottlingException; bursts of twice the rate pass. 0 means no limit."""
    rate = settings.MARKETPLACE_REQUESTS_PER_SECOND
    if rate and limits().take(f"calls:{requester_id}", rate=rate, burst=2 * rate):
        raise throttled()


def check_guesses(key: str, address: str) -> None:
    """Refuse a call from an address that signed wrongly with this key too often; others are not slowed."""
    if limits().peek(_guesses(key, address), rate=1 / SECONDS_FOR_A_GUESS, burst=MOST_GUESSES):
        raise throttled("Too many wrong signatures from your address; wait a minute.")


def note_guess(key: str, address: str) -> None:
    """Remember a wrong signature."""
    limits().take(_guesses(key, address), rate=1 / SECONDS_FOR_A_GUESS, burst=MOST_GUESSES)


def _guesses(key: str, address: str) -> str:
    return f"guesses:{key}:{address}"
