"""The audit log of a project: who did what, from where, by which way, chained by digests."""

from django.http import StreamingHttpResponse
from ninja import Query

from core.api.models import Scope
from core.origin import Owner
from web.api import audit as kit
from web.api.access import ApiRequest, Role, project_access
from web.api.audit import (
    AuditEntry,
    AuditFilter,
    AuditLine,
    AuditState,
    AuditVerification,
)
from web.api.pages import Page, PageRequest
from web.api.resources import Resource
from web.api.streams import lines_of

audit = Resource("Audit log")
_AT = "/projects/{project}/audit"


def _owner(request: ApiRequest) -> Owner:
    return Owner(Owner.Kind.PROJECT, project_access(request).project.pk)


@audit.get(_AT, scopes=[Scope.READ], role=Role.VIEWER)
def get_audit_state(request: ApiRequest, project: str) -> AuditState:
    """How far the log of a project is chained by digests, and what the nightly verification found."""
    return kit.audit_state(_owner(request))


@audit.get(f"{_AT}/entries", scopes=[Scope.READ], role=Role.VIEWER)
def list_audit_entries(
    request: ApiRequest, project: str, paging: Query[PageRequest], which: Query[AuditFilter]
) -> Page[AuditEntry]:
    """Who did what, from where and by which way, with the digest of each entry."""
    return kit.list_entries(_owner(request), paging, which)


@audit.get(f"{_AT}/entries.jsonl", scopes=[Scope.READ], role=Role.VIEWER, content=lines_of(AuditLine))
def export_audit_entries(
    request: ApiRequest, project: str, which: Query[AuditFilter]
) -> StreamingHttpResponse:
    """All entries of the filters in the order of the chain, one per line, with their digests."""
    return kit.export_entries(_owner(request), which)


@audit.post(f"{_AT}/verify", scopes=[Scope.READ], role=Role.VIEWER)
def verify_audit_log(request: ApiRequest, project: str) -> AuditVerification:
    """Compute every digest of the log again. Nothing is changed."""
    return kit.verify_log(_owner(request))
