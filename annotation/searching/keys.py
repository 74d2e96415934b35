"""Keys with which a program searches a project as one of its members, without a log-in.

As with addresses of release files: signed, good for a week, and only as long as the member may look. A key
ends with the password it was made under: when that is changed, and when the person signs out everywhere. The
person sees every key and can end it by itself (`accounts.keys`).
"""

from datetime import timedelta

from django.http import Http404

from accounts.keys import Purpose, issue_key, note_use, read_key
from crowd.desk.doors import Seat
from projects.models import Project
from projects.selectors import project_for

PURPOSE = Purpose(salt="annotation.search", life=timedelta(days=7))


def key_for(seat: Seat) -> str:
    """A key of this person for this project."""
    given = {"project": seat.project.pk}
    return issue_key(purpose=PURPOSE, user=seat.user, name=_name(seat.project), given=given)


def seat_of(key: str, slug: str) -> Seat | None:
    """The member whose key this is, at the project of this short name; None where it does not hold there."""
    if (read := read_key(PURPOSE, key)) is None:
        return None
    user, given = read
    try:
        project, role = project_for(user, slug)
    except Http404:
        return None
    if project.pk != given["project"]:
        return None
    used = note_use(purpose=PURPOSE, token=key, user=user, name=_name(project))
    return Seat(user, project, role) if used else None


def _name(project: Project) -> str:
    return f"Search in {project.title}"
