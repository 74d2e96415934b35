"""Sending a request: the token, problems as errors, and repetitions that do nothing twice.

Every POST carries an Idempotency-Key of its own, which a repetition sends again, so that the installation
gives the first reply instead of doing it once more. Other methods may be repeated
as they are. What was refused in words is never repeated.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import quote
from uuid import uuid4

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError

from distillery_client.errors import (
    ApiError,
    BrokenOffError,
    DistilleryError,
    UnreachableError,
    problem_of,
    unlike_the_api,
)

Answer = TypeVar("Answer")
#: The body of a request: bytes, or pieces that each attempt goes through from the first on.
Content = bytes | Iterable[bytes]
AsyncContent = bytes | AsyncIterable[bytes]
VERSION = "0.2.0"
#: Statuses after which the same request is sent again.
_AGAIN = frozenset({429, 502, 503, 504})
_IN_FLIGHT = "idempotency_key_in_flight"
_LONGEST_PAUSE_S = 30.0


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a request is sent, and how long it is waited between: full jitter, doubling."""

    attempts: int = 6
    first_pause_s: float = 0.5

    def pause_after(self, attempt: int, headers: Mapping[str, str]) -> float:
        """Seconds until the next attempt; what the installation says counts."""
        seconds = _seconds_of(headers.get("Retry-After", ""))
        if seconds is not None:
            return min(seconds, _LONGEST_PAUSE_S)
        longest = min(_LONGEST_PAUSE_S, self.first_pause_s * 2**attempt)
        return random.uniform(0, longest)  # noqa: S311 - spreads clients, guards nothing


def _seconds_of(text: str) -> float | None:
    """A `Retry-After`, which is a number or a time; None for anything else."""
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds())


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    path: str
    query: dict[str, Any]
    content: Any
    headers: dict[str, str] = field(default_factory=dict)


class _Common:
    """What both senders share: requests as they are sent, and answers as they are read."""

    retry: RetryPolicy

    @staticmethod
    def _part(value: object) -> str:
        """A part of an address."""
        return quote(str(value), safe="/")

    @staticmethod
    def _request(
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: BaseModel | Mapping[str, Any] | None = None,
        content: Content | AsyncContent | None = None,
        media: str = "",
        if_match: str = "",
        idempotency_key: str | None = None,
    ) -> _Request:
        headers: dict[str, str] = {}
        if (size := getattr(content, "size", None)) is not None:  # a file
            headers["Content-Length"] = str(size)
        if method == "POST":
            headers["Idempotency-Key"] = idempotency_key or uuid4().hex
        if if_match:
            headers["If-Match"] = if_match
        if body is not None:
            sent = body.model_dump(mode="json", exclude_unset=True) if isinstance(body, BaseModel) else body
            content, media = json.dumps(sent, ensure_ascii=False).encode(), "application/json"
        if media:
            headers["Content-Type"] = media
        parameters = {name: _plain(value) for name, value in (query or {}).items() if value is not None}
        return _Request(method, path, parameters, content, headers)

    def should_repeat(self, response: httpx.Response, attempt: int) -> bool:
        """Whether the same request may get another answer, and this attempt was not the last."""
        if attempt + 1 >= self.retry.attempts:
            return False
        if response.status_code == 409:
            return problem_of(response).code == _IN_FLIGHT
        return response.status_code in _AGAIN


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value).lower() if isinstance(value, bool) else value


def _headers(token: str) -> dict[str, str]:
    if not (token and token.isascii() and token.isprintable()):
        raise DistilleryError(
            "This is not a token: a token begins with dst_ and has only letters, digits, - and _."
        )
    return {"Authorization": f"Bearer {token}", "User-Agent": f"distillery-client/{VERSION}"}


