"""A time limit for a whole answer, so that a server that sends a byte now and then blocks no thread.

The timeouts of sockets count from byte to byte. Here each read waits at most for what is left of the answer's
time. Python itself limits the whole time of sending a request and of the TLS handshake.
"""

import http.client
import io
import socket
import time
from typing import Any

from botocore.awsrequest import (
    AWSHTTPConnection,
    AWSHTTPConnectionPool,
    AWSHTTPSConnection,
    AWSHTTPSConnectionPool,
)
from urllib3 import HTTPConnectionPool

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
