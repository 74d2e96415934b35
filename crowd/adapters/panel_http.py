"""How panels are called over HTTP: calls, errors in whichever form they come, and what an answer proves."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import urllib3
from urllib3.exceptions import HTTPError

from crowd.adapters import base
from crowd.adapters.outcomes import GARBAGE, GATEWAY_PAUSE_S, SOMETHING_ELSE, describe_garbage, timed_pools

#: Seconds until a connection is made, and until the whole answer is there.
_CONNECT_S, _ANSWER_S = 5.0, 30.0
_LONGEST_PAUSE_S = 600.0

Document = dict[str, Any]


class NotFoundError(base.MarketplaceRefusedError):
    """What does not exist, or belongs to another account."""


class Refusal(str):
    """The sentence of an error answer, from whichever of its three forms it has."""

    __slots__ = ()

    @classmethod
    def read(cls, status: int, body: bytes) -> "Refusal":
        """`{"error": {"title", "detail"}}`, `{"message", "detail"}`, or whatever came instead."""
        try:
            document = json.loads(body)
        except ValueError:
            return cls(f"HTTP {status}: {body[:200].decode(errors='replace')}")
        error = document.get("error", document) if isinstance(document, dict) else document
        if not isinstance(error, dict):
            return cls(f"HTTP {status}: {error}")
        parts = [str(error.get("title") or error.get("message") or ""), _describe_detail(error.get("detail"))]
        return cls(": ".join(filter(None, parts)) or f"HTTP {status}")


def _describe_detail(detail: Any) -> str:
    if isinstance(detail, dict):
        return "; ".join(f"{field}: {_describe_detail(value)}" for field, value in detail.items())
    if isinstance(detail, list):
        return ", ".join(map(_describe_detail, detail))
    return "" if detail is None else str(detail)


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer: its status, its bytes and the headers that matter."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    def document(self) -> Any:
        """The JSON of the body; raises MarketplaceDownError where it is none."""
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise base.MarketplaceDownError(SOMETHING_ELSE) from error

    def is_refusal(self) -> bool:
        """Whether this is the panel's own no: a page of something between here and there is none."""
        if not 400 <= self.status < 500 or self.status in (408, 429):
            return False
        try:
            return isinstance(json.loads(self.body), dict | list)
        except ValueError:
            return False

    def pause(self) -> float:
        """Seconds to wait after "too many calls"; Retry-After may also be a date, which is not read."""
        retry_after = self.headers.get("Retry-After", "")
        return min(float(retry_after), _LONGEST_PAUSE_S) if retry_after.isdecimal() else GATEWAY_PAUSE_S


class PanelClient:
    """Calls to one account: how a call becomes an answer, a refusal, or nothing that can be relied on."""

    def __init__(self, *, url: str, headers: Mapping[str, str]) -> None:
        self.url = url.rstrip("/")
        self._headers = {"Accept": "application/json", "Content-Type": "application/json", **headers}
        self._pool = urllib3.PoolManager(
            maxsize=16,
            retries=False,
            timeout=urllib3.Timeout(connect=_CONNECT_S, read=_ANSWER_S),
        )
        self._pool.pool_classes_by_scheme = timed_pools(_ANSWER_S)

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One call, made once. Raises urllib3's HTTPError where no answer came."""
        address = f"{self.url}{path}"
        if query:
            address = f"{address}?{urlencode(query)}"
        raw = None if body is None else json.dumps(body).encode()
        answer = self._pool.request(
            method, address, body=raw, headers={**self._headers, **(headers or {})}, redirect=False
        )
        return Answer(answer.status, answer.data, answer.headers)

    def read(self, path: str, **query: Any) -> Any:
        """What a GET answers. Raises MarketplaceRefusedError for a clear no, else MarketplaceDownError."""
        return self.ask("GET", path, query=query).document()

    def ask(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> Answer:
        """The answer of a call that changes nothing of worth; raises as `read` does."""
        try:
            answer = self.call(method, path, query=query, body=body)
        except HTTPError as error:
            raise base.MarketplaceDownError(f"{type(error).__name__}: {error}") from error
        if 200 <= answer.status < 300:
            return answer
        refusal = Refusal.read(answer.status, answer.body)
        if answer.is_refusal():
            kind = NotFoundError if answer.status == 404 else base.MarketplaceRefusedError
            raise kind(f"{answer.status}: {refusal}")
        raise base.MarketplaceDownError(f"{answer.status}: {refusal}")

    def change(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        ref: str = "id",
        is_made: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> base.Outcome[str]:
        """What a call that changes something came to; the reference is the answer's field `ref`.

        Where something `is_made`, an answer without its reference says nothing.
        """
        try:
            answer = self.call(method, path, body=body, headers=headers)
        except HTTPError as error:
            return base.Unknown(f"{type(error).__name__}: {error}")
        if 200 <= answer.status < 300:
            return self._success(answer, ref, is_made=is_made)
        refusal = Refusal.read(answer.status, answer.body)
        if answer.status == 429:
            return base.CallThrottling(answer.pause())
        if not answer.is_refusal():
            return base.Unknown(f"{answer.status}: {refusal}")
        return base.CallRefusal(
            "AWS.NotAuthorized" if answer.status in (401, 403) else str(answer.status), refusal
        )

    def _success(self, answer: Answer, ref: str, *, is_made: bool) -> base.Outcome[str]:
        try:
            document = json.loads(answer.body) if answer.body.strip() else {}
        except GARBAGE as error:
            return base.Unknown(describe_garbage(error))
        raw = document if isinstance(document, dict) else {"answer": document}
        if is_made and not raw.get(ref):
            return base.Unknown(SOMETHING_ELSE)
        return base.CallSuccess(str(raw.get(ref, "")), raw)
