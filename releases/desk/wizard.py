"""The wizard of a release: content, formats, preview, data card, the build; `findings` has privacy."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from crowd.desk.doors import Role, Seat, on_project, show
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

FOLDER = "releases"
OPEN = PrivacyFinding.State.OPEN


def open_findings(seat: Seat) -> int:
    """How many findings of the privacy check wait for a person."""
    return sum(states.get(OPEN, 0) for states in counted(seat.project).values())


@require_safe
@on_project(Role.MANAGER)
def content(request: HttpRequest, seat: Seat) -> HttpResponse:
    """What goes in: what was accepted, and by group what is not, each with a box to bring it in."""
    here = way(seat.project, "content", request.GET)
    if "go" in request.GET:
        return redirect(here.address("formats"))
    chosen = [name for name in OPTIONAL if name in request.GET.getlist("include")]
    return show(
        request,
        "content.html",
        seat,
        folder=FOLDER,
        tab="releases",
        way=here,
        content=selectors.content_of(seat.project, chosen),
        places=groupplaces.of(seat.project),
    )


@require_safe
@on_project(Role.MANAGER)
def formats(request: HttpRequest, seat: Seat) -> HttpResponse:
    """In which formats and splits, under which version."""
    form = read_choices(request)
    complaints = "go" in request.GET and not form.is_valid()
    if "go" in request.GET and not complaints:
        return redirect(way(seat.project, "privacy", request.GET).address("privacy"))
    return show(
        request,
        "formats.html",
        seat,
        folder=FOLDER,
        tab="releases",
        way=way(seat.project, "formats", request.GET),
        form=form,
        complaints=complaints,
        last=selectors.last_built(seat.project),
        status=422 if complaints else 200,
    )


@require_safe
@on_project(Role.MANAGER)
def preview(request: HttpRequest, seat: Seat) -> HttpResponse:
    """The first rows of each table as they will be, and how many there were before and after each step."""
    form = read_choices(request)
    here = way(seat.project, "preview", request.GET)
    if not form.is_valid():
        return redirect(f"{here.address('formats')}&go=1")
    return show(
        request,
        "preview.html",
        seat,
        folder=FOLDER,
        tab="releases",
        way=here,
        seen=release_preview.preview(seat.project, form.options()),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.MANAGER)
def card(request: HttpRequest, seat: Seat) -> HttpResponse:
    """The questions that only people can answer, with the card as it will read; `build` begins the build."""
    choices = read_choices(request)
    here = way(seat.project, "card", request.GET)
    if not choices.is_valid():
        return redirect(f"{here.address('formats')}&go=1")
    posted = request.method == "POST"
    last = selectors.last_built(seat.project)
    form = CardForm(request.POST if posted else None, last=last)
    if posted and form.is_valid() and "look" not in request.POST:
        theirs = CardForm(last=last)
        if form.is_overtaken(theirs):
            form.compare(theirs, request.get_full_path())
        elif (begun := _begin(request, seat, choices, form)) is not None:
            return begun
    said = form.answers() if posted and form.is_valid() else card_of(last)
    text = release_preview.card(
        seat.project,
        choices.options(said),
        version=choices.cleaned_data["version"],
        notes=form.cleaned_data["notes"] if posted and form.is_valid() else "",
    )
    return show(
        request,
        "card.html",
        seat,
        folder=FOLDER,
        tab="releases",
        way=here,
        form=form,
        blocks=blocks(text),
        waiting=open_findings(seat),
        status=422 if form.errors else 409 if form.conflict else 200,
    )


def _begin(request: HttpRequest, seat: Seat, choices: Any, form: CardForm) -> HttpResponse | None:
    try:
        release = begin(
            project=seat.project,
            version=choices.cleaned_data["version"],
            notes=form.cleaned_data["notes"],
            options=choices.options(form.answers()),
            actor=seat.user,
        )
    except ReleaseError as error:
        form.add_error(None, str(error))
        return None
    messages.success(request, f"Release {release.version} is being built.")
    return redirect("releases:release", seat.project.slug, release.version)
