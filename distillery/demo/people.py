"""The people of the demonstration: a researcher and a guest, two workers, a lab with play money, a crowd."""

from dataclasses import dataclass
from itertools import count

from django.contrib.auth.models import User

from core.accounts.services import create_user_with_printed_password, printed_password
from crowd.simulation.accounts import Account
from marketplace.models import Requester, Worker
from marketplace.services.accesskeys import IssuedKey
from marketplace.services.people import (
    create_invitation,
    create_requester,
    create_scripted_worker,
    create_scripted_workers,
    deposit,
    register_worker,
)

ADMIN, GUEST, LAB, SCRIPT = "admin", "guest", "Demo lab", "Demo script"
WORKERS = ("ada", "bruno")
DEPOSIT_CENTS = 200_00
FEE_PROFILE = "mturk-2026"


@dataclass(frozen=True)
class Login:
    """Somebody who can log in with the demonstration's password."""

    role: str
    username: str


@dataclass(frozen=True)
class People:
    """Everybody the demonstration made. One password is everybody's first."""

    owner: User
    guest: User
    logins: tuple[Login, ...]
    password: str
    requester: Requester
    key: IssuedKey
    script_token: str
    suffix: str


def make_people() -> People:
    """Create everybody; in a database that has them from an earlier run, further ones with a number."""
    suffix = _unused_suffix()
    password = printed_password()
    owner = _user(ADMIN + suffix, password, staff=True)
    guest = _user(GUEST + suffix, password)
    requester, key = create_requester(name=LAB + suffix, fee_profile=FEE_PROFILE, owner=owner)
    deposit(requester=requester, cents=DEPOSIT_CENTS)
    _, script_token = create_scripted_worker(name=SCRIPT + suffix)
    for name in WORKERS:
        _, invitation = create_invitation(label="demonstration", max_uses=1, days=1)
        register_worker(user=_user(name + suffix, password), name=name + suffix, invitation_token=invitation)
    logins = (
        Login("researcher", owner.username),
        Login("viewer", guest.username),
        *(Login("worker", name + suffix) for name in WORKERS),
    )
    return People(owner, guest, logins, password, requester, key, script_token, suffix)


def make_crowd(size: int, suffix: str) -> list[Account]:
    """Simulated workers of the marketplace, with their tokens."""
    names = [f"Simulated worker{suffix} {number}" for number in range(1, size + 1)]
    return [Account(worker.worker_id, token) for worker, token in create_scripted_workers(names=names)]


def _user(username: str, password: str, *, staff: bool = False) -> User:
    create_user_with_printed_password(username=username, staff=staff, superuser=staff, password=password)
    return User.objects.get(username=username)


def _unused_suffix() -> str:
    """Nothing, or the first "-2", "-3", … with which all our names are free."""
    for number in count(1):
        suffix = "" if number == 1 else f"-{number}"
        accounts = [name + suffix for name in (ADMIN, GUEST, *WORKERS)]
        taken = (
            User.objects.filter(username__in=accounts).exists()
            or Requester.objects.filter(name=LAB + suffix).exists()
            or Worker.objects.filter(name__in=[*accounts, SCRIPT + suffix]).exists()
        )
        if not taken:
            return suffix
    raise AssertionError("count() does not end")
