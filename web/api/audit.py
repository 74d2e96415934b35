"""The audit log of projects and of requesters by the API."""

from typing import Annotated, Any

from django.db.models import Q, QuerySet
from django.http import StreamingHttpResponse
from ninja import Query
from pydantic import BaseModel, Field

from core.api.models import Scope
from core.audit.chain import AuditSource, chain_of, export_lines, sources
from core.audit.models import AuditCheckpoint, AuditLink
from core.audit.tasks import last_faults
from core.origin import Owner, Via
from web.api.access import ApiRequest, Role
from web.api.bodies import LINES, wants_lines
from web.api.fields import Moment, OneOf, Time
from web.api.owners import OWNER, AtOwner, OwnerPermission, owner_place
from web.api.pages import Page, PageRequest, page_of
from web.api.resources import Resource


class AuditFilter(BaseModel):
    """Which entries; filters that are left out take all."""

    action: str = Field("", max_length=60, description="Such as stage.opened.")
    via: Annotated[str, OneOf(Via)] | None = Field(None, description="By which way it was done.")
    who: str = Field("", max_length=150, description="User name, as it is written.")
    about: str = Field("", max_length=200, description="Words of what it was done to.")
    since: Moment | None = Field(None, description="Entries from this time on.")
    until: Moment | None = Field(None, description="Entries before this time.")


class AuditEntry(BaseModel):
    """One thing that was done; an entry is never changed."""

    id: int
    number: int | None = Field(description="Its place in the chain; null: sealed within a minute.")
    digest: str | None = Field(description="SHA-256 of the digest before it and its own record.")
    at: Time
    who: str = Field(description="User name or credential; empty: the system.")
    action: str
    what: str = Field(description="The action, for people.")
    subject: str
    details: Any
    address: str
    via: str = Field(description="page, api, job …; empty: not noted.")
    credential: str = Field(description="Name of the key or token, never its secret.")
    request_id: str


class AuditState(BaseModel):
    """How far a log is chained, and what the last verification of all logs found."""

    length: int = Field(description="Entries in the chain.")
    head: str = Field(description="The last digest.")
    began_at: Time | None = Field(description="Older entries were brought into the chain then, as they were.")
    pruned: int = Field(description="Entries up to this number were deleted, by the operator's settings.")
    pruned_at: Time | None
    why_pruned: str
    verified_on: str | None = Field(description="Day of the last nightly verification; null: none yet.")
    faults: list[str] = Field(description="What it found in this log.")


class AuditLine(BaseModel):
    """A line of the export: the record that was digested, its digest, and words for people."""

    record: dict[str, Any]
    digest: str = Field("", description="Left out where the entry is not sealed yet.")
    sealed_at: str = ""
    before_chain: bool = Field(False, description="It was brought into the chain when that began.")
    who: str
    what: str


audit = Resource("Audit log", permission=OwnerPermission)


@audit.get(f"{OWNER}/audit", scopes=[Scope.READ], role=Role.VIEWER)
def get_audit_state(request: ApiRequest, of: AtOwner) -> AuditState:
    """How far the log is chained by digests, and what the nightly verification found."""
    at = owner_place(request).owner
    chain, last = chain_of(at), last_faults()
    name = f"{at.kind} {at.pk}: "
    faults = [each.removeprefix(name) for each in last[1] if each.startswith(name)] if last else []
    point = AuditCheckpoint.objects.filter(chain=chain).order_by("-number").first() if chain else None
    return AuditState(
        length=chain.length if chain else 0,
        head=chain.head if chain else "",
        began_at=chain.began_at if chain else None,
        pruned=point.number if point else 0,
        pruned_at=point.made_at if point else None,
        why_pruned=point.why if point else "",
        verified_on=last[0] if last else None,
        faults=faults,
    )


@audit.get(f"{OWNER}/audit/entries", scopes=[Scope.READ], role=Role.VIEWER, lines=AuditLine)
def list_audit_entries(
    request: ApiRequest,
    of: AtOwner,
    paging: Query[PageRequest],
    which: Query[AuditFilter],
) -> Page[AuditEntry] | StreamingHttpResponse:
    """Who did what, from where and by which way, with the digest of each entry.

    As lines, entries are in the order of the chain.
    """
    at = owner_place(request).owner
    source = sources()[at.kind]
    rows = _rows(source, at, which)
    if wants_lines(request):
        return StreamingHttpResponse(export_lines(at, rows), content_type=LINES)
    if source.related:
        rows = rows.select_related(*source.related)
    page = page_of(rows, paging, key=("pk",), within=(at.kind, at.pk, which.model_dump_json()))
    audit_links = AuditLink.objects.filter(kind=at.kind, row__in=[row.pk for row in page.items])
    links = {link.row: link for link in audit_links}
    items = [_describe(source, row, links.get(row.pk)) for row in page.items]
    return Page(items=items, next=page.next)


def _rows(source: AuditSource, owner: Owner, which: AuditFilter) -> QuerySet[Any]:
    rows = source.model._default_manager.filter(**{source.owner: owner.pk})
    if which.action:
        rows = rows.filter(action=which.action)
    if which.via is not None:
        rows = rows.filter(via=which.via)
    if which.who:
        rows = rows.filter(Q(actor__username=which.who) if "actor" in source.related else Q(actor=which.who))
    if which.about:
        rows = rows.filter(subject__icontains=which.about)
    if which.since is not None:
        rows = rows.filter(at__gte=which.since)
    if which.until is not None:
        rows = rows.filter(at__lt=which.until)
    return rows


def _describe(source: AuditSource, row: Any, link: AuditLink | None) -> AuditEntry:
    record = source.record(row) | source.describe(row)
    return AuditEntry(
        **{name: record[name] for name in _SAME},
        id=row.pk,
        at=row.at,
        number=link.number if link else None,
        digest=link.digest if link else None,
    )


_SAME = ("who", "action", "what", "subject", "details", "address", "via", "credential", "request_id")
