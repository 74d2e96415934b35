"""Who did what in a requester's name: people and scripts, with keys and addresses; as a page and a file."""

from operator import attrgetter
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from core.origin import Owner
from marketplace import clock
from marketplace.models import Activity
from marketplace.requester.access import RequesterAccess, for_requester, respond
from marketplace.services.activity import ACTIONS
from web.audit_pages import BY_WAY, chain_state, filter_by_way, jsonl_address, stream_log
from web.tables import Choices, Column, Grid, GridRequest, Words

_IN_WORDS = {name: f"{words[:1].upper()}{words[1:]}" for name, words in ACTIONS.items()}


def _worded(rows: list[Any]) -> list[Any]:
    for row in rows:
        row.words = _IN_WORDS.get(row.action, row.action)
        row.who = row.actor or row.access_key or "the system"
    return rows


ACTIVITY = Grid(
    "activity",
    columns=(
        Column("at", "When", attrgetter("at"), by="pk", down=True),
        Column("who", "Who", attrgetter("who"), by="actor"),
        Column("words", "What", attrgetter("words"), by="action"),
        Column("action", "Action", attrgetter("action"), on_page=False),
        Column("subject", "About", attrgetter("subject"), by="subject"),
        Column("details", "Details", attrgetter("details"), on_page=False),
        Column("user", "User", attrgetter("actor"), on_page=False),
        Column("access_key", "Access key", attrgetter("access_key"), on_page=False),
        Column("via", "By", lambda row: row.get_via_display(), by="via"),
        Column("address", "From", attrgetter("address"), by="address"),
    ),
    filters=(
        Choices("action", "What", {"all": "Everything", **_IN_WORDS}),
        Choices("by", "Who", {"all": "Everybody", "people": "People", "keys": "Access keys"}),
        BY_WAY,
        Words("q", "Person, key, address, or what it is about"),
    ),
    order="at",
)


@require_safe
@for_requester
def activity(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """Decisions, grants, blocks, bonuses, keys and money, the latest first."""

    def rows(asked: GridRequest) -> QuerySet[Activity]:
        found = Activity.objects.filter(requester=access.requester)
        if asked["action"] != "all":
            found = found.filter(action=asked["action"])
        if asked["by"] != "all":
            found = found.exclude(access_key="") if asked["by"] == "keys" else found.exclude(actor="")
        if words := asked["q"]:
            person = Q(actor__icontains=words) | Q(access_key__icontains=words)
            found = found.filter(person | Q(address__icontains=words) | Q(subject__icontains=words))
        return filter_by_way(found, asked["via"])

    owner = Owner(Owner.Kind.REQUESTER, access.requester.pk)
    name = f"activity-{access.requester.customer_id}"
    if request.GET.get("format") == "jsonl":
        return stream_log(owner, rows(ACTIVITY.asked(request.GET)).order_by("pk"), name)
    return respond(
        request,
        access,
        ACTIVITY,
        rows,
        "activity.html",
        place="activity",
        complete=_worded,
        file=name,
        chain_state=chain_state(owner),
        jsonl_address=jsonl_address(request),
        now=clock.now(),
    )
