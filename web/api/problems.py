"""Errors as RFC 9457 has them, with a code, sentences by field, and the request id."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django.core.exceptions import BadRequest, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from ninja.errors import HttpError
from ninja.errors import ValidationError as InvalidError
from pydantic import BaseModel, Field

from core.errors import ActionError, NameTakenError
from core.jobs.spans import HEADER, current_request_id
from core.revisions import ConflictError
from core.storage_outages import StorageUnavailableError

logger = logging.getLogger(__name__)
MEDIA_TYPE = "application/problem+json"


class ProblemDetails(BaseModel):
    """Why a request was refused. Nothing was changed."""

    type: str = Field(description="An address that names the kind of problem.")
    title: str = Field(description="The status in words.")
    status: int
    code: str = Field(description="The kind of problem, for programs.")
    detail: str = Field(description="What is wrong and what helps, for people.")
    errors: dict[str, list[str]] = Field(description="Sentences by field, `a.b.0` for nested ones.")
    request_id: str = Field(description="The same as in the header X-Request-Id; name it in a report.")


#: What it is called in the schema, and what each status means there.
NAME = ProblemDetails.__name__
_MEANINGS = {
    400: "The request cannot be read",
    401: "No valid token",
    403: "The token or its person may not do this",
    404: "Not there, or not for this person",
    409: "Not possible now, or the first request with this Idempotency-Key is under way",
    412: "Changed since it was read",
    413: "The body is too large",
    422: "Refused, with the reason by field",
    428: "If-Match is missing",
    429: "Too many requests",
    503: "Ask again later",
}


def describe(status: int) -> dict[str, Any]:
    """A refusal with this status, as the schema of an operation has it."""
    content = {MEDIA_TYPE: {"schema": {"$ref": f"#/components/schemas/{NAME}"}}}
    return {"description": _MEANINGS[status], "content": content}


@dataclass(frozen=True, slots=True)
class ProblemKind:
    """Status and code of an error."""

    status: int
    code: str


class ProblemError(Exception):
    """A refusal in the words of the API."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        errors: Mapping[str, Sequence[str]] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.kind, self.detail = ProblemKind(status, code), detail
        self.errors, self.headers = errors or {}, headers or {}
        super().__init__(detail)


#: Status and code by class of error, the nearest base counts; apps add theirs (`ApiPart`).
KINDS: dict[type[Exception], ProblemKind] = {
    ActionError: ProblemKind(422, "refused"),
    NameTakenError: ProblemKind(409, "slug_taken"),
    ConflictError: ProblemKind(412, "changed_since"),
    RequestDataTooBig: ProblemKind(413, "too_large"),
    StorageUnavailableError: ProblemKind(503, "storage_unavailable"),
    BadRequest: ProblemKind(400, "bad_request"),
    SuspiciousOperation: ProblemKind(400, "bad_request"),
}
_WORDS: dict[type[Exception], str] = {
    ConflictError: "This was changed since you read it. Read it again, then change it.",
    RequestDataTooBig: "The body is too large.",
    StorageUnavailableError: "The storage of files does not answer. Ask again later.",
    SuspiciousOperation: "This request cannot be read.",
}
_LATER_S = 5


def respond(problem: ProblemError) -> HttpResponse:
    """The answer that says it."""
    status, code = problem.kind.status, problem.kind.code
    details = ProblemDetails(
        type=f"urn:distillery:problem:{code}",
        title=HTTPStatus(status).phrase,
        status=status,
        code=code,
        detail=problem.detail,
        errors={field: list(sentences) for field, sentences in problem.errors.items()},
        request_id=current_request_id(),
    )
    headers = {**problem.headers, HEADER: details.request_id}
    response = HttpResponse(
        details.model_dump_json(), content_type=MEDIA_TYPE, status=status, headers=headers
    )
    # The problem says it all; Django would log each as an error of a page.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def of_ninja() -> tuple[type[Exception], ...]:
    """Errors for which django-ninja has answers of its own."""
    return (HttpError, InvalidError)


def handle(request: HttpRequest, error: Exception | type[Exception]) -> HttpResponse:
    """The answer to whatever went wrong."""
    return respond(problem_of(error() if isinstance(error, type) else error))


def problem_of(error: Exception) -> ProblemError:
    """An error as a problem; what was not expected is logged and becomes a 500."""
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, Http404):
        return ProblemError(404, "not_found", str(error) or "There is nothing at this address.")
    if isinstance(error, InvalidError):
        return _invalid(error)
    if isinstance(error, HttpError):
        return _unreadable(error)
    return _translate_error(error)


def _translate_error(error: Exception) -> ProblemError:
    for base in type(error).__mro__:
        if kind := KINDS.get(base):
            later = {"Retry-After": str(_LATER_S)} if kind.status == 503 else {}
            fields = {error.field: [str(error)]} if isinstance(error, NameTakenError) else {}
            message = _WORDS.get(base) or str(error)
            return ProblemError(kind.status, kind.code, message, errors=fields, headers=later)
    logger.error("A request of the API failed.", exc_info=error)
    return ProblemError(500, "internal", "Something went wrong here; the log has it under this request id.")


def _unreadable(error: HttpError) -> ProblemError:
    """What django-ninja says of a body that it cannot read."""
    cause = error.__cause__
    if isinstance(cause, RequestDataTooBig):
        return _translate_error(cause)
    message = f"The body is no JSON: {cause}." if isinstance(cause, ValueError) else str(error)
    return ProblemError(error.status_code, "malformed_json", message)


def _invalid(error: InvalidError) -> ProblemError:
    errors: dict[str, list[str]] = {}
    for each in error.errors:
        field = _field(each["loc"])
        errors.setdefault(field, []).append(_finding(each))
    name, sentences = next(iter(errors.items()))
    return ProblemError(422, "invalid", f"{name}: {sentences[0]}" if name else sentences[0], errors=errors)


def _field(location: Sequence[Any]) -> str:
    """The field as the sender knows it: without the part of the request and the name of our parameter."""
    source, *rest = location
    return ".".join(str(part) for part in (rest[1:] if source == "body" else rest[-1:] if rest else []))


#: Types of errors whose message by pydantic names our model's class.
_NO_OBJECT = ("model_type", "model_attributes_type", "dataclass_type")


def _finding(error: Mapping[str, Any]) -> str:
    if error.get("type") in _NO_OBJECT:
        return "Send a JSON object here, such as {}."
    message = str(error["msg"]).removeprefix("Value error, ")
    return message if message.endswith(".") else f"{message}."
