"""Projects: the list, one of them, its budget and its members."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.accounts.confirmation import confirmed
from core.accounts.membership_views import members_panel
from core.origin import Owner
from core.projects import services
from core.projects.models import Event, Membership, Project
from core.projects.selectors import may_make_projects, projects_of
from core.projects.services import ProjectError
from core.revisions import ConflictError
from crowd.desk import overview, tables
from crowd.desk.agreement import agreements_of
from crowd.desk.forms import CopyForm, MemberForm, ProjectForm
from crowd.desk.overview import HEADS, draw_funnel
from crowd.desk.tables import EVENTS, MEMBERS, PROJECTS
from crowd.models import Picture
from crowd.selectors import work_lists
from crowd.selectors.project_pace import end_of, pay_of
from crowd.services import pictures
from crowd.services import stages as closing
from crowd.services.copies import copy_project
from web.access import ProjectAccess, Role, for_members, on_project
from web.audit_pages import BY_WAY, chain_state, filter_by_way, jsonl_address, stream_log
from web.cells import Link
from web.forms import FormError, read_form, run_action
from web.kit import Button, Empty, FormSection, Listing, Own, Page
from web.pages import show, show_conflict, show_table
from web.tables import Choices, GridRequest

PROJECT = "desk:project"
_FEED = 8


@require_safe
@for_members
def index(request: HttpRequest, user: User) -> HttpResponseBase:
    """My projects."""
    may_make = may_make_projects(user)
    return show_table(
        request,
        None,
        PROJECTS,
        lambda grid: tables.my_projects(user, grid["state"], grid["q"]),
        _describe_projects(may_make=may_make),
        may_make=may_make,
    )


def _describe_projects(*, may_make: bool) -> Page:
    new = Link("New project", reverse("desk:new_project")) if may_make else None
    join = " To make projects, ask an administrator. To join one, ask one of its members for an invitation."
    words = f"{_FIRST_PROJECT}{'' if may_make else join}"
    return Page(
        "Projects",
        [Listing("Find a project", "project", "projects", Empty("Your first project", words, new))],
        lead="Each has its own budget, wage floor and people.",
        primary=[new] if new else [],
    )


_FIRST_PROJECT = (
    "A project holds one budget that is never exceeded, a wage floor, and the people who work on it with "
    "you. Its stages ask the crowd: which queries are worth an answer, which passages answer them, what "
    "the answer is, and how correct other answers are. Choose a beginning with its stages ready, or "
    "upload a study file. Nothing is published or spent before you open a stage."
)


@require_safe
@on_project()
def project(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """What needs somebody, the funnel, stages, money, members, and what happened."""
    project_overview = overview.compose_overview(access.project)
    cards = work_lists.stage_cards(access.project)
    agreements = agreements_of([card.stage for card in cards], quick=True)
    stopped = any(each.level == overview.STOPPED for each in project_overview.attention)
    stage_rows = [(card, agreements.get(card.stage.pk)) for card in cards]
    return show(
        request,
        "project.html",
        access,
        tab="project",
        said=project_overview,
        funnel=draw_funnel(project_overview.steps),
        funnel_heads=HEADS,
        sections=overview.sections(access.project),
        cards=cards,
        stage_rows=stage_rows,
        agreement=[(card.stage, row) for card, row in stage_rows if row and row.now is not None][-3:],
        has_money=overview.has_money(access.project),
        pay=pay_of(access.project, cards),
        end=end_of(cards, stopped=stopped),
        members=members_of(access),
        feed=_worded(_events(access)[:_FEED]),
    )


def members_of(access: ProjectAccess) -> list[Membership]:
    """Everybody in the project, by name."""
    return list(
        Membership.objects.filter(project=access.project).select_related("user").order_by("user__username")
    )


def _events(access: ProjectAccess) -> Any:
    return Event.objects.filter(project=access.project).select_related("actor").order_by("-pk")


@require_safe
@on_project()
def events(request: HttpRequest, access: ProjectAccess) -> HttpResponseBase:
    """Everything that happened, newest first unless the address says otherwise."""
    labels = {
        name: f"{label[:1].upper()}{label[1:]}" for name, label in sorted(services.event_actions().items())
    }
    by_action = Choices("action", "What", {"all": "Everything", **labels})

    def rows(grid: GridRequest) -> QuerySet[Event]:
        logged_events: QuerySet[Event] = _events(access)
        if grid["action"] != "all":
            logged_events = logged_events.filter(action=grid["action"])
        if text := grid["q"]:
            person = Q(actor__username__icontains=text) | Q(credential__icontains=text)
            logged_events = logged_events.filter(Q(subject__icontains=text) | Q(address=text) | person)
        return filter_by_way(logged_events, grid["via"])

    owner = Owner(Owner.Kind.PROJECT, access.project.pk)
    if request.GET.get("format") == "jsonl":
        grid = EVENTS.read_request(request.GET, by_action, BY_WAY)
        return stream_log(owner, rows(grid).order_by("pk"), f"{access.project.slug}-events")
    return show_table(
        request,
        access,
        EVENTS,
        rows,
        Page(
            "What happened",
            [
                Listing("Which events to show", "event", "events", Empty("No matching events")),
                Own("parts/audit_chain.html"),
            ],
            lead="Every decision and change. Nothing here is ever changed or removed.",
        ),
        complete=_worded,
        more_filters=(by_action, BY_WAY),
        file=f"{access.project.slug}-events",
        chain_state=chain_state(owner),
        jsonl_address=jsonl_address(request),
    )


def _worded(rows: Any) -> list[Event]:
    """Events with `words` for what was done."""
    event_list = list(rows)
    for event in event_list:
        event.words = services.event_actions().get(event.action, event.action)
    return event_list


@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.OWNER)
def edit(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Title, language, licence, wage floor and budget."""
    form = ProjectForm(request.POST or None, project=access.project)
    status = 422 if request.method == "POST" else 200
    if request.method == "POST" and form.is_valid():
        fields = form.model
        try:
            services.edit_project(
                project=access.project,
                changes={
                    "title": fields.title,
                    "language": fields.language,
                    "licence": fields.licence,
                    "wage_floor_cents": fields.wage_floor,
                },
                budget_cents=fields.budget,
                seen=form.seen,
                actor=access.user,
            )
        except ConflictError:
            now = Project.objects.get(pk=access.project.pk)
            form.compare(ProjectForm(project=now), reverse("desk:settings", args=[now.slug]))
            status = 409
        except ProjectError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "Saved.")
            return redirect("desk:settings", access.project.slug)
    return show(request, "project_form.html", access, form=form, status=status)


