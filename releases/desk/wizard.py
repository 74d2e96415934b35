"""The wizard of a release: content, formats, preview, data card, the build; `findings` has privacy."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from releases import selectors
from releases.desk import groupplaces
from releases.desk.forms import CardForm, card_of
from releases.desk.markdown import blocks
from releases.desk.steps import read_choices, way
from releases.errors import ReleaseError
from releases.groups import OPTIONAL
from releases.models import PrivacyFinding
from releases.privacy.check import counted
from releases.services import release_preview
from releases.services.job_requests import begin
from web.access import ProjectAccess, Role, on_project
from web.pages import show

FOLDER = "releases"
OPEN = PrivacyFinding.State.OPEN


def open_findings(access: ProjectAccess) -> int:
    """How many findings of the privacy check wait for a person."""
    return sum(states.get(OPEN, 0) for states in counted(access.project).values())


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
        content=selectors.content_of(access.project, chosen),
        places=groupplaces.of(access.project),
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
        seen=release_preview.preview(access.project, form.options()),
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
    text = release_preview.card(
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
