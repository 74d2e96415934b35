"""Settings of a project in one place, and a user's own."""

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from core.projects.selectors import projects_of
from crowd.desk import panels
from crowd.desk.forms import MemberForm, ProjectForm
from crowd.desk.views.projects import members_of
from web.access import ProjectAccess, for_members, on_project
from web.pages import show


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
        members=members_of(access),
        sections=panels.settings_sections(access.user, access.project, request),
    )


@require_safe
@for_members
def of_user(request: HttpRequest, user: User) -> HttpResponse:
    """My account, and where each project's settings are."""
    return show(
        request,
        "my_settings.html",
        sidebar="settings",
        projects=projects_of(user).order_by("title", "pk"),
        sections=panels.settings_sections(user, None, request),
    )
