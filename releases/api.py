"""Operations of the API about releases: what would go in, privacy, builds, files."""

from typing import Any, Literal
from uuid import uuid4

from django.http import Http404
from django.http.response import HttpResponseBase
from ninja import Query as InQuery
from pydantic import BaseModel, ConfigDict, Field

from core.api.models import Scope
from releases import download_files, selectors, services
from releases.build import begin, begin_again, look_for_findings
from releases.errors import ReleaseError
from releases.models import PrivacyFinding, Release
from releases.options import Options
from releases.privacy import accept_findings, redact_findings, reopen_findings
from web.access import ProjectAccess
from web.api.access import ApiRequest, Role, project_access
from web.api.bodies import JobRef
from web.api.fields import Body, Id, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.problems import ProblemError, ProblemKind
from web.api.resources import Resource

# Releases: built by a job, described, downloaded, shown, withdrawn.

releases = Resource("Releases")
_FILE: dict[str, Any] = {"*/*": {"schema": {}}}
_ARCHIVE = {"application/zip": {"schema": {"type": "string", "format": "binary"}}}


class ReleaseOut(BaseModel):
    """One version of the data set; once it is ready it never changes."""

    version: str
    state: str = Field(description="building, ready, failed, withdrawn.")
    notes: str
    digest: str = Field(description="SHA-256 of the manifest, which names the digest of each file.")
    bytes: int
    simulated: bool = Field(description="Simulated workers took part.")
    imported: bool = Field(description="Its human scores come from elsewhere.")
    public: bool = Field(description="It has a page that needs no log-in.")
    error: str = Field(description="Why it could not be built.")
    job: int | None = Field(description="The job that builds it.")
    created_by: str | None
    created_at: Time
    built_at: Time | None
    withdrawn_at: Time | None
    withdrawn_reason: str


class ReleaseFileOut(BaseModel):
    """One file."""

    path: str
    bytes: int | None
    rows: int | None
    sha256: str
    format: str


class ReleaseDetails(ReleaseOut):
    """A release with its files and what it holds."""

    options: dict[str, Any]
    tables: list[dict[str, Any]] = Field(description="Rows of each table, by split.")
    files: list[ReleaseFileOut]


