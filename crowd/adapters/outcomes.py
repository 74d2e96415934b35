"""What the answers of an endpoint mean: the marketplace's own word, or something that came in its place."""

import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from botocore.exceptions import ClientError

from crowd.adapters.base import (
    CallRefusal,
    CallThrottling,
    EarlierSuccess,
    MarketplaceDownError,
    Outcome,
    Unknown,
)

_THROTTLED = {
    "ThrottlingException",
    "Throttling",
    "ThrottledException",
    "RequestLimitExceeded",
    "TooManyRequestsException",
    "SlowDown",
}
_FAULTS = {"ServiceFault", "InternalFailure", "ServiceUnavailable"}
_ENTITY = re.compile(r"\b3[A-Z0-9]{20,63}\b")
#: What botocore and we raise on answers that are no answers of the protocol.
GARBAGE = (AttributeError, LookupError, TypeError, ValueError, ArithmeticError)
SOMETHING_ELSE = "Something else than the marketplace answered, such as a proxy or a login page."
#: After a gateway's 429.
GATEWAY_PAUSE_S = 2.0


def is_of_the_protocol(answer: Mapping[str, Any]) -> bool:
    """botocore reads any page with status 200 as an empty success; only the protocol gives a request id."""
    return bool(answer["ResponseMetadata"].get("RequestId"))


@contextlib.contextmanager
def reading() -> Iterator[None]:
    """Reading an answer: what lacks something, or has it in another shape, is no answer of a marketplace."""
    try:
        yield
    except GARBAGE as error:
        raise MarketplaceDownError(describe_garbage(error)) from error


def describe_garbage(error: Exception) -> str:
    """What was wrong with an answer, for people."""
    return f"The answer cannot be read ({type(error).__name__}: {error})."


def status_of(error: ClientError) -> int:
    """The HTTP status; 0 where there is none."""
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def classify(error: ClientError) -> Outcome[Any]:
    """What an error answer means: by `Error.Code`, then TurkErrorCode, then the message's text.

    Only the marketplace gives a request id. Without one the error is that of a proxy, a gateway or a firewall
    on the way, which cannot say what became of the call.
    """
    response: Mapping[str, Any] = error.response
    code = str(response.get("Error", {}).get("Code", ""))
    text = str(response.get("Message") or response.get("Error", {}).get("Message", ""))
    turk_code = str(response.get("TurkErrorCode", "")).removeprefix("AWS.MechanicalTurk.")
    status = status_of(error)
    if not response.get("ResponseMetadata", {}).get("RequestId"):
        return Unknown(f"Something between here and the marketplace answered with {status} {code}: {text}")
    if code in _THROTTLED or status == 429:
        return CallThrottling(2.0)
    if turk_code.lower() == "hitalreadyexists":
        found = _ENTITY.search(text)
        return EarlierSuccess(found[0] if found else None)
    if turk_code == "DuplicateRequest" or ("idempotency token" in text and "already been processed" in text):
        return EarlierSuccess(None)
    nameless = code.isdigit() or code in ("", "Unknown")
    if status >= 500 or status < 400 or nameless or code in _FAULTS:
        return Unknown(f"{code or status}: {text}")
    return CallRefusal(turk_code or code, text)
