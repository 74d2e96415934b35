"""Keys with which a program searches a project as one of its members, without a log-in.

As with addresses of release files: signed, good for a week, and only as long as the member may look. A key
ends with the password it was made under: when that is changed, and when the person signs out everywhere. The
person sees every key and can end it by itself (`core.accounts.keys`).
"""

from datetime import timedelta

from django.http import Http404

from core.accounts.keys import Purpose, issue_key, note_use, read_key
from core.projects.models import Project
from core.projects.selectors import project_for
from web.access import ProjectAccess

PURPOSE = Purpose(salt="annotation.search", life=timedelta(days=7))


def key_for(access: ProjectAccess) -> str:
    """A key of this person for this project."""
    given = {"project": access.project.pk}
    return issue_key(purpose=PURPOSE, user=access.user, name=_name(access.project), given=given)


def access_of(key: str, slug: str) -> ProjectAccess | None:
    """The member whose key this is, at the project of this short name; None where it does not hold there."""
    if (valid := read_key(PURPOSE, key)) is None:
        return None
    try:
        project, role = project_for(valid.user, slug)
    except Http404:
        return None
    if project.pk != valid.given["project"]:
        return None
    return ProjectAccess(valid.user, project, role) if note_use(valid, name=_name(project)) else None


def _name(project: Project) -> str:
    return f"Search in {project.title}"
