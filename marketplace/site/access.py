"""Permission checks of the worker site and the desk, and what their pages need around the content."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import wraps

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.contrib.auth.views import redirect_to_login
from django.db import IntegrityError, connection, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone, translation
from django.utils.translation import gettext

from marketplace import clock
from marketplace.accounts.contact import zone_of
from marketplace.accounts.people import register_worker
from marketplace.errors import Refusal
from marketplace.lifecycle.traces import address_digest, note_visit
from marketplace.models import Holding, Worker
from marketplace.site.selectors import requesters
from web.languages import remember

# Who is looking at the worker site, what their menu shows, and how they join.

#: In one query and in SQL: on every page, Django composed three of them for ten times as long as they ran.
_MENU = """
SELECT (SELECT COUNT(*) FROM marketplace_holding WHERE worker_id = %s AND state = %s),
       (SELECT COUNT(*) FROM marketplace_message WHERE worker_id = %s AND read_at IS NULL),
       EXISTS (SELECT 1 FROM marketplace_requester WHERE owner_id = %s)
       OR EXISTS (SELECT 1 FROM marketplace_requestermember WHERE user_id = %s)
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


def current_worker(request: HttpRequest) -> Worker | None:
    """The worker who is signed in, if any."""
    if not request.user.is_authenticated:
        return None
    try:
        return Worker.objects.get(user=request.user.pk)
    except Worker.DoesNotExist:
        return None


def recall_language(request: HttpRequest | None, user: User) -> None:
    """On log-in: pages speak the language of the worker's profile, where it names one."""
    language = Worker.objects.filter(user=user.pk).values_list("language", flat=True).first()
    if request is not None and language:
        remember(request, language)


def menu_of(worker: Worker, user: AbstractBaseUser | AnonymousUser) -> Menu:
    """HITs in the worker's queue, messages they have not read, and whether they may see the desk."""
    with connection.cursor() as cursor:
        cursor.execute(_MENU, (worker.pk, Holding.State.ACCEPTED, worker.pk, user.pk, user.pk))
        in_queue, unread, owns = cursor.fetchone()
    return Menu(in_queue, unread, bool(owns) or (isinstance(user, User) and user.is_staff))


def may_see_desk(user: AbstractBaseUser | AnonymousUser) -> bool:
    """The desk is for staff and for people who own a requester or are a member of one."""
    if not isinstance(user, User):
        return False
    return user.is_staff or requesters(user).exists()


def join(
    *, request: HttpRequest, user: User | None, newcomer: Newcomer, invitation_token: str | None
) -> User:
    """Make a visitor a worker; people without an account get one. All of it happens, or nothing.

    Raises Refusal with a sentence for them: the invitation is used up, or the name is taken.
    """
    try:
        with transaction.atomic():
            if user is None:
                user = User.objects.create_user(newcomer.username, password=newcomer.password)
            worker = register_worker(
                user=user,
                name=user.get_username(),
                country=newcomer.country,
                subdivision=newcomer.subdivision,
                adult=newcomer.adult,
                invitation_token=invitation_token,
                address=address_digest(request),
                language=translation.get_language() or "",
            )
            note_visit(request=request, worker=worker, signed_up=True)
    except IntegrityError as error:
        raise Refusal(
            "NameTaken", gettext("Somebody has just taken this user name; choose another one.")
        ) from error
    return user


# Rendering a page of the worker site, with what its frame around the content needs.


def page(
    request: HttpRequest,
    template: str,
    *,
    worker: Worker | None,
    now: datetime,
    status: int = 200,
    **context: object,
) -> HttpResponse:
    """A page with the menu of the person who looks at it."""
    menu = menu_of(worker, request.user) if worker else None
    with timezone.override(zone_of(worker) if worker else UTC):
        return render(
            request,
            f"marketplace/site/{template}",
            {
                "worker": worker,
                "badges": menu,
                "desk": menu.desk if menu else may_see_desk(request.user),
                "registration_open": settings.MARKETPLACE_REGISTRATION == "open",
                "now": now,
                "section": template.removesuffix(".html"),
                **context,
            },
            status=status,
        )


View = Callable[..., HttpResponseBase]


def for_workers(view: View) -> View:
    """The view gets the signed-in worker; others are asked to sign in, or told how to become one."""

    @wraps(view)
    def guarded(request: HttpRequest, **parts: str | int) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return _to_log_in(request)
        worker = current_worker(request)
        if worker is None:
            return page(request, "no_worker.html", worker=None, now=clock.now(), status=403)
        return view(request, worker, **parts)

    return guarded


def _to_log_in(request: HttpRequest) -> HttpResponse:
    """To the log-in page, and back here afterwards; what a POST wanted is not repeated."""
    if request.method in ("GET", "HEAD"):
        return redirect_to_login(request.get_full_path())
    return redirect(settings.LOGIN_URL)


def for_researchers(view: View) -> View:
    """The view gets a user who may see the desk; for other people who are signed in there is no such page."""

    @login_required
    @wraps(view)
    def guarded(request: HttpRequest, **parts: str | int) -> HttpResponseBase:
        user = request.user
        if not isinstance(user, User) or not may_see_desk(user):
            raise Http404("The desk is for staff and requesters.")
        return view(request, user, **parts)

    return guarded
