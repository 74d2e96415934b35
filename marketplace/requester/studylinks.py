"""Study links of a requester: the pages that projects have, in the frame of the requester site."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.origin import Owner
from marketplace.members import Action
from marketplace.requester.access import RequesterAccess, on_requester, page_context
from people import desk_pages
from people.desk_pages import LinkDesk

PLACE = "links"
#: Names of addresses here, by those that the pages ask for.
_NAMES = {
    "links": "study_links",
    "new_link": "new_study_link",
    "consent": "study_consent",
    "link": "study_link",
    "edit_link": "edit_study_link",
    "live": "study_link_live",
    "visits": "study_link_visits",
    "close_link": "close_study_link",
    "reopen_link": "reopen_study_link",
    "quota": "study_link_quota",
    "roster": "study_link_list",
    "roster_csv": "study_link_list_csv",
    "mail": "study_link_mail",
}
MONEY = (
    "“Money, paid by us” is the reward of each HIT, from your account, with the fee. With anything else "
    "nothing is paid here: an approval gives the money that was on hold for the place back, fee and all."
)


def _desk(access: RequesterAccess) -> LinkDesk:
    requester = access.requester

    def address(page: str, *parts: Any) -> str:
        return reverse(f"requester:{_NAMES[page]}", args=[requester.customer_id, *parts])

    manages = access.may[Action.MANAGE]
    return LinkDesk(
        owner=Owner(Owner.Kind.REQUESTER, requester.pk),
        user=access.user,
        title=requester.name,
        prefix=requester.customer_id,
        language="en",
        manages=manages,
        manager=manages,
        frame="marketplace/requester/links_base.html",
        trail=[("Study links", address("links"))],
        nowhere="people/no_stage.html",
        money_note=MONEY,
        address=address,
        render=partial(_render, access),
    )


def _render(
    access: RequesterAccess, request: HttpRequest, template: str, *, status: int = 200, **context: Any
) -> HttpResponse:
    own = page_context(request, access, PLACE)
    return render(request, f"people/{template}", own | context, status=status)


def _of_requester(
    page: Callable[..., HttpResponse], look: Action = Action.VIEW
) -> Callable[..., HttpResponseBase]:
    """The page for people who may look so; what changes something is for those who manage."""

    @on_requester(look=look, act=Action.MANAGE)
    def view(request: HttpRequest, access: RequesterAccess, **parts: Any) -> HttpResponse:
        return page(request, _desk(access), **parts)

    return view


_on_form = require_http_methods(["GET", "HEAD", "POST"])
listing = require_safe(_of_requester(desk_pages.listing))
link = require_safe(_of_requester(desk_pages.link))
live = require_safe(_of_requester(desk_pages.live))
visits_csv = require_safe(_of_requester(desk_pages.visits_csv, Action.MANAGE))
roster_csv = require_safe(_of_requester(desk_pages.roster_csv, Action.MANAGE))
new = _on_form(_of_requester(desk_pages.new, Action.MANAGE))
edit = _on_form(_of_requester(desk_pages.edit, Action.MANAGE))
edit_text = _on_form(_of_requester(desk_pages.edit_text, Action.MANAGE))
roster = _on_form(_of_requester(desk_pages.roster, Action.MANAGE))
close = require_POST(_of_requester(desk_pages.close))
reopen = require_POST(_of_requester(desk_pages.reopen))
quota = require_POST(_of_requester(desk_pages.quota))
mail = require_POST(_of_requester(desk_pages.mail))
