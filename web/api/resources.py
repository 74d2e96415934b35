"""Operations of one resource: each says what it asks of the caller, and the schema says it too.

    stages = Resource("Stages")

    @stages.get("/projects/{project}/stages", scopes=[Scope.READ], role=Role.VIEWER)
    def list_stages(request: ApiRequest, project: str, paging: Query[PageRequest]) -> Page[StageOut]: …

A view returns the model that its annotation names, or a response that is ready (streams). The permission
is checked before a byte of the body is read. A POST may come with an Idempotency-Key: then effect and reply
are one transaction, and the reply is kept. `atomic=False` is for services with transactions of their own,
which may be called again where they stopped.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from difflib import get_close_matches
from functools import wraps
from types import UnionType
from typing import Annotated, Any, Self, TypeVar, get_args, get_origin, get_type_hints

from django.db import transaction
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from ninja import Router
from pydantic import BaseModel, PrivateAttr

from core.api.idempotency import (
    KeyInFlightError,
    KeyReusedError,
    StoredReply,
    claim_key,
    digest_of,
    give_up,
    keep_reply,
)
from core.api.models import Scope
from core.revisions import ShownColumns, ShownValues, mark_of
from web.api import problems
from web.api.access import ApiRequest, Permission
from web.api.bodies import lines_of
from web.api.problems import ProblemError

# ETag and If-Match: a change is made to what its sender read, or not at all.

IF_MATCH = "If-Match"


class RevisedModel(BaseModel):
    """A model whose answer carries an ETag."""

    _headers: Mapping[str, str] = PrivateAttr(default_factory=dict)

    def marked(self, row: Model, columns: Iterable[str]) -> Self:
        """Itself, with the ETag of these columns of the row."""
        return self.with_mark(mark_of(row, columns))

    def with_mark(self, mark: str) -> Self:
        """Itself, with the ETag of this mark."""
        self._headers = {"ETag": f'"{mark}"'}
        return self


def seen_columns(request: HttpRequest, columns: Iterable[str]) -> ShownColumns:
    """What the sender read, by If-Match; 428 without one. Services check it in the transaction that saves."""
    return ShownColumns(tuple(columns), _given_mark(request))


def seen_values(request: HttpRequest) -> ShownValues:
    """The same of something that lies in several rows."""
    return ShownValues(_given_mark(request))


def _given_mark(request: HttpRequest) -> str:
    mark = request.headers.get(IF_MATCH, "").strip()
    if not mark:
        raise ProblemError(
            428, "if_match_missing", f"Send {IF_MATCH} with the ETag under which you read these settings."
        )
    return mark.removeprefix("W/").strip('"')


View = TypeVar("View", bound=Callable[..., Any])
KEY_HEADER = "Idempotency-Key"
_LONGEST_KEY = 200
_READING = frozenset({"GET"})
#: Statuses that any operation may answer with, and those of writing ones beside them.
ALWAYS, OF_WRITES = (400, 401, 403, 404, 422, 429, 503), (409, 413)
_KEPT_HEADERS = ("Location", "ETag")
_CREATED, _NO_CONTENT = 201, 204


#: Names of the query parameters of each operation, by its operationId.
PARAMETERS: dict[str, list[str]] = {}
#: Fields that addresses name a thing by, the first that it has.
_ADDRESSED_BY = ("slug", "id", "name")
#: Addresses of operations that read one thing of a list.
_THINGS: set[str] = set()


class Resource:
    """A group of operations under one heading; `permission` is the class that knows its addresses."""

    def __init__(self, title: str, *, permission: type[Permission] = Permission) -> None:
        self.title, self.permission = title, permission
        self.router = Router(tags=[title])

    def get(self, path: str, *, scopes: Sequence[Scope], role: str, **more: Any) -> Callable[[View], View]:
        """An operation that changes nothing."""
        return self._operation("GET", path, scopes, role, **more)

    def post(
        self, path: str, *, scopes: Sequence[Scope], role: str, status: int = 200, **more: Any
    ) -> Callable[[View], View]:
        """An operation that makes or does something; it takes an Idempotency-Key."""
        return self._operation("POST", path, scopes, role, status=status, **more)

    def put(self, path: str, *, scopes: Sequence[Scope], role: str, **more: Any) -> Callable[[View], View]:
        """An operation that has something be so; a repetition changes nothing."""
        return self._operation("PUT", path, scopes, role, **more)

    def patch(self, path: str, *, scopes: Sequence[Scope], role: str, **more: Any) -> Callable[[View], View]:
        """An operation that changes some fields; with `revised` it asks for If-Match."""
        return self._operation("PATCH", path, scopes, role, **more)

    def delete(self, path: str, *, scopes: Sequence[Scope], role: str, **more: Any) -> Callable[[View], View]:
        """An operation that takes something away; it answers 204."""
        return self._operation("DELETE", path, scopes, role, status=_NO_CONTENT, **more)

    def _operation(
        self,
        method: str,
        path: str,
        scopes: Sequence[Scope],
        role: str,
        *,
        status: int = 200,
        atomic: bool = True,
        revised: bool = False,
        spends: bool = False,
        secret: bool = False,
        content: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        lines: type[BaseModel] | None = None,
    ) -> Callable[[View], View]:
        """Register a view.

        spends: where real money is, only owners may. secret: the reply holds one, and is kept sealed.
        content, body: what the schema says of an answer or body that no model describes, by media type.
        lines: what each line is where `Accept` asks a list for all its rows (`bodies.wants_lines`).
        """
        writes = method not in _READING
        statuses = (*ALWAYS, *(OF_WRITES if writes else ()), *((412, 428) if revised else ()))
        extra: dict[str, Any] = {
            "x-scopes": [scope.value for scope in scopes],
            "x-role": str(role),
            "security": [{"token": [scope.value for scope in scopes]}],
        }
        headers = [
            *([_KEY_PARAMETER] if method == "POST" else []),
            *([_MATCH_PARAMETER] if revised else []),
        ]
        if headers:
            extra["parameters"] = headers
        if spends:
            extra["x-spends"] = True
        # Told of them, django-ninja would make a model for each status of each operation: thousands.
        extra["responses"] = {problem: problems.describe(problem) for problem in statuses}
        if content is not None:
            extra["responses"][status] = {"description": "OK", "content": dict(content)}
        if lines is not None:
            extra["responses"][status] = {"content": lines_of(lines)}
        if body is not None:
            extra["requestBody"] = {"required": True, "content": dict(body)}
        permission = self.permission(scopes=scopes, role=role, writes=writes, spends=spends)

        def register(view: View) -> View:
            names = PARAMETERS[view.__name__] = _query_names(view, path)
            if method == "GET" and path.endswith("}"):
                _THINGS.add(path.rpartition("/")[0])
            response = _successes(get_type_hints(view).get("return"), status)
            self.router.api_operation(
                [method],
                path,
                auth=permission,
                response=response,
                operation_id=view.__name__,
                summary=_summary(view),
                description=_description(view),
                openapi_extra=extra,
            )(
                _answering(
                    view,
                    method,
                    status,
                    atomic=atomic,
                    secret=secret,
                    parameter_names=names,
                    path=path,
                )
            )
            return view

        return register


def _query_names(view: Callable[..., Any], path: str) -> list[str]:
    """Names that the address of an operation may have behind its question mark."""
    in_path = set(re.findall(r"{(?:\w+:)?(\w+)}", path))
    names: list[str] = []
    for name, hint in get_type_hints(view, include_extras=True).items():
        if name in ("request", "return") or name in in_path:
            continue
        kind, *marks = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
            names.append(name)
        elif marks:  # Query[Model]; a model without a mark is the body
            names += [field.alias or field_name for field_name, field in kind.model_fields.items()]
    return [name for name in names if name not in in_path]


def _refuse_unknown(request: HttpRequest, allowed: Sequence[str]) -> None:
    """A misspelt filter would give all rows: what is not known behind the question mark is refused."""
    for name in request.GET:
        if name not in allowed:
            close = get_close_matches(name, allowed, n=1, cutoff=0.5)
            there_are = f"Known here: {', '.join(allowed)}." if allowed else "This operation takes none."
            remedy = f"Did you mean {close[0]!r}?" if close else there_are
            raise ProblemError(422, "unknown_parameter", f"There is no parameter {name[:60]!r}. {remedy}")


def _successes(answer: Any, status: int) -> dict[int, Any]:
    """Models by status, from what a view says that it returns; None is no content."""
    answers: dict[int, Any] = {}
    for each in get_args(answer) if isinstance(answer, UnionType) else (answer,):
        if each is type(None):
            answers[_NO_CONTENT] = None
        else:
            is_model = isinstance(each, type) and issubclass(each, BaseModel)
            answers[status] = each if is_model else answers.get(status)
    return answers


def _summary(view: Callable[..., Any]) -> str:
    sentence = view.__name__.replace("_", " ")
    return sentence[:1].upper() + sentence[1:]


def _description(view: Callable[..., Any]) -> str:
    return inspect.cleandoc(view.__doc__ or "")


def _answering(
    view: Callable[..., Any],
    method: str,
    status: int,
    *,
    atomic: bool,
    secret: bool,
    parameter_names: Sequence[str],
    path: str,
) -> Callable[..., Any]:
    """The view as django-ninja calls it: once per Idempotency-Key, its model as JSON.

    `parameter_names` are the names of its query parameters; any other is refused. What is new at a `path`
    where one of its kind can be read comes with its address.
    """

    @wraps(view)
    def answer(request: ApiRequest, **values: Any) -> HttpResponseBase:
        _refuse_unknown(request, parameter_names)

        def act() -> HttpResponseBase:
            created = view(request, **values)
            response = _as_response(created, status)
            if response.status_code == _CREATED and path in _THINGS:
                name = next(getattr(created, field) for field in _ADDRESSED_BY if hasattr(created, field))
                response.headers["Location"] = f"{request.path}/{name}"
            return response

        if method != "POST":
            return act()
        with_effect = transaction.atomic if atomic else nullcontext
        if key := request.headers.get(KEY_HEADER, ""):
            return _once(request, key, act, with_effect, secret=secret)
        with with_effect():
            return act()

    return answer


def _as_response(answer: Any, status: int) -> HttpResponseBase:
    if isinstance(answer, HttpResponseBase):
        return answer
    if answer is None:
        return HttpResponse(status=_NO_CONTENT)
    headers = getattr(answer, "_headers", None)
    return HttpResponse(
        answer.model_dump_json(), content_type="application/json", status=status, headers=headers
    )


def _once(
    request: ApiRequest,
    key: str,
    act: Callable[[], HttpResponseBase],
    with_effect: Callable[[], AbstractContextManager[Any]],
    *,
    secret: bool,
) -> HttpResponseBase:
    """Act for the first request with a key, and give its reply to all others."""
    if len(key) > _LONGEST_KEY or not key.isprintable():
        raise ProblemError(
            400,
            "idempotency_key_invalid",
            f"{KEY_HEADER}: send at most {_LONGEST_KEY} characters.",
        )
    digest = digest_of(request.method or "", request.get_full_path(), request.body)
    try:
        claim = claim_key(user=request.caller.user, key=key, digest=digest)
        if isinstance(claim, StoredReply):
            return _reply_again(claim)
        with ExitStack() as undo:
            undo.callback(give_up, claim)
            with with_effect():
                response = act()
                keep_reply(claim, _reply_of(response), secret=secret)
            undo.pop_all()
        return response
    except KeyReusedError as error:
        raise ProblemError(
            422,
            "idempotency_key_reused",
            f"This {KEY_HEADER} came before with another request. Send a new one with each new request.",
        ) from error
    except KeyInFlightError as error:
        raise ProblemError(
            409,
            "idempotency_key_in_flight",
            f"The first request with this {KEY_HEADER} is not done yet. Send it again in a while.",
            headers={"Retry-After": str(error.wait_s)},
        ) from error


def _reply_of(response: HttpResponseBase) -> StoredReply:
    assert isinstance(response, HttpResponse), "a stream cannot be kept"
    headers = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
    return StoredReply(response.status_code, headers, response.content.decode())


def _reply_again(reply: StoredReply) -> HttpResponse:
    headers = {**reply.headers, "Idempotency-Replayed": "true"}
    return HttpResponse(reply.body, content_type="application/json", status=reply.status, headers=headers)


_KEY_PARAMETER = {
    "in": "header",
    "name": KEY_HEADER,
    "required": False,
    "schema": {"type": "string", "maxLength": _LONGEST_KEY, "minLength": 1},
    "description": "Your own text, new for each request; again within 7 days it gets the first reply.",
}
_MATCH_PARAMETER = {
    "in": "header",
    "name": IF_MATCH,
    "required": True,
    "schema": {"type": "string"},
    "description": "The ETag under which you read it.",
}
