"""The demand for a new password, as one session remembers it.

The database is asked once, at log-in. A password that somebody else sets ends every session of the
person (Django's session hash), so what a session remembers cannot be older than the password.
"""

from django.contrib.auth.models import User
from django.http import HttpRequest

from core.accounts.models import PasswordState

KEY = "must_change_password"


def note_in_session(*, request: HttpRequest | None, user: User, **_: object) -> None:
    """On log-in: remember in the session that this person has to choose a password first."""
    if request is not None and PasswordState.objects.filter(user=user, must_change=True).exists():
        request.session[KEY] = True


def forget(request: HttpRequest) -> None:
    """The person has chosen a password; the session may go where it likes."""
    request.session.pop(KEY, None)
