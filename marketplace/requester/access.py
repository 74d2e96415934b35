"""The door of the requester site: a view behind it gets a requester that is this person's, or does not run.

A requester belongs to its owner, who names members with roles (`services.members`); staff may do everything
for every requester. To anybody else it does not exist, and neither does anything of it. A view says what a
person must be allowed:

    @for_requester                                # looking: view; anything else: manage
    @on_requester(act=Action.REVIEW)              # a form or button of reviewers
    @on_requester(look=Action.KEYS, act=Action.KEYS)
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse

from core.accounts import security
from marketplace import clock
from marketplace.members import Action, may, role_of
from marketplace.models import Requester
from marketplace.site import selectors
from marketplace.site.access import current_worker
from web import tables as grids
from web.cells import Link
from web.forms import RevisedForm
from web.kit import Page, Tabs
from web.nav import NavGroup, NavLink, mark_current
from web.pages import conflict_page, render_page
from web.tables import Complete, Grid, GridRequest, Rows, as_they_are

# The sidebar of every page of a requester.


@dataclass(frozen=True, slots=True)
class _Place:
    """A place of the sidebar; only people who are allowed `needs` see it."""

    label: str
    name: str
    url_name: str
    icon: str
    needs: Action = Action.VIEW


_PLACES = (
    ("", (_Place("Overview", "overview", "requester:overview", "layout-dashboard"),)),
    (
        "Work",
        (
            _Place("Batches", "batches", "requester:batches", "boxes"),
            _Place("HITs", "hits", "requester:hits", "list"),
            _Place("Study links", "links", "requester:study_links", "link"),
            _Place("Review", "review", "requester:review", "list-checks"),
        ),
    ),
    (
        "People",
        (
            _Place("Workers", "workers", "requester:workers", "users"),
            _Place("Qualifications", "qualifications", "requester:qualifications", "badge-check"),
            _Place("Messages", "messages", "requester:letters", "mail"),
        ),
    ),
    (
        "Account",
        (
            _Place("Money", "money", "requester:money", "wallet"),
            _Place("Keys", "keys", "requester:keys", "key", Action.KEYS),
            _Place("Members", "members", "requester:members", "user"),
            _Place("Webhooks", "webhooks", "requester:webhooks", "webhook", Action.MANAGE),
            _Place("Activity", "activity", "requester:activity", "activity"),
        ),
    ),
)
_TEST_PLACES = ("Tests", (_Place("Test controls", "controls", "requester:controls", "flask-conical"),))


def sidebar_groups(requester: Requester, current_place: str, path: str, user: User) -> list[NavGroup]:
    """The sidebar of a page at `path` that belongs to `current_place`, with what `user` may open."""
    groups = []
    for heading, places in (*_PLACES, *([_TEST_PLACES] if settings.MARKETPLACE_TEST_TOKEN else [])):
        links = []
        for place in places:
            if not may(user, requester, place.needs):
                continue
            address = reverse(place.url_name, args=[requester.customer_id])
            current = mark_current(is_here=place.name == current_place, exactly=address == path)
            links.append(NavLink(place.label, place.icon, address, current))
        groups.append((heading, links))
    return groups


def operator_groups(user: User, path: str) -> list[NavGroup]:
    """The sidebar of the pages over all requesters."""
    places = [("Requesters", "store", reverse("site:desk")), ("Worker site", "list", reverse("site:groups"))]
    if user.is_staff:
        places.append(("Admin", "shield", reverse("admin:index")))
    return [
        (
            "",
            [
                NavLink(label, icon, address, mark_current(is_here=False, exactly=address == path))
                for label, icon, address in places
            ],
        )
    ]


View = Callable[..., HttpResponseBase]


@dataclass(frozen=True, slots=True)
class RequesterAccess:
    """Somebody at a requester, where they have a role."""

    user: User
    requester: Requester
    frame: ClassVar[str] = "marketplace/requester/base.html"

    def address(self, name: str, *more: object) -> str:
        """An address of the requester's pages."""
        return reverse(name, args=[self.requester.customer_id, *more])

    @property
    def staff(self) -> bool:
        """Runs this installation: may also do what touches real money."""
        return self.user.is_staff

    @property
    def role(self) -> str:
        """Their role; the owner's for staff."""
        return role_of(self.user, self.requester)

    @property
    def may(self) -> dict[str, bool]:
        """What they may do, by `Action`; templates ask `access.may.review`."""
        return {action.value: may(self.user, self.requester, action) for action in Action}


