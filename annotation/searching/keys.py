"""Keys with which a program searches a project as one of its members, without a log-in.

As with addresses of release files: signed, good for a week, and only as long as the member may look. A key
ends with the password it was made under: when that is changed, and when the person signs out everywhere. The
person can end a key that was used by itself (`accounts.keys`).
"""

from datetime import timedelta

from django.contrib.auth.models import User
from django.core import signing
from django.http import Http404
from django.utils.crypto import constant_time_compare

from accounts.epochs import epoch_of
from accounts.keys import note_use
from crowd.desk.doors import Seat
from projects.selectors import project_for

LIFE = timedelta(days=7)
_SALT = "annotation.search"


def key_for(seat: Seat) -> str:
    """A key of this person for this project."""
    given = {"project": seat.project.pk, "user": seat.user.pk, "epoch": epoch_of(seat.user)}
    return signing.dumps(given, salt=_SALT, compress=True)


def seat_of(key: str, slug: str) -> Seat | None:
    """The member whose key this is, at the project of this short name; None where it does not hold there."""
    try:
        given = signing.loads(key, salt=_SALT, max_age=LIFE)
        user = User.objects.filter(pk=given["user"], is_active=True).first()
        if user is None or not constant_time_compare(given.get("epoch", ""), epoch_of(user)):
            return None
        project, role = project_for(user, slug)
    except (signing.BadSignature, Http404):
        return None
    if project.pk != given["project"]:
        return None
    name = f"Search in {project.title}"
    return Seat(user, project, role) if note_use(token=key, user=user, name=name, life=LIFE) else None