class ReleaseIn(Options):
    """What goes in and how; what is left out has its default."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: str = Field("", max_length=20, description="MAJOR.MINOR.PATCH. Empty: the next one.")
    notes: str = Field("", max_length=10_000, description="What is new in it.")


class ReleaseChanges(Body):
    """Who sees a release."""

    public: bool = Field(description="It has a page that needs no log-in.")


class WithdrawIn(Body):
    """Why a release is withdrawn. Its page shows the reason."""

    reason: str = Field(min_length=1, max_length=300)


@releases.get("/projects/{project}/releases", scopes=[Scope.READ], role=Role.VIEWER)
def list_releases(request: ApiRequest, project: str, paging: InQuery[PageRequest]) -> Page[ReleaseOut]:
    """The releases of the project."""
    at = project_access(request).project
    rows = Release.objects.filter(project=at).select_related("created_by").defer("manifest", "options")
    page = page_of(rows, paging, within=at.pk)
    return Page(items=[ReleaseOut(**_columns(row)) for row in page.items], next=page.next)


@releases.post("/projects/{project}/releases", scopes=[Scope.PUBLISH], role=Role.MANAGER, status=202)
def build_release(request: ApiRequest, project: str, body: ReleaseIn) -> ReleaseOut:
    """Build a release, by a job. The same content gives the earlier release, byte by byte."""
    access = project_access(request)
    release = begin(
        project=access.project,
        version=body.version,
        notes=body.notes,
        options=Options(**body.model_dump(exclude={"version", "notes"})),
        actor=access.user,
    )
    return ReleaseOut(**_columns(release))


@releases.get("/projects/{project}/releases/{version}", scopes=[Scope.READ], role=Role.VIEWER)
def get_release(request: ApiRequest, project: str, version: str) -> ReleaseDetails:
    """One release with its files."""
    release = find_release(project_access(request), version)
    ready = release.state == Release.State.READY
    tables = release.manifest.get("tables")
    return ReleaseDetails(
        **_columns(release),
        options=release.options,
        tables=tables if isinstance(tables, list) else [],
        files=[
            ReleaseFileOut(
                path=each.path, bytes=each.bytes, rows=each.rows, sha256=each.sha256, format=each.format
            )
            for each in (download_files.list_download_files(release) if ready else ())
        ],
    )


@releases.get(
    "/projects/{project}/releases/{version}/files/{path:path}",
    scopes=[Scope.READ],
    role=Role.VIEWER,
    content=_FILE,
)
def download_file(request: ApiRequest, project: str, version: str, path: str) -> HttpResponseBase:
    """One file of a release, in whole or in part (Range)."""
    access = project_access(request)
    return download_files.send_file(request, _downloadable(access, version), path, user=access.user)


@releases.get(
    "/projects/{project}/releases/{version}/archive", scopes=[Scope.READ], role=Role.VIEWER, content=_ARCHIVE
)
def download_archive(request: ApiRequest, project: str, version: str) -> HttpResponseBase:
    """All files of a release as a ZIP archive."""
    access = project_access(request)
    return download_files.send_archive(request, _downloadable(access, version), user=access.user)


@releases.post(
    "/projects/{project}/releases/{version}/retry", scopes=[Scope.PUBLISH], role=Role.MANAGER, status=202
)
def retry_build(request: ApiRequest, project: str, version: str) -> ReleaseOut:
    """Build a failed version again, with the same options."""
    access = project_access(request)
    release = find_release(access, version)
    if services.is_stuck(release, selectors.job_of(release)):
        services.give_up(release=release, why="Its worker stopped.", actor=access.user)
    begin_again(release=release, actor=access.user)
    return _again(access, version)


@releases.patch("/projects/{project}/releases/{version}", scopes=[Scope.PUBLISH], role=Role.OWNER)
def change_release(request: ApiRequest, project: str, version: str, body: ReleaseChanges) -> ReleaseOut:
    """Give a release a page that needs no log-in, or remove that page."""
    access = project_access(request)
    change = services.show_release if body.public else services.hide_release
    change(release=find_release(access, version), actor=access.user)
    return _again(access, version)


@releases.post("/projects/{project}/releases/{version}/withdraw", scopes=[Scope.PUBLISH], role=Role.OWNER)
def withdraw_release(request: ApiRequest, project: str, version: str, body: WithdrawIn) -> ReleaseOut:
    """Stop offering the files of a release; the record stays. This cannot be undone."""
    access = project_access(request)
    release = find_release(access, version)
    services.withdraw_release(release=release, reason=body.reason, actor=access.user)
    return _again(access, version)


def find_release(access: ProjectAccess, version: str) -> Release:
    """A release of the project by its version."""
    row = Release.objects.filter(project=access.project, version=version).select_related("created_by").first()
    if row is None:
        raise Http404("There is no such release.")
    row.project = access.project
    return row


def _downloadable(access: ProjectAccess, version: str) -> Release:
    release = find_release(access, version)
    if release.state == Release.State.WITHDRAWN:
        raise ProblemError(404, "withdrawn", f"This release was withdrawn: {release.withdrawn_reason}")
    return release


def _again(access: ProjectAccess, version: str) -> ReleaseOut:
    return ReleaseOut(**_columns(find_release(access, version)))


def _columns(row: Release) -> dict[str, Any]:
    names = [name for name in ReleaseOut.model_fields if name != "created_by"]
    columns = {name: getattr(row, name) for name in names}
    return columns | {"created_by": row.created_by.get_username() if row.created_by else None}


# What the privacy check found in texts, and what becomes of it.

findings = Resource("Privacy of releases")
MOST_AT_ONCE = 1000


class FindingOut(BaseModel):
    """A place in a text that may name or lead to a person."""

    id: int
    rule: str
    subject: str = Field(description="What the text is of: answer:12, query:3 …")
    field: str
    start: int
    end: int
    excerpt: str
    state: str
    reason: str


class FindingFilters(BaseModel):
    """Which findings."""

    state: Literal["open", "accepted", "redacted", "gone"] = Field("open", description="What became of them.")
    rule: str = Field("", max_length=40, description="Which rule found them; empty: all.")


class FindingDecision(Body):
    """What becomes of findings: they may stay, are blacked out in releases, or are open again."""

    ids: list[Id] = Field(min_length=1, max_length=MOST_AT_ONCE)
    decision: Literal["accept", "redact", "reopen"]
    reason: str = Field("", max_length=300, description="Needed to accept.")


class FindingOutcome(BaseModel):
    """How many were decided about; the others were in no state for it, or are no findings of the project."""

    done: int


@findings.get("/projects/{project}/privacy/findings", scopes=[Scope.READ], role=Role.MANAGER)
def list_findings(
    request: ApiRequest, project: str, filters: InQuery[FindingFilters], paging: InQuery[PageRequest]
) -> Page[FindingOut]:
    """What the privacy check found; a release is built when none of it is open."""
    at = project_access(request).project
    rows = PrivacyFinding.objects.filter(project=at, state=filters.state)
    if filters.rule:
        rows = rows.filter(rule=filters.rule)
    page = page_of(rows, paging, key=("pk",), within=(at.pk, filters.model_dump_json()))
    names = list(FindingOut.model_fields)
    items = [FindingOut(**{name: getattr(row, name) for name in names}) for row in page.items]
    return Page(items=items, next=page.next)


@findings.post("/projects/{project}/privacy/checks", scopes=[Scope.PUBLISH], role=Role.MANAGER, status=202)
def check_privacy(request: ApiRequest, project: str) -> JobRef:
    """Check all texts of the project, by a job."""
    access = project_access(request)
    return JobRef(job=look_for_findings(project=access.project, actor=access.user, once=uuid4()).pk)


@findings.post("/projects/{project}/privacy/decisions", scopes=[Scope.PUBLISH], role=Role.MANAGER)
def decide_findings(request: ApiRequest, project: str, body: FindingDecision) -> FindingOutcome:
    """Accept findings, black them out, or open them again."""
    access = project_access(request)
    rows = PrivacyFinding.objects.filter(project=access.project, pk__in=body.ids)
    arguments: dict[str, Any] = {"findings": rows, "actor": access.user}
    if body.decision == "reopen":
        return FindingOutcome(done=reopen_findings(**arguments))
    if body.decision == "redact":
        return FindingOutcome(done=redact_findings(**arguments, reason=body.reason))
    if not body.reason.strip():
        message = "Say why it may stay."
        raise ProblemError(422, "invalid", f"reason: {message}", errors={"reason": [message]})
    return FindingOutcome(done=accept_findings(**arguments, reason=body.reason))


RESOURCES = (releases, findings)
PROBLEMS = {ReleaseError: ProblemKind(422, "release_refused")}
