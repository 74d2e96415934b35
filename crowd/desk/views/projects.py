"""Projects: the list, one of them, its budget and its members."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from crowd.desk import overview, panels, tables
from crowd.desk.columns import EVENTS, MEMBERS, PROJECTS
from crowd.desk.doors import (
    NotEnteredError,
    Role,
    Seat,
    for_members,
    on_project,
    posted,
    run_action,
    show,
    show_conflict,
)
from crowd.desk.forms import MemberForm, ProjectForm
from crowd.desk.funnel import HEADS, drawn
from crowd.desk.grids import respond
from projects import services
from projects.models import Event, Membership, Project
from projects.services import ProjectError
from revisions.shown_columns import ConflictError
from tables.grids import Choices, GridRequest

PROJECT = "desk:project"
_FEED = 8


@require_safe
@for_members
def index(request: HttpRequest, user: User) -> HttpResponseBase:
    """My projects."""
    return respond(
        request,
        None,
        PROJECTS,
        lambda asked: tables.my_projects(user, asked["state"], asked["q"]),
        "projects.html",
        rows_as="projects",
    )


@require_safe
@on_project()
def project(request: HttpRequest, seat: Seat) -> HttpResponse:
    """What needs somebody, the funnel, stages, money, members, and what happened."""
    said = overview.compose_overview(seat.project)
    return show(
        request,
        "project.html",
        seat,
        tab="project",
        said=said,
        funnel=drawn(said.steps),
        funnel_heads=HEADS,
        sections=panels.sections(seat.project),
        cards=tables.stage_cards(seat.project),
        members=members_of(seat),
        feed=_worded(_events(seat)[:_FEED]),
    )


def members_of(seat: Seat) -> list[Membership]:
    """Everybody in the project, by name."""
    return list(
        Membership.objects.filter(project=seat.project).select_related("user").order_by("user__username")
    )


def _events(seat: Seat) -> Any:
    return Event.objects.filter(project=seat.project).select_related("actor").order_by("-pk")


@require_safe
@on_project()
def events(request: HttpRequest, seat: Seat) -> HttpResponseBase:
    """Everything that happened, newest first unless the address says otherwise."""
    words = {name: f"{words[:1].upper()}{words[1:]}" for name, words in sorted(services.ACTIONS.items())}
    by_action = Choices("action", "What", {"all": "Everything", **words})

    def rows(asked: GridRequest) -> QuerySet[Event]:
        found: QuerySet[Event] = _events(seat)
        if asked["action"] != "all":
            found = found.filter(action=asked["action"])
        if words := asked["q"]:
            found = found.filter(Q(subject__icontains=words) | Q(actor__username__icontains=words))
        return found

    return respond(
        request,
        seat,
        EVENTS,
        rows,
        "events.html",
        complete=_worded,
        more_filters=(by_action,),
        file=f"{seat.project.slug}-events",
        rows_as="events",
    )


def _worded(rows: Any) -> list[Event]:
    """Events with `words` for what was done."""
    found = list(rows)
    for event in found:
        event.words = services.ACTIONS.get(event.action, event.action)
    return found


@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.OWNER)
def edit(request: HttpRequest, seat: Seat) -> HttpResponse:
    """Title, language, licence, wage floor and budget."""
    form = ProjectForm(request.POST or None, project=seat.project)
    status = 422 if request.method == "POST" else 200
    if request.method == "POST" and form.is_valid():
        fields = form.model
        try:
            services.edit_project(
                project=seat.project,
                changes={
                    "title": fields.title,
                    "language": fields.language,
                    "licence": fields.licence,
                    "wage_floor_cents": fields.wage_floor,
                },
                budget_cents=fields.budget,
                seen=form.seen,
                actor=seat.user,
            )
        except ConflictError:
            now = Project.objects.get(pk=seat.project.pk)
            form.compare(ProjectForm(project=now), reverse("desk:settings", args=[now.slug]))
            status = 409
        except ProjectError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "Saved.")
            return redirect("desk:settings", seat.project.slug)
    return show(request, "project_form.html", seat, form=form, status=status)


@require_safe
@on_project()
def members(request: HttpRequest, seat: Seat) -> HttpResponseBase:
    """Who is in the project, in which role."""

    def rows(asked: GridRequest) -> QuerySet[Membership]:
        found = Membership.objects.filter(project=seat.project).select_related("user")
        if asked["role"] != "all":
            found = found.filter(role=asked["role"])
        return found.filter(user__username__icontains=asked["q"]) if asked["q"] else found

    return respond(
        request,
        seat,
        MEMBERS,
        rows,
        "members.html",
        file=f"{seat.project.slug}-members",
        rows_as="members",
        form=MemberForm(),
    )


@posted
@on_project(Role.OWNER)
def set_member(request: HttpRequest, seat: Seat) -> HttpResponse:
    """Bring somebody in, or give them another role."""
    named = Membership.objects.filter(project=seat.project, user__username=request.POST.get("username", ""))
    form = MemberForm(request.POST, member=named.first())

    def action() -> str:
        given = entered(form)
        user = User.objects.filter(username=given["username"], is_active=True).first()
        if user is None:
            raise NotEnteredError(f"There is no user {given['username']!r} here.")
        services.set_role(
            project=seat.project, user=user, role=given["role"], actor=seat.user, seen=form.seen
        )
        return f"{user.get_username()} is {given['role']} now."

    try:
        return run_action(request, action, "desk:members", seat.project.slug)
    except ConflictError:
        back = reverse("desk:members", args=[seat.project.slug])
        return show_conflict(request, seat, form, MemberForm(member=named.first()), back)


@posted
@on_project(Role.OWNER)
def remove_member(request: HttpRequest, seat: Seat, *, user: int) -> HttpResponse:
    """Take somebody out."""
    member = get_object_or_404(Membership.objects.select_related("user"), project=seat.project, user_id=user)

    def action() -> str:
        services.remove_member(project=seat.project, user=member.user, actor=seat.user)
        return f"{member.user.get_username()} is no longer in the project."

    return run_action(
        request, action, "desk:projects" if user == seat.user.pk else "desk:members", *_place(seat, user)
    )


def _place(seat: Seat, user: int) -> list[str]:
    return [] if user == seat.user.pk else [seat.project.slug]


def entered(form: Any) -> dict[str, Any]:
    """What a small form holds; raises NotEnteredError with the first thing that is wrong with it."""
    if form.is_valid():
        return dict(form.cleaned_data)
    name, errors = next(iter(form.errors.items()))
    label = form[name].label if name in form.fields else ""
    raise NotEnteredError(f"{label}: {errors[0]}" if label else str(errors[0]))
