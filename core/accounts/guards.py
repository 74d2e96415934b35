"""What stands before the password: tries by names, devices and addresses that failed too often have to wait.

A backend, so that it guards every form that signs people in, the admin's too. The middleware then says how
long the wait is, and marks the device of who got in.
"""

from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from core.accounts import devices, throttle

#: Attributes of a request: seconds to wait; the name that has just signed in.
WAIT, SIGNED_IN = "sign_in_wait_s", "signed_in_name"


class ThrottleBackend:
    """Comes first; knows nobody, and refuses everybody who has to wait."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> User | None:
        """Nobody; PermissionDenied ends the attempt before a password is looked at."""
        name = credentials.get("username")
        if request is None or name is None:
            return None
        if wait := throttle.wait_s(*_keys(request, str(name))):
            setattr(request, WAIT, wait)
            raise PermissionDenied
        return None


def count_failure(*, credentials: dict[str, Any], request: HttpRequest | None = None, **_: object) -> None:
    """Somebody could not sign in; a try that was not heard counts for nothing."""
    name = credentials.get("username")
    if request is None or name is None or getattr(request, WAIT, None):
        return
    keys = _keys(request, str(name))
    throttle.count(*keys)
    if wait := throttle.wait_s(*keys):
        setattr(request, WAIT, wait)


def count_success(*, request: HttpRequest | None, user: User, **_: object) -> None:
    """Somebody signed in: their tries are forgotten, those of the address are not."""
    if request is None:
        return
    name = user.get_username()
    known = devices.known_as(request, name)
    throttle.forget(throttle.BY_DEVICE.key(known) if known else throttle.BY_NAME.key(name))
    setattr(request, SIGNED_IN, name)


def _keys(request: HttpRequest, name: str) -> list[str]:
    known = devices.known_as(request, name)
    person = throttle.BY_DEVICE.key(known) if known else throttle.BY_NAME.key(name)
    return [person, throttle.of_address(throttle.BY_ADDRESS, request)]
