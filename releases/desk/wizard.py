"""The wizard of a release: content, formats, privacy, preview, data card, and the build that it begins."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.models import Answer
from annotation.writing_config import WRITING_KINDS
from core.jobs.models import Job, JobState
from core.jobs.services import cancel
from core.projects.models import Project
from core.projects.selectors import last_event
from crowd.desk import tables
from crowd.models import Stage
from judgments.models import Candidate, Judgment
from judgments.selectors.live import list_late_judgments
from releases import selectors
from releases.build import CHECK, begin, look_for_findings
from releases.desk.forms import CardForm, CheckForm, DecisionForm, card_of, encode_choices, read_choices, way
from releases.errors import ReleaseError
from releases.models import PrivacyFinding
from releases.options import OPTIONAL
from releases.privacy import (
    RULES,
    Parts,
    accept_findings,
    count_findings,
    parts,
    redact_findings,
    reopen_findings,
)
from web.access import ProjectAccess, Role, on_project
from web.cache import cached
from web.forms import FormError, chosen_keys, read_form, run_action
from web.pages import show
from web.tables import page_of

# The data card as parts that a template shows: the Markdown that we write ourselves, and no other.

_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(.*)")
_RULE = re.compile(r"\s*\|?[\s:|-]+\|?\s*")
_CELL = re.compile(r"(?<!\\)\|")
_MARKS = re.compile(r"\*\*(.+?)\*\*|`([^`]+)`|\[([^\]]+)\]\([^)\s]*\)|\\([\\`*_{}\[\]()#+\-.!|<>&])")
_FENCE = "```"


@dataclass(slots=True)
class Block:
    """One part: `kind` is heading, text, list, table or code."""

    kind: str
    text: str = ""
    level: int = 0
    items: list[str] = field(default_factory=list)
    head: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)


def plain(text: str) -> str:
    """Words without the marks of emphasis, code and links."""
    return _MARKS.sub(lambda match: next(part for part in match.groups() if part is not None), text).strip()


def blocks(text: str) -> list[Block]:
    """The blocks of a card; the YAML head is one of code."""
    page_blocks: list[Block] = []
    lines = text.splitlines()
    place = 0
    if lines[:1] == ["---"] and "---" in lines[1:]:
        place = lines.index("---", 1) + 1
        page_blocks.append(Block("code", "\n".join(lines[1 : place - 1])))
    while place < len(lines):
        place = _next(lines, place, page_blocks)
    return page_blocks


def _next(lines: list[str], place: int, page_blocks: list[Block]) -> int:
    """Read the block that begins at a line; where the one after it begins."""
    line = lines[place]
    if not line.strip():
        return place + 1
    if line.lstrip().startswith(_FENCE):
        end = next(
            (n for n in range(place + 1, len(lines)) if lines[n].lstrip().startswith(_FENCE)), len(lines)
        )
        page_blocks.append(Block("code", "\n".join(lines[place + 1 : end])))
        return end + 1
    heading = _HEADING.fullmatch(line)
    if heading:
        page_blocks.append(Block("heading", plain(heading[2]), level=min(6, len(heading[1]) + 1)))
        return place + 1
    if line.lstrip().startswith("|") and place + 1 < len(lines) and _RULE.fullmatch(lines[place + 1]):
        return _table(lines, place, page_blocks)
    if _ITEM.fullmatch(line):
        return _list(lines, place, page_blocks)
    end = place
    while end < len(lines) and lines[end].strip() and not _begins(lines[end], end > place):
        end += 1
    page_blocks.append(Block("text", plain(" ".join(each.strip().lstrip("> ") for each in lines[place:end]))))
    return max(end, place + 1)


def _begins(line: str, inside: bool) -> bool:
    return inside and bool(
        _HEADING.fullmatch(line) or _ITEM.fullmatch(line) or line.lstrip().startswith((_FENCE, "|"))
    )


def _table(lines: list[str], place: int, page_blocks: list[Block]) -> int:
    end = place + 2
    while end < len(lines) and lines[end].lstrip().startswith("|"):
        end += 1
    page_blocks.append(
        Block("table", head=_cells(lines[place]), rows=[_cells(each) for each in lines[place + 2 : end]])
    )
    return end


def _cells(line: str) -> list[str]:
    return [plain(each) for each in _CELL.split(line.strip().strip("|"))]


def _list(lines: list[str], place: int, page_blocks: list[Block]) -> int:
    items: list[str] = []
    while place < len(lines) and lines[place].strip():
        item = _ITEM.fullmatch(lines[place])
        if item:
            items.append(item[1])
        elif items and lines[place].startswith(" "):
            items[-1] += f" {lines[place].strip()}"
        else:
            break
        place += 1
    page_blocks.append(Block("list", items=[plain(each) for each in items]))
    return place


# Where each group of what is not accepted can be looked at.

_Place = tuple[str, str]


def of(project: Project) -> dict[str, list[_Place]]:
    """Labels and addresses of the pages that list each group."""

    def queries(query: str) -> str:
        return f"{reverse('annotation:queries', args=[project.slug])}?{query}"

    stages = Stage.objects.filter(project=project, kind__in=WRITING_KINDS).order_by("pk")
    reviews = [
        (f"Review of {title}", f"{reverse('annotation:answers', args=[project.slug, slug])}?state=all")
        for slug, title in stages.values_list("slug", "title")
    ]
    return {
        "disputed": [("To decide", reverse("annotation:adjudication", args=[project.slug]))],
        "unanswered": [("Look at them", queries("only=no-answer"))],
        "taken_out": [
            ("Excluded", queries("status=excluded")),
            ("Taken out", queries("status=withdrawn")),
        ],
        "nothing_collected": [("Look at them", queries("only=no-answer"))],
        "undecided": [("Look at them", queries("only=undecided"))],
        "flagged": [("Look at them", queries("only=flagged"))],
        "rewrite": [("Look at them", queries("only=rewrite"))],
        "held": [("To decide", reverse("desk:queues", args=[project.slug]))],
        "excluded": reviews,
        "replaced": reviews,
        "work_not_accepted": reviews,
        "withdrawn": [("People", reverse("people:links", args=[project.slug]))],
        "comments": [],  # they are on the page of each answer
    }


# The pages, but for that of privacy.

FOLDER = "releases"
OPEN = PrivacyFinding.State.OPEN


def open_findings(access: ProjectAccess) -> int:
    """How many findings of the privacy check wait for a person."""
    return sum(states.get(OPEN, 0) for states in count_findings(access.project).values())


@require_safe
@on_project(Role.MANAGER)
def content(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """What goes in: what was accepted, and by group what is not, each with a box to bring it in."""
    step = way(access.project, "content", request.GET)
    if "go" in request.GET:
        return redirect(step.address("formats"))
    included = [name for name in OPTIONAL if name in request.GET.getlist("include")]
    return show(
        request,
        "content.html",
        access,
        folder=FOLDER,
        tab="releases",
        way=step,
        content=_content(access.project, included),
        late_judgments=list_late_judgments(access.project),
        places=of(access.project),
    )


def _content(project: Project, include: Sequence[str]) -> selectors.Content:
    """What would go in; each answer is looked at, so that of a large project it is of a while ago."""
    key = ("release-content", project.pk, last_event(project, ""), *include)
    return cached(key, partial(selectors.content_of, project, include))


@require_safe
@on_project(Role.MANAGER)
def formats(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """In which formats and splits, under which version."""
    form = read_choices(request)
    complaints = "go" in request.GET and not form.is_valid()
    if "go" in request.GET and not complaints:
        return redirect(way(access.project, "privacy", request.GET).address("privacy"))
    return show(
        request,
        "formats.html",
        access,
        folder=FOLDER,
        tab="releases",
        way=way(access.project, "formats", request.GET),
        form=form,
        complaints=complaints,
        last=selectors.last_built(access.project),
        status=422 if complaints else 200,
    )


@require_safe
@on_project(Role.MANAGER)
def preview(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """The first rows of each table as they will be, and how many there were before and after each step."""
    form = read_choices(request)
    step = way(access.project, "preview", request.GET)
    if not form.is_valid():
        return redirect(f"{step.address('formats')}&go=1")
    return show(
        request,
        "preview.html",
        access,
        folder=FOLDER,
        tab="releases",
        way=step,
        seen=selectors.preview(access.project, form.options()),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.MANAGER)
def card(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """The questions that only people can answer, with the card as it will read; `build` begins the build."""
    choices = read_choices(request)
    step = way(access.project, "card", request.GET)
    if not choices.is_valid():
        return redirect(f"{step.address('formats')}&go=1")
    posted = request.method == "POST"
    last = selectors.last_built(access.project)
    form = CardForm(request.POST if posted else None, last=last)
    if posted and form.is_valid() and "look" not in request.POST:
        theirs = CardForm(last=last)
        if form.is_overtaken(theirs):
            form.compare(theirs, request.get_full_path())
        elif (begun := _begin(request, access, choices, form)) is not None:
            return begun
    answers = form.answers() if posted and form.is_valid() else card_of(last)
    text = selectors.card(
        access.project,
        choices.options(answers),
        version=choices.cleaned_data["version"],
        notes=form.cleaned_data["notes"] if posted and form.is_valid() else "",
    )
    return show(
        request,
        "card.html",
        access,
        folder=FOLDER,
        tab="releases",
        way=step,
        form=form,
        blocks=blocks(text),
        waiting=open_findings(access),
        status=422 if form.errors else 409 if form.conflict else 200,
    )


def _begin(request: HttpRequest, access: ProjectAccess, choices: Any, form: CardForm) -> HttpResponse | None:
    try:
        release = begin(
            project=access.project,
            version=choices.cleaned_data["version"],
            notes=form.cleaned_data["notes"],
            options=choices.options(form.answers()),
            actor=access.user,
        )
    except ReleaseError as error:
        form.add_error(None, str(error))
        return None
    messages.success(request, f"Release {release.version} is being built.")
    return redirect("releases:release", access.project.slug, release.version)


# The privacy step: findings with their context, decided one by one or many at once, and the check itself.

STATES = {"open": "Open", "accepted": "May stay", "redacted": "Blacked out", "gone": "Gone"}
_MOST_CHOSEN = 1000


@dataclass(frozen=True, slots=True)
class FindingView:
    """One finding as the page shows it; `address` leads to where the text is, empty where no page has it."""

    row: PrivacyFinding
    title: str
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
        findings=_view_findings(access, list(page.object_list)),
        totals=totals,
        waiting=totals["open"],
        by_rule=[(RULES.get(name, name), counts[name]) for name in RULES if name in counts],
        checked_at=selectors.checked_at(access.project),
        form=DecisionForm(),
        check_form=CheckForm(),
    )


def _view_findings(access: ProjectAccess, rows: Sequence[PrivacyFinding]) -> list[FindingView]:
    """The rows with words and links, in three statements."""
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
    candidate_of = dict(
        Judgment.objects.filter(pk__in=keys.get("judgment", ())).values_list("pk", "candidate_id")
    )
    slug = access.project.slug
    views = []
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
        elif kind == "judgment" and key in candidate_of:
            address = reverse("judgments:candidate", args=[slug, candidate_of[key]])
        cut = parts(row.excerpt, row.start, row.end)
        views.append(FindingView(row, RULES.get(row.rule, row.rule), cut, where, address))
    return views


def _where(kind: str, field: str) -> str:
    titles = {
        "answer": "Answer",
        "candidate": "Answer",
        "query": "Query",
        "stage": "Stage",
        "passage": "Passage",
        "judgment": "Comment of a judge",
        "response": "Text in a questionnaire",
    }
    more = {"context": ", an earlier turn", "references": ", a reference of its file"}
    return titles.get(kind, kind) + more.get(field.partition(".")[0], "")


@require_POST
@on_project(Role.MANAGER)
def decide(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Accept, black out or reopen the findings that are ticked, or all that the filter has."""

    def action() -> str:
        reason = read_form(DecisionForm(request.POST))["reason"]
        rows = _read_selection(request, access)
        decision = request.POST.get("do", "")
        if decision == "accept":
            done, outcome = (
                accept_findings(findings=rows, reason=reason, actor=access.user),
                "may stay",
            )
        elif decision == "redact":
            done, outcome = (
                redact_findings(findings=rows, reason=reason, actor=access.user),
                "will be blacked out",
            )
        elif decision == "reopen":
            done, outcome = reopen_findings(findings=rows, actor=access.user), "open again"
        else:
            raise FormError("Choose what is to happen to them.")
        if not done:
            raise FormError("Nothing has changed: this decision fits none of them.")
        is_open = "" if outcome != "open again" else "is " if done == 1 else "are "
        return f"{done:,} finding{'' if done == 1 else 's'} {is_open}{outcome}."

    return _back(request, access, run_action(request, action, "releases:privacy", access.project.slug))


def _read_selection(request: HttpRequest, access: ProjectAccess) -> Any:
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
    address = f"{reverse('releases:privacy', args=[access.project.slug])}?{_encode_filters(request)}"
    answer["Location"] = address.rstrip("?")
    return answer


def _encode_filters(request: HttpRequest) -> str:
    more = request.GET.copy()
    filters = "&".join(
        f"{name}={more[name]}" for name in ("state", "rule") if more.get(name) in {*STATES, *RULES}
    )
    return "&".join(part for part in (encode_choices(request.GET), filters) if part)


@require_POST
@on_project(Role.MANAGER)
def check(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Begin a check."""
    form = CheckForm(request.POST)
    if not form.is_valid():
        raise Http404("There is no such check.")
    job = look_for_findings(project=access.project, actor=access.user, once=form.cleaned_data["once"])
    address = reverse("releases:check_job", args=[access.project.slug, job.pk])
    query = encode_choices(request.GET)
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
    query = encode_choices(request.GET)
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
