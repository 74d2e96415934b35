"""Errors of the client.

DistilleryError
├── ApiError           the installation refused a request, with a problem of RFC 9457
│   └── JobFailedError a job that was waited for failed or was cancelled
└── UnreachableError   nothing answered, after all attempts
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import httpx


class DistilleryError(Exception):
    """Base of all errors of the client."""


class UnreachableError(DistilleryError):
    """Nothing answered."""


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
        self.errors, self.request_id = dict(errors or {}), request_id
        super().__init__(f"{detail} ({status} {code})")


class JobFailedError(ApiError):
    """A job came to no result."""


def problem_of(response: httpx.Response) -> ApiError:
    """What a refusal says; also one that no installation wrote, such as a proxy's page."""
    try:
        found = response.json()
        return ApiError(
            response.status_code,
            str(found["code"]),
            str(found["detail"]),
            errors=found.get("errors"),
            request_id=str(found.get("request_id", "")),
        )
    except (ValueError, KeyError, TypeError):
        return unlike_the_api(response)


def unlike_the_api(response: httpx.Response) -> ApiError:
    """An answer that no installation gives: the address is another site's, or something is in between."""
    url = response.request.url
    status = f"{response.status_code} {response.reason_phrase}".strip()
    words = f"{url.copy_with(query=None)} answered {status}, but not as the API of an installation does. "
    return ApiError(response.status_code, "not_the_api", f"{words}Is the address right?")
