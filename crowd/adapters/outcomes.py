"""What the answers of an endpoint mean, and how long one may take.

An answer is the marketplace's own word, or something that came in its place, such as a proxy's page. The
time limit is one for a whole answer, so that a server that sends a byte now and then blocks no thread: the
timeouts of sockets count from byte to byte. Here each read waits at most for what is left of the answer's
time. Python itself limits the whole time of sending a request and of the TLS handshake.
"""

import contextlib
import http.client
import io
import re
import socket
import time
from collections.abc import Iterator, Mapping
from typing import Any

from botocore.awsrequest import (
    AWSHTTPConnection,
    AWSHTTPConnectionPool,
    AWSHTTPSConnection,
    AWSHTTPSConnectionPool,
)
from botocore.exceptions import ClientError
from urllib3 import HTTPConnectionPool

from crowd.adapters import base

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
        raise base.MarketplaceDownError(describe_garbage(error)) from error


def describe_garbage(error: Exception) -> str:
    """What was wrong with an answer, for people."""
    return f"The answer cannot be read ({type(error).__name__}: {error})."


#: What a read raises that a step needs before it can be taken.
READ_FAILURES = (base.MarketplaceRefusedError, base.MarketplaceDownError, *GARBAGE)


def outcome_of_failure(error: Exception) -> base.CallRefusal | base.Unknown:
    """The outcome of a step whose read raised one of `READ_FAILURES`: a refusal is the far end's own word."""
    if isinstance(error, base.MarketplaceRefusedError):
        return base.CallRefusal("Refused", str(error))
    return base.Unknown(
        str(error) if isinstance(error, base.MarketplaceDownError) else describe_garbage(error)
    )


def status_of(error: ClientError) -> int:
    """The HTTP status; 0 where there is none."""
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def classify(error: ClientError) -> base.Outcome[Any]:
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
        return base.Unknown(
            f"Something between here and the marketplace answered with {status} {code}: {text}"
        )
    if code in _THROTTLED or status == 429:
        return base.CallThrottling(2.0)
    if turk_code.lower() == "hitalreadyexists":
        entity = _ENTITY.search(text)
        return base.EarlierSuccess(entity[0] if entity else None)
    if turk_code == "DuplicateRequest" or ("idempotency token" in text and "already been processed" in text):
        return base.EarlierSuccess(None)
    nameless = code.isdigit() or code in ("", "Unknown")
    if status >= 500 or status < 400 or nameless or code in _FAULTS:
        return base.Unknown(f"{code or status}: {text}")
    return base.CallRefusal(turk_code or code, text)


#: An answer of a marketplace that is not complete by then counts as no answer.
ANSWER_SECONDS = 60.0


class _TimedReader(io.RawIOBase):
    """Reads from a socket until the time is over; TimeoutError after that."""

    def __init__(self, source: io.RawIOBase, sock: socket.socket, seconds: float) -> None:
        self._source, self._sock = source, sock
        self._until = time.monotonic() + seconds

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """The next bytes. Raises TimeoutError if they do not come in time."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("The answer took too long as a whole.")
        usual = self._sock.gettimeout()
        self._sock.settimeout(left if usual is None else min(left, usual))
        try:
            return self._source.readinto(buffer)
        finally:
            self._sock.settimeout(usual)

    def close(self) -> None:
        """Close the reader of the socket too."""
        self._source.close()
        super().close()


def timed_pools(seconds: float) -> dict[str, type[HTTPConnectionPool]]:
    """Pools of connections by scheme, for botocore or urllib3, on which an answer takes at most `seconds`."""

    class TimedResponse(http.client.HTTPResponse):
        def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:
            super().__init__(sock, *arguments, **options)
            self.fp = io.BufferedReader(_TimedReader(self.fp.detach(), sock, seconds))

    class TimedConnection(AWSHTTPConnection):
        response_class = TimedResponse  # type: ignore[assignment]  # botocore replaces it in part

    class TimedTlsConnection(AWSHTTPSConnection):
        response_class = TimedResponse  # type: ignore[assignment]  # botocore replaces it in part

    class TimedPool(AWSHTTPConnectionPool):
        ConnectionCls = TimedConnection

    class TimedTlsPool(AWSHTTPSConnectionPool):
        ConnectionCls = TimedTlsConnection

    return {"http": TimedPool, "https": TimedTlsPool}


def limit_answers(client: Any) -> None:
    """Limit answers to this botocore client to ANSWER_SECONDS; botocore has no public way to do that."""
    client._endpoint.http_session._pool_classes_by_scheme.update(timed_pools(ANSWER_SECONDS))
