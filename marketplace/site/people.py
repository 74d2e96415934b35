"""Who is looking at the worker site, what their menu shows, and how they join."""

from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db import IntegrityError, transaction
from django.http import HttpRequest

from marketplace.errors import Refusal
from marketplace.models import Holding, Message, Requester, Worker
from marketplace.services.people import register_worker


@dataclass(frozen=True, slots=True)
class Badges:
    """Numbers beside the entries of a worker's menu."""

    in_queue: int
    unread: int


@dataclass(frozen=True, slots=True)
class Newcomer:
    """What somebody tells about themselves when they join."""

    country: str
    subdivision: str
    adult: bool
    username: str = ""
    password: str = ""


def current_worker(request: HttpRequest) -> Worker | None:
    """The worker who is signed in, if any."""
    if not request.user.is_authenticated:
        return None
    return Worker.objects.filter(user_id=request.user.pk).first()


def badges(worker: Worker) -> Badges:
    """HITs in the worker's queue and messages they have not read, in one query each."""
    return Badges(
        in_queue=Holding.objects.filter(worker=worker, state=Holding.State.ACCEPTED).count(),
        unread=Message.objects.filter(worker=worker, read_at=None).count(),
    )


def may_see_desk(user: AbstractBaseUser | AnonymousUser) -> bool:
    """The desk is for staff and for people who own a requester."""
    if not isinstance(user, User):
        return False
    return user.is_staff or Requester.objects.filter(owner=user).exists()


def join(*, user: User | None, newcomer: Newcomer, invitation_token: str | None) -> User:
    """Make somebody a worker; people without an account get one. All of it happens, or nothing.

    Raises Refusal with a sentence for them: the invitation is used up, or the name is taken.
    """
    try:
        with transaction.atomic():
            if user is None:
                user = User.objects.create_user(newcomer.username, password=newcomer.password)
            register_worker(
                user=user,
                name=user.get_username(),
                country=newcomer.country,
                subdivision=newcomer.subdivision,
                adult=newcomer.adult,
                invitation_token=invitation_token,
            )
    except IntegrityError as error:
        raise Refusal("NameTaken", "Somebody has just taken this user name; choose another one.") from error
    return user
