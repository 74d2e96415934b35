"""Who may see and do what."""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404

from projects.models import Membership, Project

Role = Membership.Role
_RANK = {Role.VIEWER: 0, Role.MANAGER: 1, Role.OWNER: 2}


def projects_of(user: Any) -> QuerySet[Project]:
    """Projects that a user is a member of; superusers see all."""
    if user.is_superuser:
        return Project.objects.all()
    return Project.objects.filter(memberships__user=user)


def project_for(user: Any, slug: str, *, at_least: str = Role.VIEWER) -> tuple[Project, str]:
    """A project and the user's role in it; to everybody else it does not exist (Http404).

    So it does to a member whose role is below `at_least`.
    """
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise Http404("There is no such project.")
    role = (
        Role.OWNER
        if user.is_superuser
        else Membership.objects.filter(project=project, user_id=user.pk)
        .values_list("role", flat=True)
        .first()
    )
    if role is None or _RANK[Role(role)] < _RANK[Role(at_least)]:
        raise Http404("There is no such project.")
    return project, str(role)