@require_POST
@on_project(Role.OWNER)
def close(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Ask nothing new of people from now on."""

    def action() -> str:
        closing.close_project(project=access.project, actor=access.user)
        return "The project is closed: no stage can be made or opened."

    return run_action(request, action, "desk:settings", access.project.slug)


@require_POST
@on_project(Role.MANAGER)
def copy(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """A project of this person's own with drafts of all its stages."""
    copies: list[Project] = []

    def action() -> str:
        fields = read_form(CopyForm(request.POST))
        copies.append(copy_project(project=access.project, owner=access.user, **fields))
        return "The project is there, with drafts of the stages. Set its budget, then those of the stages."

    answer = run_action(request, action, "desk:settings", access.project.slug)
    return redirect(PROJECT, copies[0].slug) if copies else answer


@require_POST
@on_project(Role.OWNER)
def reopen(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Let stages be made and opened again."""

    def action() -> str:
        closing.reopen_project(project=access.project, actor=access.user)
        return "The project is open again. Its stages are as they were."

    return run_action(request, action, "desk:settings", access.project.slug)


@require_safe
@on_project()
def members(request: HttpRequest, access: ProjectAccess) -> HttpResponseBase:
    """Who is in the project, in which role."""

    def rows(grid: GridRequest) -> QuerySet[Membership]:
        memberships = Membership.objects.filter(project=access.project).select_related("user")
        if grid["role"] != "all":
            memberships = memberships.filter(role=grid["role"])
        return memberships.filter(user__username__icontains=grid["q"]) if grid["q"] else memberships

    return show_table(
        request,
        access,
        MEMBERS,
        rows,
        _describe_members(access),
        file=f"{access.project.slug}-members",
        **members_panel(request, "project", access.project.slug),
    )


def _describe_members(access: ProjectAccess) -> Page:
    alone = "A person who only looks at figures is a viewer; who reviews work is a manager."
    add = FormSection(
        MemberForm(),
        [Button("Save")],
        access.address("desk:set_member"),
        heading="Add a person, or change a role",
        note=alone,
    )
    nobody = Empty("No members", "Only superusers see this project.")
    return Page(
        "Members",
        [Listing("Find a member", "member", "members", nobody)],
        lead="A viewer can read, a manager can also make changes, an owner can also set budgets, spend "
        "real money and name members.",
        trail=[Link("Settings", access.address("desk:settings"))],
        aside=[*([add] if access.owns else []), Own("accounts/parts_members.html")],
        aside_label="People",
        scripts=["copy.js"],
    )


@require_POST
@confirmed
@on_project(Role.OWNER)
def set_member(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Bring somebody in, or give them another role."""
    named = Membership.objects.filter(project=access.project, user__username=request.POST.get("username", ""))
    form = MemberForm(request.POST, member=named.first())

    def action() -> str:
        fields = entered(form)
        user = User.objects.filter(username=fields["username"], is_active=True).first()
        if user is None:
            raise FormError(f"There is no user {fields['username']!r} here.")
        services.set_role(
            project=access.project, user=user, role=fields["role"], actor=access.user, seen=form.seen
        )
        return f"{user.get_username()} is {fields['role']} now."

    try:
        return run_action(request, action, "desk:members", access.project.slug)
    except ConflictError:
        back = reverse("desk:members", args=[access.project.slug])
        return show_conflict(request, access, form, MemberForm(member=named.first()), back)


@require_POST
@confirmed
@on_project(Role.OWNER)
def remove_member(request: HttpRequest, access: ProjectAccess, *, user: int) -> HttpResponse:
    """Take somebody out."""
    member = get_object_or_404(
        Membership.objects.select_related("user"), project=access.project, user_id=user
    )

    def action() -> str:
        services.remove_member(project=access.project, user=member.user, actor=access.user)
        return f"{member.user.get_username()} is no longer in the project."

    return run_action(
        request, action, "desk:projects" if user == access.user.pk else "desk:members", *_place(access, user)
    )


def _place(access: ProjectAccess, user: int) -> list[str]:
    return [] if user == access.user.pk else [access.project.slug]


def entered(form: Any) -> dict[str, Any]:
    """What a small form holds; raises FormError with the first thing that is wrong with it."""
    if form.is_valid():
        return dict(form.cleaned_data)
    name, errors = next(iter(form.errors.items()))
    label = form[name].label if name in form.fields else ""
    raise FormError(f"{label}: {errors[0]}" if label else str(errors[0]))


# Settings of a project in one place, and a user's own.


@require_safe
@on_project()
def of_project(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """What a project is, its budget and its people; forms for owners, facts for everybody else."""
    return show(
        request,
        "settings.html",
        access,
        tab="settings",
        form=ProjectForm(project=access.project),
        member_form=MemberForm(),
        copy_form=CopyForm(auto_id="copy_%s") if may_make_projects(access.user) else None,
        members=members_of(access),
        sections=overview.settings_sections(access.user, access.project, request),
        pictures=access.project.pictures.defer("content").order_by("name"),
    )


@require_POST
@on_project(Role.MANAGER)
def remove_picture(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """Remove a picture that no instructions show."""
    picture = get_object_or_404(Picture.objects.defer("content"), project=access.project, pk=pk)

    def remove() -> str:
        pictures.remove_picture(picture=picture, actor=access.user)
        return f"{picture.name} is removed."

    return run_action(request, remove, "desk:settings", access.project.slug)


@require_safe
@for_members
def of_user(request: HttpRequest, user: User) -> HttpResponse:
    """My account, and where each project's settings are."""
    return show(
        request,
        "my_settings.html",
        sidebar="settings",
        projects=projects_of(user).order_by("title", "pk"),
        sections=overview.settings_sections(user, None, request),
    )
