"""Security events, one line of JSON each, in the logger `distillery.security`.

    {"at": "2026-11-22T17:04:11Z", "event": "key.made", "actor": "olga", "address": "192.0.2.7", …}

For whoever watches an installation with a program: every line has `at`, `event`, `actor` and `address`, and
the `request_id` that the settings' formatter adds.
"""

import json
import logging
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.utils import timezone

from core.accounts.actors import actor
from core.accounts.addresses import address_of

logger = logging.getLogger("distillery.security")
_LONGEST = 200


def log(event: str, **about: object) -> None:
    """Write an event down, with who acts and from where unless `about` says so."""
    now = actor()
    line: dict[str, Any] = {
        "at": f"{timezone.now():%Y-%m-%dT%H:%M:%SZ}",
        "event": event,
        "actor": now.name,
        "address": now.address,
    }
    line |= {name: str(value)[:_LONGEST] for name, value in about.items()}
    logger.info(json.dumps(line, ensure_ascii=True), extra={"event": line})


def connect() -> None:
    """Write down who signs in and out, and who fails to."""
    user_login_failed.connect(_failed, dispatch_uid="accounts.security.failed")
    user_logged_in.connect(_in, dispatch_uid="accounts.security.in")
    user_logged_out.connect(_out, dispatch_uid="accounts.security.out")


def _failed(credentials: Mapping[str, Any], request: Any = None, **_: Any) -> None:
    address = address_of(request.META) if request is not None else ""
    log("signin.failed", actor=credentials.get("username", ""), address=address)


def _in(user: Any, request: Any = None, **_: Any) -> None:
    address = address_of(request.META) if request is not None else ""
    log("signin.done", actor=user.get_username(), address=address)


def _out(user: Any, **_: Any) -> None:
    log("signout.done", actor=user.get_username() if user else "")
