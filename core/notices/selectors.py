"""Notices of somebody's projects."""

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet

from core.notices.models import Notice, NoticeReading, Wish
from core.projects.models import Project
from core.projects.selectors import projects_of


def notices_of(user: User, project: Project | None = None) -> QuerySet[Notice]:
    """Notices that somebody may read, open ones first, then the newest; `read` says whether they have.

    Without a project those of all their projects, and for superusers those of the installation.
    """
    rows = _of_projects(user) if project is None else Notice.objects.filter(project=project)
    seen = NoticeReading.objects.filter(notice=OuterRef("pk"), user=user)
    return rows.select_related("project").annotate(read=Exists(seen)).order_by("-raised_at", "-pk")


def unread(user: User) -> int:
    """How many open notices of their projects somebody has not read, in one query."""
    return waiting(_of_projects(user), user).count()


def _of_projects(user: User) -> QuerySet[Notice]:
    mine = Q(project__in=projects_of(user))
    return Notice.objects.filter(mine | Q(project=None) if user.is_superuser else mine)


def waiting(rows: QuerySet[Notice], user: User) -> QuerySet[Notice]:
    """Those that are open and that somebody has not read."""
    return rows.filter(over_at=None).exclude(seen_by__user=user)


#: Which notices a list shows, in words.
STATES = {"open": "Open", "unread": "Unread", "over": "Over", "all": "All"}


def in_state(rows: QuerySet[Notice], user: User, state: str) -> QuerySet[Notice]:
    """Those of `STATES` that a list asks for."""
    if state == "open":
        return rows.filter(over_at=None)
    if state == "over":
        return rows.exclude(over_at=None)
    return waiting(rows, user) if state == "unread" else rows


def wish_of(user: User, project: Project) -> str:
    """Which notices of a project somebody gets by e-mail."""
    post = Wish.objects.filter(user=user, project=project).values_list("post", flat=True).first()
    return post or Wish.Post.PRESSING
