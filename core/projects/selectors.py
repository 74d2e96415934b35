"""Who may see and do what, and what workers are called in files that leave."""

import hashlib
import hmac
from typing import Any

from django.contrib.auth.models import Permission, User
from django.db.models import Q, QuerySet
from django.http import Http404

from core.projects.models import Event, Membership, Project

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
    if user.is_superuser:
        project, role = Project.objects.filter(slug=slug).first(), Role.OWNER
    else:
        memberships = Membership.objects.select_related("project")
        membership = memberships.filter(user=user, project__slug=slug).first()
        project, role = (membership.project, Role(membership.role)) if membership else (None, Role.VIEWER)
    if project is None or _RANK[role] < _RANK[Role(at_least)]:
        raise Http404("There is no such project.")
    return project, str(role)


_PERMITTED = Q(content_type__app_label="projects", codename="add_project")


def may_have_projects(user: Any) -> bool:
    """Whether a person is staff, a member of some project, or may make one; asked by many pages."""
    if user.is_staff or user.is_superuser:
        return True
    permissions = Permission.objects.filter(_PERMITTED)
    mine = Q(memberships__isnull=False) | Q(user_permissions__in=permissions)
    return User.objects.filter(mine | Q(groups__permissions__in=permissions), pk=user.pk).exists()


def may_make_projects(user: Any) -> bool:
    """Whether a person may make projects: staff, and who has Django's permission to add one."""
    return bool(user.is_staff or user.has_perm("projects.add_project"))


def last_event(project: Project, beginning: str) -> int:
    """The last event whose action begins so, 0 for none: for keys that change with what people do."""
    events = Event.objects.filter(project=project, action__startswith=beginning).order_by("-id")
    return events.values_list("pk", flat=True).first() or 0


def pseudonym(project: Project, external_id: str) -> str:
    """A worker's name in files that leave: another in every project, and it leads nobody back."""
    digest = hmac.new(bytes.fromhex(project.pseudonym_key), external_id.encode(), hashlib.sha256)
    return f"w{digest.hexdigest()[:12]}"


class Pseudonyms(dict[str, str]):
    """Pseudonyms of a project by worker id, each computed once: `names[external_id]`."""

    def __init__(self, project: Project) -> None:
        super().__init__()
        self._project = project

    def __missing__(self, external_id: str) -> str:
        self[external_id] = name = pseudonym(self._project, external_id)
        return name
