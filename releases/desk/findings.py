"""The privacy step: findings with their context, decided one by one or many at once, and the check itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.models import Answer
from core.jobs.models import Job, JobState
from core.jobs.services import cancel
from crowd.desk import tables
from judgments.models import Candidate
from releases import selectors
from releases.desk.forms import CheckForm, DecisionForm, chosen, way
from releases.models import PrivacyFinding
from releases.privacy import (
    RULES,
    Parts,
    accept_findings,
    count_findings,
    parts,
    redact_findings,
    reopen_findings,
)
from releases.services.build import CHECK, look_for_findings
from web.access import ProjectAccess, Role, on_project
from web.forms import FormError, chosen_keys, read_form, run_action
from web.pages import show
from web.tables import page_of

FOLDER = "releases"
STATES = {"open": "Open", "accepted": "May stay", "redacted": "Blacked out", "gone": "Gone"}
_MOST_CHOSEN = 1000


@dataclass(frozen=True, slots=True)
class FindingView:
    """One finding as the page shows it; `address` leads to where the text is, empty where no page has it."""

    row: PrivacyFinding
    words: str
    excerpt: Parts
    where: str
    address: str


@require_safe
@on_project(Role.MANAGER)
def privacy(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Findings, filtered and paged by the address."""
    state = tables.choice(request, "state", STATES)
    rule = tables.choice(request, "rule", {"": "All rules", **RULES})
    rows = selectors.findings_of(access.project, state.chosen, rule.chosen).select_related("decided_by")
    page = page_of(rows, request)
    counts = count_findings(access.project)
    totals = {name: sum(states.get(name, 0) for states in counts.values()) for name in STATES}
    return show(
        request,
        "privacy.html",
        access,
        folder=FOLDER,
        tab="releases",
        way=way(access.project, "privacy", request.GET),
        state=state,
        rule=rule,
        page=page,
        findings=_shown(access, list(page.object_list)),
        totals=totals,
        waiting=totals["open"],
        by_rule=[(RULES.get(name, name), counts[name]) for name in RULES if name in counts],
        checked_at=selectors.checked_at(access.project),
        form=DecisionForm(),
        check_form=CheckForm(),
    )


def _shown(access: ProjectAccess, rows: Sequence[PrivacyFinding]) -> list[FindingView]:
    """The rows with words and links, in two statements."""
    keys: dict[str, list[int]] = {}
    for row in rows:
        kind, _, number = row.subject.partition(":")
        if number.isdecimal():
            keys.setdefault(kind, []).append(int(number))
    answers = {
        pk: (stage, query)
        for pk, stage, query in Answer.objects.filter(pk__in=keys.get("answer", ())).values_list(
            "pk", "stage__slug", "query_id"
        )
    }
    systems = dict(
        Candidate.objects.filter(pk__in=keys.get("candidate", ())).values_list("pk", "system__name")
    )
    slug = access.project.slug
    found = []
    for row in rows:
        kind, _, number = row.subject.partition(":")
        key = int(number) if number.isdecimal() else 0
        where, address = _where(kind, row.field), ""
        if kind == "answer" and key in answers:
            address = reverse("annotation:answers_of_query", args=[slug, *answers[key]])
        elif kind == "query":
            address = reverse("annotation:query", args=[slug, key])
        elif kind == "candidate":
            where = f"{where} of {systems.get(key, 'a system')}"
            address = reverse("judgments:candidate", args=[slug, key])
        cut = parts(row.excerpt, row.start, row.end)
        found.append(FindingView(row, RULES.get(row.rule, row.rule), cut, where, address))
    return found


def _where(kind: str, field: str) -> str:
    words = {
        "answer": "Answer",
        "candidate": "Answer",
        "query": "Query",
        "stage": "Stage",
        "passage": "Passage",
    }
    more = {"context": ", an earlier turn", "references": ", a reference of its file"}
    return words.get(kind, kind) + more.get(field.partition(".")[0], "")