#: What a person must be allowed: this, or one of these.
Needed = Action | tuple[Action, ...]


def on_requester(
    look: Needed = Action.VIEW, act: Needed = Action.MANAGE
) -> Callable[[View], Callable[..., HttpResponseBase]]:
    """The view gets a `RequesterAccess` to the requester whose customer id the address names.

    `look` is what a person must be allowed for GET and HEAD, `act` for everything else.
    """

    def decorate(view: View) -> View:
        @login_required
        @wraps(view)
        def guarded(request: HttpRequest, *, requester: str, **parts: Any) -> HttpResponseBase:
            user = request.user
            assert isinstance(user, User)
            row = selectors.requesters(user).filter(customer_id=requester).first()
            needed = look if request.method in {"GET", "HEAD"} else act
            if row is None or not may_one(user, row, needed):
                security.log("role.refused", requester=requester, path=request.path)
                raise Http404("There is no such requester.")
            return view(request, RequesterAccess(user, row), **parts)

        return guarded

    return decorate


def may_one(user: User, requester: Requester, needed: Needed) -> bool:
    """Whether the person may do this, or one of these."""
    return any(may(user, requester, each) for each in (needed if isinstance(needed, tuple) else (needed,)))


for_requester = on_requester()


def page_context(request: HttpRequest, access: RequesterAccess, place: str) -> dict[str, Any]:
    """What the frame around a page shows."""
    return {
        "access": access,
        "requester": access.requester,
        "sidebar": sidebar_groups(access.requester, place, request.path, access.user),
        "worker": current_worker(request),
        "now": clock.now(),
    }


def show(
    request: HttpRequest,
    template: str | Page,
    access: RequesterAccess,
    *,
    place: str,
    status: int = 200,
    **context: Any,
) -> HttpResponse:
    """A page of the requester site; `place` is the place of the sidebar it belongs to."""
    own = page_context(request, access, place)
    return render_page(
        request, template, access, own | context, folder="marketplace/requester", status=status
    )


def show_conflict(
    request: HttpRequest,
    access: RequesterAccess,
    form: RevisedForm,
    theirs: RevisedForm,
    back: str,
    *,
    place: str,
) -> HttpResponse:
    """The page for a small form whose row somebody else changed first; large forms show it on their own."""
    form.compare(theirs, back)
    return show(request, conflict_page(form), access, place=place, status=409)


def respond(
    request: HttpRequest,
    access: RequesterAccess,
    grid: Grid,
    rows: Callable[[GridRequest], Rows],
    template: str | Page,
    *,
    place: str,
    complete: Complete = as_they_are,
    file: str = "",
    file_at: str = "",
    **context: Any,
) -> HttpResponseBase:
    """A page with a table, whose rows it gets as `rows`, or the table's file; see `web.tables`."""
    page = partial(show, request, template, access, place=place, **context)
    return grids.respond(request, grid, rows, page, complete=complete, file=file, file_at=file_at)


# What several of the pages have.

_MONEY = (
    ("Statement", "requester:money"),
    ("To pay out", "requester:payables"),
    ("Payout files", "requester:payouts"),
    ("People and years", "requester:paid_people"),
    ("Invoices", "requester:invoices"),
)
_MESSAGES = (("Letters", "requester:letters"), ("Ratings", "requester:ratings"))


def money_tabs(access: RequesterAccess, here: str) -> Tabs:
    """The pages about money."""
    return Tabs("Money", here, [(label, access.address(name)) for label, name in _MONEY])


def message_tabs(access: RequesterAccess, here: str) -> Tabs:
    """The pages about what workers say."""
    return Tabs("Messages and ratings", here, [(label, access.address(name)) for label, name in _MESSAGES])


def trail(access: RequesterAccess, *places: tuple[str, str]) -> list[Link]:
    """Where a page is: labels and names of addresses above it."""
    return [Link(label, access.address(name)) for label, name in places]
