"""The people of the demonstration: an administrator, two workers, a lab with play money, and a script."""

from dataclasses import dataclass
from itertools import count

from django.contrib.auth.models import User

from accounts.services import create_user_with_printed_password
from marketplace.models import Requester, Worker
from marketplace.services.people import (
    create_invitation,
    create_requester,
    create_scripted_worker,
    deposit,
    register_worker,
)

ADMIN, LAB, SCRIPT = "admin", "Demo lab", "Demo script"
WORKERS = ("ada", "bruno")
DEPOSIT_CENTS = 200_00
FEE_PROFILE = "mturk-2026"


@dataclass(frozen=True)
class Login:
    """Somebody who can log in, with the password that is shown once."""

    role: str
    username: str
    password: str


@dataclass(frozen=True)
class People:
    """Everybody the demonstration made."""

    logins: tuple[Login, ...]
    requester: Requester
    secret: str
    script_token: str
    suffix: str


def make_people() -> People:
    """Create everybody; in a database that has them from an earlier run, further ones with a number."""
    suffix = _unused_suffix()
    password = create_user_with_printed_password(username=ADMIN + suffix, staff=True, superuser=True)
    admin = Login("administrator", ADMIN + suffix, password)
    owner = User.objects.get(username=admin.username)
    requester, secret = create_requester(name=LAB + suffix, fee_profile=FEE_PROFILE, owner=owner)
    deposit(requester=requester, cents=DEPOSIT_CENTS)
    _, script_token = create_scripted_worker(name=SCRIPT + suffix)
    workers = [_invited_worker(name + suffix) for name in WORKERS]
    return People((admin, *workers), requester, secret, script_token, suffix)


def _invited_worker(username: str) -> Login:
    password = create_user_with_printed_password(username=username, staff=False, superuser=False)
    _, invitation_token = create_invitation(label="demonstration", max_uses=1, days=1)
    user = User.objects.get(username=username)
    register_worker(user=user, name=username, invitation_token=invitation_token)
    return Login("worker", username, password)


def _unused_suffix() -> str:
    """Nothing, or the first "-2", "-3", … with which all our names are free."""
    for number in count(1):
        suffix = "" if number == 1 else f"-{number}"
        accounts = [name + suffix for name in (ADMIN, *WORKERS)]
        taken = (
            User.objects.filter(username__in=accounts).exists()
            or Requester.objects.filter(name=LAB + suffix).exists()
            or Worker.objects.filter(name__in=[*accounts, SCRIPT + suffix]).exists()
        )
        if not taken:
            return suffix
    raise AssertionError("count() does not end")
