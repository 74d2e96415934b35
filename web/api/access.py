"""Who asks, and whether they may: the token, its scopes, and what its person may do in the project."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest

from core.accounts import security
from core.api.models import ApiToken, Scope
from core.api.tokens import note_use, read_token
from core.projects.models import Membership
from core.projects.selectors import may_have_projects, project_for
from core.rates import limits
from web.access import ProjectAccess
from web.api.problems import ProblemError

Role = Membership.Role
#: For operations outside of projects: any token, or members of some project and staff.
ACCOUNT, MEMBER = "account", "member"
_RANK = {Role.VIEWER: 0, Role.MANAGER: 1, Role.OWNER: 2}
#: Requests at once, in seconds of the rate.
BURST_S = 2


@dataclass(slots=True)
class Caller:
    """The person whose token came, and where they are: at a project, at what else an app has, or at none."""

    token: ApiToken
    user: User
    access: ProjectAccess | None = None
    place: object = None


class ApiRequest(HttpRequest):
    """A request whose permission was checked."""

    caller: Caller


def project_access(request: ApiRequest) -> ProjectAccess:
    """The caller at the project that the address names."""
    access = request.caller.access
    assert access is not None, "the address names no project"
    return access


def authenticate(request: HttpRequest) -> Caller:
    """Whose token it is; 401 without a valid one, 429 for one that asks too often."""
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    challenge = {"WWW-Authenticate": 'Bearer realm="distillery"'}
    if not scheme:
        raise ProblemError(
            401, "token_missing", "Send a token: Authorization: Bearer dst_…", headers=challenge
        )
    return admit(
        text.strip() if scheme.lower() == "bearer" else "", address=security.address_of(request.META)
    )


def admit(text: str, *, address: str) -> Caller:
    """Whose token this text is; 401 where it works no more, 429 for one that asks too often."""
    token = read_token(text)
    if token is None:
        raise ProblemError(
            401,
            "token_invalid",
            "There is no such token, or it has ended. Make one in your settings, or with `api-token create`.",
            headers={"WWW-Authenticate": 'Bearer realm="distillery", error="invalid_token"'},
        )
    _count(token)
    note_use(token, address=address)
    return Caller(token, token.user)


def _count(token: ApiToken) -> None:
    rate = settings.API_REQUESTS_PER_SECOND
    if not rate:
        return
    wait = limits().take(f"api:{token.pk}", rate=rate, burst=rate * BURST_S)
    if wait:
        seconds = math.ceil(wait)
        raise ProblemError(
            429,
            "too_many_requests",
            f"More than {rate} requests per second came with this token. Wait {seconds} s.",
            headers={"Retry-After": str(seconds), "RateLimit": f'"token";r=0;t={seconds}'},
        )


def check_scopes(caller: Caller, scopes: Collection[Scope]) -> None:
    """Refuse a token that lacks one of the scopes, with a ProblemError that names it."""
    missing = [scope for scope in scopes if scope not in caller.token.scopes]
    if missing:
        raise ProblemError(
            403, "scope_missing", f"This token lacks the scope {missing[0].value!r}. Make one that has it."
        )


class Permission:
    """What an operation asks for; django-ninja calls it before it reads the request."""

    def __init__(self, *, scopes: Collection[Scope], role: str, writes: bool, spends: bool = False) -> None:
        self.scopes, self.role, self.writes, self.spends = tuple(scopes), role, writes, spends

    def __call__(self, request: Any) -> Caller:
        """The caller, who may; else a ProblemError, or Http404 for what they do not see."""
        caller = authenticate(request)
        request.caller = caller
        check_scopes(caller, self.scopes)
        self.check_place(request, caller, request.resolver_match.kwargs)
        return caller

    def check_place(self, request: Any, caller: Caller, parts: dict[str, Any]) -> None:
        """Find the project that the address names, and compare the role."""
        if self.role in (ACCOUNT, MEMBER):
            self._check_person(caller)
            return
        bound = caller.token.project_id
        project, role = project_for(caller.user, parts["project"])
        if bound is not None and bound != project.pk:
            raise Http404("There is no such project.")
        if _RANK[Role(role)] < _RANK[Role(self.role)]:
            security.log("role.refused", project=project.slug, path=request.path)
            raise ProblemError(403, "role_missing", f"This is for people who are {self.role} of the project.")
        caller.access = ProjectAccess(caller.user, project, role)

    def _check_person(self, caller: Caller) -> None:
        if self.writes and caller.token.project_id is not None:
            raise ProblemError(
                403, "token_bound", "This token opens one project only; this is outside of it."
            )
        if self.role == MEMBER and not may_have_projects(caller.user):
            raise ProblemError(403, "role_missing", "This is for members of projects and for staff.")
