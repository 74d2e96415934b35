"""Members of a requester, and who did what in its name: people and scripts, as a page and a file."""

from operator import attrgetter
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from core.accounts.confirmation import confirmed
from core.accounts.membership_views import members_panel
from core.origin import Owner
from marketplace import clock
from marketplace.models import Activity
from marketplace.requester.access import RequesterAccess, for_requester, on_requester, respond, show
from marketplace.services import members as services
from marketplace.services.activity import ACTIONS
from marketplace.services.members import Action, members_of
from web.audit_pages import BY_WAY, chain_state, filter_by_way, jsonl_address, stream_log
from web.forms import FormError, read_form, run_action
from web.tables import Choices, Column, Grid, GridRequest, Words

PLACE = "members"


class MemberForm(forms.Form):
    """Somebody who has an account, and their role."""

    username = forms.CharField(
        max_length=150,
        label="User name",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )
    role = forms.ChoiceField(choices=list(services.WORDS.items()), label="Role", initial="viewer")

    def __init__(self, data: object = None) -> None:
        super().__init__(data, label_suffix="")  # type: ignore[arg-type]


@require_safe
@for_requester
def members(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """The owner, the members, and the forms by which owners change them."""
    return show(
        request,
        "members.html",
        access,
        place=PLACE,
        members=members_of(access.requester),
        form=MemberForm(),
        **members_panel(request, "requester", access.requester.customer_id),
    )


@require_POST
@confirmed
@on_requester(act=Action.MEMBERS)
def set_member(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """Bring somebody in who has an account, or give them another role."""

    def action() -> str:
        given = read_form(MemberForm(request.POST))
        user = User.objects.filter(username=given["username"].strip(), is_active=True).first()
        if user is None:
            raise FormError(f"There is no user {given['username']!r} here. Invite them instead.")
        services.set_role(requester=access.requester, user=user, role=given["role"], by=access.user)
        return f"{user.get_username()} is {given['role']} now."

    return run_action(request, action, "requester:members", access.requester.customer_id)


@require_POST
@confirmed
@on_requester(act=Action.VIEW)
def remove_member(request: HttpRequest, access: RequesterAccess, *, user: int) -> HttpResponse:
    """Take somebody out; anybody may leave."""
    member = get_object_or_404(access.requester.members.select_related("user"), user=user)

    def action() -> str:
        services.remove_member(requester=access.requester, user=member.user, by=access.user)
        return f"{member.user.get_username()} is no member any more."

    answer = run_action(request, action, "requester:members", access.requester.customer_id)
    return redirect("site:desk") if member.user == access.user else answer


# The log: people and scripts, with keys and addresses.

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
