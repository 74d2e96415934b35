"""Errors of the client.

DistilleryError
├── ApiError               the installation refused a request, with a problem of RFC 9457
│   ├── TokenError         401: no token came, or one that is not valid
│   ├── ForbiddenError     403: the token lacks a scope, or its person a role
│   ├── NotFoundError      404: it is not there, or not for this person
│   ├── ConflictError      409: not possible in the present state
│   ├── ChangedError       412, 428: it was changed since it was read
│   ├── InvalidError       400, 413, 422: what was sent is wrong; `errors` by field
│   ├── RateLimitError     429: too many requests, also after all attempts
│   ├── ServerError        500 and above, also after all attempts
│   └── JobFailedError     a job that was waited for failed or was cancelled
├── WaitTimeoutError       what was waited for did not come in time; it is a TimeoutError, too
└── UnreachableError       nothing answered, after all attempts
    └── BrokenOffError     a stream of rows ended before its end

`str(error)` has the sentence, what is wrong by field, and the request id for a report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import httpx


class DistilleryError(Exception):
    """Base of all errors of the client."""


class UnreachableError(DistilleryError):
    """Nothing answered."""


class BrokenOffError(UnreachableError):
    """Some rows came, then the connection was lost."""


class WaitTimeoutError(DistilleryError, TimeoutError):
    """What was waited for did not come in time; it goes on at the installation.

    `missing` is what was still missing, `job` the id of the job, if it was one.
    """

    def __init__(self, message: str, *, missing: str = "", job: int | None = None) -> None:
        self.missing, self.job = missing, job
        super().__init__(message)


class ApiError(DistilleryError):
    """A request was refused: `code` for programs, `detail` for people, `errors` by field."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        errors: Mapping[str, Sequence[str]] | None = None,
        request_id: str = "",
    ) -> None:
        self.status, self.code, self.detail = status, code, detail
        self.errors = {field: list(sentences) for field, sentences in (errors or {}).items()}
        self.request_id = request_id
        super().__init__(self._compose_message())

    def _compose_message(self) -> str:
        lines = [f"{self.detail} ({self.status} {self.code})"]
        for field, sentences in self.errors.items():
            lines += [f"  {field}: {each}" for each in sentences if f"{field}: {each}" not in self.detail]
        if self.request_id and self.status >= 500:
            lines.append(f"  Request id, for a report: {self.request_id}")
        return "\n".join(lines)


class TokenError(ApiError):
    """No token came, or one that is not valid."""


class ForbiddenError(ApiError):
    """The token lacks a scope, or its person a role."""


class NotFoundError(ApiError):
    """It is not there, or not for this person."""


class ConflictError(ApiError):
    """Not possible in the present state."""


class ChangedError(ApiError):
    """It was changed since it was read: read it again, then change it."""


class InvalidError(ApiError):
    """What was sent is wrong; `errors` has sentences by field."""


class RateLimitError(ApiError):
    """Too many requests came with this token, also after all attempts."""


class ServerError(ApiError):
    """The installation could not answer, also after all attempts."""


class JobFailedError(ApiError):
    """A job came to no result."""


_BY_STATUS: dict[int, type[ApiError]] = {
    400: InvalidError,
    401: TokenError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    412: ChangedError,
    413: InvalidError,
    422: InvalidError,
    428: ChangedError,
    429: RateLimitError,
}


def error_of(status: int) -> type[ApiError]:
    """The class of errors of a status."""
    return _BY_STATUS.get(status, ServerError if status >= 500 else ApiError)


def problem_of(response: httpx.Response) -> ApiError:
    """What a refusal says; also one that no installation wrote, such as a proxy's page."""
    try:
        problem = response.json()
        errors = problem.get("errors") or {}
        return error_of(response.status_code)(
            response.status_code,
            str(problem["code"]),
            str(problem["detail"]),
            errors={str(field): [str(each) for each in sentences] for field, sentences in errors.items()},
            request_id=str(problem.get("request_id", "")),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return unlike_the_api(response)


def unlike_the_api(response: httpx.Response) -> ApiError:
    """An answer that no installation gives: the address is another site's, or something is in between."""
    url = response.request.url
    status = f"{response.status_code} {response.reason_phrase}".strip()
    message = f"{url.copy_with(query=None)} answered {status}, but not as the API of an installation does. "
    if response.has_redirect_location:
        message += f"It leads to {response.headers['Location']}. "
    if response.status_code >= 500:
        return ServerError(
            response.status_code, "not_the_api", f"{message}A proxy in front of it may be down."
        )
    return ApiError(response.status_code, "not_the_api", f"{message}Is the address right?")