def _read(kind: Any, response: httpx.Response) -> Any:
    try:
        return TypeAdapter(kind).validate_json(response.content)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        if faults[0]["type"] == "json_invalid":
            raise unlike_the_api(response) from error
        place = ".".join(str(part) for part in faults[0]["loc"])
        raise ApiError(
            response.status_code,
            "other_fields",
            f"{response.request.url.path} answered with other fields than this client ({VERSION}) knows: "
            f"{place}: {faults[0]['msg']}. Client and installation may differ in version.",
        ) from error


def _row(line: str, response: httpx.Response, before: int) -> dict[str, Any]:
    try:
        row: dict[str, Any] = json.loads(line)
    except ValueError as error:
        if before:
            raise _broken_off(response.request.url.path, before, "half a row came") from error
        raise unlike_the_api(response) from error
    return row


def _is_removed(request: _Request, response: httpx.Response, attempt: int) -> bool:
    """Whether an earlier attempt, whose reply was lost, has removed what is to be removed."""
    return request.method == "DELETE" and attempt > 0 and response.status_code == httpx.codes.NOT_FOUND


def _broken_off(path: str, count: int, why: str) -> BrokenOffError:
    return BrokenOffError(f"{path} broke off after {count:,} rows: {why}. Ask for them again.")


def silent(url: str, error: httpx.RequestError) -> UnreachableError:
    """What is raised after the last attempt."""
    return UnreachableError(f"{url} does not answer: {error or type(error).__name__}")


def _checked_url(url: str) -> str:
    """The address without a stroke at its end; DistilleryError where it is none."""
    try:
        parsed = httpx.URL(url)
        is_web = parsed.scheme in ("http", "https") and bool(parsed.host)
    except httpx.InvalidURL:
        is_web = False
    if not is_web:
        raise DistilleryError(
            f"{url!r} is no address of an installation; it begins with https:// or http://."
        )
    return url.rstrip("/")


