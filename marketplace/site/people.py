"""Who is looking at the worker site, what their menu shows, and how they join."""

from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db import IntegrityError, connection, transaction
from django.http import HttpRequest

from core.database.composedqueries import ComposedQuery
from marketplace.errors import Refusal
from marketplace.models import Holding, Requester, Worker
from marketplace.services.people import register_worker

#: In one query and in SQL: on every page, Django composed three of them for ten times as long as they ran.
_MENU = """
SELECT (SELECT COUNT(*) FROM marketplace_holding WHERE worker_id = %s AND state = %s),
       (SELECT COUNT(*) FROM marketplace_message WHERE worker_id = %s AND read_at IS NULL),
       EXISTS (SELECT 1 FROM marketplace_requester WHERE owner_id = %s)
"""


@dataclass(frozen=True, slots=True)
class Menu:
    """What the menu of a worker shows: numbers beside its entries, and whether the desk is among them."""

    in_queue: int
    unread: int
    desk: bool


@dataclass(frozen=True, slots=True)
class Newcomer:
    """What somebody tells about themselves when they join."""

    country: str
    subdivision: str
    adult: bool
    username: str = ""
    password: str = ""


_BY_USER = ComposedQuery(Worker, ["user"], lambda user: Worker.objects.filter(user=user))


def current_worker(request: HttpRequest) -> Worker | None:
    """The worker who is signed in, if any."""
    if not request.user.is_authenticated:
        return None
    return _BY_USER.first(request.user.pk)


def menu_of(worker: Worker, user: AbstractBaseUser | AnonymousUser) -> Menu:
    """HITs in the worker's queue, messages they have not read, and whether they may see the desk."""
    with connection.cursor() as cursor:
        cursor.execute(_MENU, (worker.pk, Holding.State.ACCEPTED, worker.pk, user.pk))
        in_queue, unread, owns = cursor.fetchone()
    return Menu(in_queue, unread, bool(owns) or (isinstance(user, User) and user.is_staff))


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
