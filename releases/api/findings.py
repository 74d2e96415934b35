"""What the privacy check found in texts, and what becomes of it."""

from typing import Any, Literal
from uuid import uuid4

from ninja import Query as InQuery
from pydantic import BaseModel, Field

from core.api.models import Scope
from releases.models import PrivacyFinding
from releases.privacy.check import accept_findings, redact_findings, reopen_findings
from releases.services.job_requests import look_for_findings
from web.api.access import ApiRequest, Role, project_access
from web.api.bodies import JobRef
from web.api.fields import Body, Id
from web.api.pages import Page, PageRequest, page_of
from web.api.problems import ProblemError
from web.api.resources import Resource

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

    state: Literal["open", "accepted", "redacted", "gone"] = "open"
    rule: str = Field("", max_length=40)


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
    """Have all texts of the project looked through, by a job."""
    access = project_access(request)
    return JobRef(job=look_for_findings(project=access.project, actor=access.user, once=uuid4()).pk)


@findings.post("/projects/{project}/privacy/decisions", scopes=[Scope.PUBLISH], role=Role.MANAGER)
def decide_findings(request: ApiRequest, project: str, body: FindingDecision) -> FindingOutcome:
    """Accept findings, have them blacked out, or open them again."""
    access = project_access(request)
    rows = PrivacyFinding.objects.filter(project=access.project, pk__in=body.ids)
    given: dict[str, Any] = {"findings": rows, "actor": access.user}
    if body.decision == "reopen":
        return FindingOutcome(done=reopen_findings(**given))
    if body.decision == "redact":
        return FindingOutcome(done=redact_findings(**given, reason=body.reason))
    if not body.reason.strip():
        words = "Say why it may stay."
        raise ProblemError(422, "invalid", f"reason: {words}", errors={"reason": [words]})
    return FindingOutcome(done=accept_findings(**given, reason=body.reason))