class Sender(_Common):
    """Sends and waits."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout_s: float = 60,
        retry: RetryPolicy | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.url, self.token, self.retry = _checked_url(url), token.strip(), retry or RetryPolicy()
        self._http = httpx.Client(
            base_url=self.url, headers=_headers(self.token), timeout=timeout_s, transport=transport
        )

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _send(self, kind: type[Answer], method: str, path: str, **arguments: Any) -> Answer:
        answer: Answer = _read(kind, self._ask(self._request(method, path, **arguments)))
        return answer

    def _send_or_none(self, kind: type[Answer], method: str, path: str, **arguments: Any) -> Answer | None:
        response = self._ask(self._request(method, path, **arguments))
        if response.status_code == 204 or response.content == b"null":
            return None
        answer: Answer = _read(kind, response)
        return answer

    def _send_nothing(self, method: str, path: str, **arguments: Any) -> None:
        self._ask(self._request(method, path, **arguments))

    def _bytes(self, method: str, path: str, **arguments: Any) -> bytes:
        return self._ask(self._request(method, path, **arguments)).content

    def _lines(self, method: str, path: str, **arguments: Any) -> Iterator[dict[str, Any]]:
        """Rows of a stream, one at a time; asked for again until the first one came, and not after that."""
        request, count, attempt = self._request(method, path, **arguments), 0, 0
        request.headers["Accept"] = "application/jsonl"
        while True:
            pause = self.retry.pause_after(attempt, {})
            sent = self._http.stream(method, path, params=request.query, headers=request.headers)
            try:
                with sent as response:
                    if response.is_success:
                        for line in response.iter_lines():
                            if line:
                                yield _row(line, response, count)
                                count += 1
                        return
                    response.read()
                    if not self.should_repeat(response, attempt):
                        raise problem_of(response)
                    pause = self.retry.pause_after(attempt, response.headers)
            except httpx.RequestError as error:
                if count:
                    raise _broken_off(path, count, str(error) or type(error).__name__) from error
                if attempt + 1 >= self.retry.attempts:
                    raise silent(self.url, error) from error
            time.sleep(pause)
            attempt += 1

    def stream(self, path: str, headers: Mapping[str, str]) -> AbstractContextManager[httpx.Response]:
        """A GET whose body is read by the caller."""
        return self._http.stream("GET", path, headers=dict(headers))

    def _ask(self, request: _Request) -> httpx.Response:
        attempt = 0
        while True:
            try:
                response = self._http.request(
                    request.method,
                    request.path,
                    params=request.query,
                    content=request.content,
                    headers=request.headers,
                )
            except httpx.RequestError as error:
                if attempt + 1 >= self.retry.attempts:
                    raise silent(self.url, error) from error
                pause = self.retry.pause_after(attempt, {})
            else:
                if response.is_success or _is_removed(request, response, attempt):
                    return response
                if not self.should_repeat(response, attempt):
                    raise problem_of(response)
                pause = self.retry.pause_after(attempt, response.headers)
            time.sleep(pause)
            attempt += 1


class AsyncSender(_Common):
    """The same, for asyncio."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout_s: float = 60,
        retry: RetryPolicy | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.url, self.token, self.retry = _checked_url(url), token.strip(), retry or RetryPolicy()
        self._http = httpx.AsyncClient(
            base_url=self.url, headers=_headers(self.token), timeout=timeout_s, transport=transport
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _send(self, kind: type[Answer], method: str, path: str, **arguments: Any) -> Answer:
        answer: Answer = _read(kind, await self._ask(self._request(method, path, **arguments)))
        return answer

    async def _send_or_none(
        self, kind: type[Answer], method: str, path: str, **arguments: Any
    ) -> Answer | None:
        response = await self._ask(self._request(method, path, **arguments))
        if response.status_code == 204 or response.content == b"null":
            return None
        answer: Answer = _read(kind, response)
        return answer

    async def _send_nothing(self, method: str, path: str, **arguments: Any) -> None:
        await self._ask(self._request(method, path, **arguments))

    async def _bytes(self, method: str, path: str, **arguments: Any) -> bytes:
        return (await self._ask(self._request(method, path, **arguments))).content

    async def _lines(self, method: str, path: str, **arguments: Any) -> AsyncIterator[dict[str, Any]]:
        """Rows of a stream, one at a time; asked for again until the first one came, and not after that."""
        request, count, attempt = self._request(method, path, **arguments), 0, 0
        request.headers["Accept"] = "application/jsonl"
        while True:
            pause = self.retry.pause_after(attempt, {})
            sent = self._http.stream(method, path, params=request.query, headers=request.headers)
            try:
                async with sent as response:
                    if response.is_success:
                        async for line in response.aiter_lines():
                            if line:
                                yield _row(line, response, count)
                                count += 1
                        return
                    await response.aread()
                    if not self.should_repeat(response, attempt):
                        raise problem_of(response)
                    pause = self.retry.pause_after(attempt, response.headers)
            except httpx.RequestError as error:
                if count:
                    raise _broken_off(path, count, str(error) or type(error).__name__) from error
                if attempt + 1 >= self.retry.attempts:
                    raise silent(self.url, error) from error
            await asyncio.sleep(pause)
            attempt += 1

    def stream(self, path: str, headers: Mapping[str, str]) -> AbstractAsyncContextManager[httpx.Response]:
        """A GET whose body is read by the caller."""
        return self._http.stream("GET", path, headers=dict(headers))

    async def _ask(self, request: _Request) -> httpx.Response:
        attempt = 0
        while True:
            try:
                response = await self._http.request(
                    request.method,
                    request.path,
                    params=request.query,
                    content=request.content,
                    headers=request.headers,
                )
            except httpx.RequestError as error:
                if attempt + 1 >= self.retry.attempts:
                    raise silent(self.url, error) from error
                pause = self.retry.pause_after(attempt, {})
            else:
                if response.is_success or _is_removed(request, response, attempt):
                    return response
                if not self.should_repeat(response, attempt):
                    raise problem_of(response)
                pause = self.retry.pause_after(attempt, response.headers)
            await asyncio.sleep(pause)
            attempt += 1


__all__ = ["ApiError", "AsyncSender", "RetryPolicy", "Sender"]
