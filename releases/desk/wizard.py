"""The wizard of a release: content, formats, preview, data card, the build; `findings` has privacy."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from annotation.kinds.distillation_config import WRITING_KINDS
from annotation.models import Answer
from core.projects.models import Project
from crowd.models import Stage
from judgments.models import Judgment
from releases import selectors
from releases.desk.forms import CardForm, card_of, read_choices, way
from releases.errors import ReleaseError
from releases.models import PrivacyFinding
from releases.options import OPTIONAL
from releases.privacy import count_findings
from releases.services.build import begin
from web.access import ProjectAccess, Role, on_project
from web.cache import table_figures
from web.pages import show

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
    return _MARKS.sub(lambda found: next(part for part in found.groups() if part is not None), text).strip()


def blocks(text: str) -> list[Block]:
    """The blocks of a card; the YAML head is one of code."""
    found: list[Block] = []
    lines = text.splitlines()
    place = 0
    if lines[:1] == ["---"] and "---" in lines[1:]:
        place = lines.index("---", 1) + 1
        found.append(Block("code", "\n".join(lines[1 : place - 1])))
    while place < len(lines):
        place = _next(lines, place, found)
    return found


def _next(lines: list[str], place: int, found: list[Block]) -> int:
    """Read the block that begins at a line; where the one after it begins."""
    line = lines[place]
    if not line.strip():
        return place + 1
    if line.lstrip().startswith(_FENCE):
        end = next(
            (n for n in range(place + 1, len(lines)) if lines[n].lstrip().startswith(_FENCE)), len(lines)
        )
        found.append(Block("code", "\n".join(lines[place + 1 : end])))
        return end + 1
    heading = _HEADING.fullmatch(line)
    if heading:
        found.append(Block("heading", plain(heading[2]), level=min(6, len(heading[1]) + 1)))
        return place + 1
    if line.lstrip().startswith("|") and place + 1 < len(lines) and _RULE.fullmatch(lines[place + 1]):
        return _table(lines, place, found)
    if _ITEM.fullmatch(line):
        return _list(lines, place, found)
    end = place
    while end < len(lines) and lines[end].strip() and not _begins(lines[end], end > place):
        end += 1
    found.append(Block("text", plain(" ".join(each.strip().lstrip("> ") for each in lines[place:end]))))
    return max(end, place + 1)


def _begins(line: str, inside: bool) -> bool:
    return inside and bool(
        _HEADING.fullmatch(line) or _ITEM.fullmatch(line) or line.lstrip().startswith((_FENCE, "|"))
    )


def _table(lines: list[str], place: int, found: list[Block]) -> int:
    end = place + 2
    while end < len(lines) and lines[end].lstrip().startswith("|"):
        end += 1
    found.append(
        Block("table", head=_cells(lines[place]), rows=[_cells(each) for each in lines[place + 2 : end]])
    )
    return end


def _cells(line: str) -> list[str]:
    return [plain(each) for each in _CELL.split(line.strip().strip("|"))]


def _list(lines: list[str], place: int, found: list[Block]) -> int:
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
    found.append(Block("list", items=[plain(each) for each in items]))
    return place


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
    }


FOLDER = "releases"
OPEN = PrivacyFinding.State.OPEN


def open_findings(access: ProjectAccess) -> int:
    """How many findings of the privacy check wait for a person."""
    return sum(states.get(OPEN, 0) for states in count_findings(access.project).values())


@require_safe
@on_project(Role.MANAGER)
def content(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """What goes in: what was accepted, and by group what is not, each with a box to bring it in."""
    here = way(access.project, "content", request.GET)
    if "go" in request.GET:
        return redirect(here.address("formats"))
    chosen = [name for name in OPTIONAL if name in request.GET.getlist("include")]
    return show(
        request,
        "content.html",
        access,
        folder=FOLDER,
        tab="releases",
        way=here,
        content=_content(access.project, chosen),
        places=of(access.project),
    )


def _content(project: Project, include: Sequence[str]) -> selectors.Content:
    """What would go in; where tables are large it is counted aside, as each answer is looked at."""
    return table_figures(
        (Answer, Judgment),
        f"release-content:{project.pk}:{','.join(include)}",
        lambda: selectors.content_of(project, include),
    )


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
    here = way(access.project, "preview", request.GET)
    if not form.is_valid():
        return redirect(f"{here.address('formats')}&go=1")
    return show(
        request,
        "preview.html",
        access,
        folder=FOLDER,
        tab="releases",
        way=here,
        seen=selectors.preview(access.project, form.options()),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.MANAGER)
def card(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """The questions that only people can answer, with the card as it will read; `build` begins the build."""
    choices = read_choices(request)
    here = way(access.project, "card", request.GET)
    if not choices.is_valid():
        return redirect(f"{here.address('formats')}&go=1")
    posted = request.method == "POST"
    last = selectors.last_built(access.project)
    form = CardForm(request.POST if posted else None, last=last)
    if posted and form.is_valid() and "look" not in request.POST:
        theirs = CardForm(last=last)
        if form.is_overtaken(theirs):
            form.compare(theirs, request.get_full_path())
        elif (begun := _begin(request, access, choices, form)) is not None:
            return begun
    said = form.answers() if posted and form.is_valid() else card_of(last)
    text = selectors.card(
        access.project,
        choices.options(said),
        version=choices.cleaned_data["version"],
        notes=form.cleaned_data["notes"] if posted and form.is_valid() else "",
    )
    return show(
        request,
        "card.html",
        access,
        folder=FOLDER,
        tab="releases",
        way=here,
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