@require_POST
@on_project(Role.MANAGER)
def decide(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Accept, black out or reopen the findings that are ticked, or all that the filter has."""

    def action() -> str:
        reason = read_form(DecisionForm(request.POST))["reason"]
        rows = _chosen(request, access)
        decision = request.POST.get("do", "")
        if decision == "accept":
            done, words = (
                accept_findings(findings=rows, reason=reason, actor=access.user),
                "may stay",
            )
        elif decision == "redact":
            done, words = (
                redact_findings(findings=rows, reason=reason, actor=access.user),
                "will be blacked out",
            )
        elif decision == "reopen":
            done, words = reopen_findings(findings=rows, actor=access.user), "open again"
        else:
            raise FormError("Choose what is to happen to them.")
        if not done:
            raise FormError("Nothing has changed: none of them can be decided so.")
        is_open = "" if words != "open again" else "is " if done == 1 else "are "
        return f"{done:,} finding{'' if done == 1 else 's'} {is_open}{words}."

    return _back(request, access, run_action(request, action, "releases:privacy", access.project.slug))


def _chosen(request: HttpRequest, access: ProjectAccess) -> Any:
    if request.POST.get("which") == "all":
        state, rule = request.POST.get("state", ""), request.POST.get("rule", "")
        if state not in STATES or (rule and rule not in RULES):
            raise FormError("There are no such findings.")
        return selectors.findings_of(access.project, state, rule)
    keys = chosen_keys(request.POST.getlist("finding")[:_MOST_CHOSEN])
    if not keys:
        raise FormError("Tick the findings first, or choose all of them.")
    return PrivacyFinding.objects.filter(project=access.project, pk__in=keys)


def _back(request: HttpRequest, access: ProjectAccess, answer: HttpResponse) -> HttpResponse:
    """To the page where one was, with its filter and what was chosen for the release."""
    address = f"{reverse('releases:privacy', args=[access.project.slug])}?{_kept(request)}"
    answer["Location"] = address.rstrip("?")
    return answer


def _kept(request: HttpRequest) -> str:
    more = request.GET.copy()
    filters = "&".join(
        f"{name}={more[name]}" for name in ("state", "rule") if more.get(name) in {*STATES, *RULES}
    )
    return "&".join(part for part in (chosen(request.GET), filters) if part)


@require_POST
@on_project(Role.MANAGER)
def check(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Begin a check."""
    form = CheckForm(request.POST)
    if not form.is_valid():
        raise Http404("There is no such check.")
    job = look_for_findings(project=access.project, actor=access.user, once=form.cleaned_data["once"])
    address = reverse("releases:check_job", args=[access.project.slug, job.pk])
    query = chosen(request.GET)
    return redirect(f"{address}{'?' if query else ''}{query}")


@require_safe
@on_project(Role.MANAGER)
def check_job(request: HttpRequest, access: ProjectAccess, *, job: int) -> HttpResponse:
    """How far a check is; when it is done, what it found."""
    row = _job(access, job)
    if row.state == JobState.DONE:
        return redirect(way(access.project, "privacy", request.GET).address("privacy"))
    return show(
        request,
        "check_job.html",
        access,
        folder=FOLDER,
        tab="releases",
        way=way(access.project, "privacy", request.GET),
        **_live(request, access, row),
    )


@require_safe
@never_cache
@on_project(Role.MANAGER)
def check_live(request: HttpRequest, access: ProjectAccess, *, job: int) -> HttpResponse:
    """The part of the page that changes by itself."""
    return show(
        request, "parts/check_live.html", access, folder=FOLDER, **_live(request, access, _job(access, job))
    )


@require_POST
@on_project(Role.MANAGER)
def check_cancel(request: HttpRequest, access: ProjectAccess, *, job: int) -> HttpResponse:
    """End a check; what it found so far stays."""
    row = _job(access, job)

    def action() -> str:
        if not cancel(job_id=row.pk):
            raise FormError("The check is over already.")
        return "The check was cancelled. What it found so far stays."

    return _back(request, access, run_action(request, action, "releases:privacy", access.project.slug))


def _live(request: HttpRequest, access: ProjectAccess, row: Job) -> dict[str, Any]:
    query = chosen(request.GET)
    return {
        "job": row,
        "query": f"?{query}" if query else "",
        "over": row.state in (JobState.FAILED, JobState.CANCELLED),
        "done": row.state == JobState.DONE,
    }


def _job(access: ProjectAccess, pk: int) -> Job:
    row: Job = get_object_or_404(Job, pk=pk, kind=CHECK)
    if row.payload.get("project") != access.project.pk:
        raise Http404("There is no such check.")
    return row
