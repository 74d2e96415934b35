"""A requester's account: making one, its keys, members, webhooks, and who did what in its name."""

from datetime import timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.accounts.confirmation import confirmed, needs_factor
from core.accounts.membership_views import members_panel
from core.money import FEE_PROFILES
from core.origin import Owner
from marketplace import clock
from marketplace import members as services
from marketplace.accounts import accesskeys, people
from marketplace.accounts.accesskeys import mark_alerts_seen, open_alerts, valid_at
from marketplace.activity import ACTIONS
from marketplace.errors import Refusal
from marketplace.members import Action, members_of
from marketplace.models import AccessKey, Activity, RequesterMember
from marketplace.requester.access import (
    RequesterAccess,
    for_requester,
    on_requester,
    operator_groups,
    respond,
    show,
)
from marketplace.site.access import for_researchers
from marketplace.site.taskpages import site_url
from web import cells
from web.audit_pages import BY_WAY, chain_state, filter_by_way, jsonl_address, stream_log
from web.cells import Cell, Link, Post, isolated, more, post, several
from web.forms import FormError, read_form, run_action
from web.kit import Button, Empty, FormSection, Listing, Note, Own, Page, Table
from web.pages import render_page
from web.tables import Choices, Column, Grid, GridRequest, Words
from web.webhook_pages import WebhookPages

# Forms of the Keys page.

_HOUR, _DAY = 3600, 86_400
#: When a key ends, by the value that the form sends.
ENDINGS = {"0": "at once", str(_HOUR): "in an hour", str(_DAY): "in a day", str(7 * _DAY): "in 7 days",
           str(30 * _DAY): "in 30 days"}  # fmt: skip
#: How long a new key is valid, by the value that the form sends.
LIVES = {
    str(30 * _DAY): "ends in 30 days",
    str(90 * _DAY): "ends in 90 days",
    str(365 * _DAY): "ends in a year",
}
KEEP = ""


class NewKeyForm(forms.Form):
    """A further key, and what becomes of those that scripts use now."""

    label = forms.CharField(
        required=False,
        max_length=80,
        label="What it is for",
        help_text="Such as the script or the machine that gets it. Only you see this.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )
    others = forms.ChoiceField(
        required=False,
        label="The keys that are valid now",
        choices=[(KEEP, "stay valid"), *((value, f"end {label}") for value, label in ENDINGS.items())],
        help_text="Until they end both work, so that your scripts can change one after the other.",
    )

    ends = forms.ChoiceField(
        required=False, label="The new key", choices=[(KEEP, "is valid until you end it"), *LIVES.items()]
    )
    read_only = forms.BooleanField(
        required=False,
        label="It may only read",
        help_text="For scripts that look: calls that publish, decide or pay are refused.",
    )

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, label_suffix="", **options)

    @property
    def ends_in(self) -> timedelta | None:
        """How long the new key is valid; None until it is ended."""
        choice = self.cleaned_data["ends"]
        return None if choice == KEEP else timedelta(seconds=int(choice))

    @property
    def others_end_in(self) -> timedelta | None:
        """How long the other keys stay valid; None where they stay."""
        choice = self.cleaned_data["others"]
        return None if choice == KEEP else timedelta(seconds=int(choice))


class EndKeyForm(forms.Form):
    """When one key ends."""

    after = forms.ChoiceField(choices=list(ENDINGS.items()), label="It ends")

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, label_suffix="", **options)

    @property
    def delay(self) -> timedelta:
        """How long the key stays valid."""
        return timedelta(seconds=int(self.cleaned_data["after"]))


_SHOW_ONCE = "marketplace.new_key"
#: Digits of a number that no primary key reaches.
_LONGEST_KEY = 19
KEYS = Grid(
    "keys",
    columns=(
        Column("access_key", "Access key"),
        Column("label", "For", by="label"),
        Column("created_at", "Made", by="created_at", down=True),
        Column("last_used_at", "Last used", by="last_used_at", down=True, gaps=True),
        Column("ends_at", "State", by="ends_at", gaps=True),
    ),
    filters=(Choices("state", "State", {"valid": "Valid", "all": "All, with those that ended"}, tabs=True),),
    order="created_at",
)


@require_safe
@never_cache
@needs_factor
@on_requester(look=Action.KEYS, act=Action.KEYS)
def keys(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """The keys; a secret is shown on the first look after its key was made, and never again."""
    return _page(request, access, NewKeyForm())


def _page(
    request: HttpRequest, access: RequesterAccess, form: NewKeyForm, status: int = 200
) -> HttpResponseBase:
    now = clock.now()

    def rows(grid: GridRequest) -> QuerySet[AccessKey]:
        access_keys = access.requester.keys.select_related("made_by")
        return access_keys.filter(valid_at(now)) if grid["state"] == "valid" else access_keys

    new = _shown_once(request, access)
    return respond(
        request,
        access,
        KEYS,
        rows,
        "keys.html",
        place="keys",
        now=now,
        form=form,
        status=status,
        endings=ENDINGS,
        new=new,
        alerts=open_alerts(access.requester).select_related("key").order_by("-pk"),
        secret=accesskeys.secret_of(new) if new else None,
        endpoint=f"{site_url(request)}/mturk/api",
        most=accesskeys.MOST_VALID,
    )


def _shown_once(request: HttpRequest, access: RequesterAccess) -> AccessKey | None:
    """The key that this person made a moment ago and has not seen the secret of."""
    # A file of the table is no look at the page: the secret waits for one.
    if request.method != "GET" or "format" in request.GET or _SHOW_ONCE not in request.session:
        return None
    return access.requester.keys.filter(pk=request.session.pop(_SHOW_ONCE), made_by=access.user).first()


def show_secret_once(request: HttpRequest, key: AccessKey) -> None:
    """Let the Keys page show the secret of this key when this person looks at it next."""
    # The key's number, not its secret: sessions are stored.
    request.session[_SHOW_ONCE] = key.pk


@require_POST
@confirmed
@on_requester(look=Action.KEYS, act=Action.KEYS)
def new_key(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """Make a key; the others end when the form says so."""
    form = NewKeyForm(request.POST)
    if form.is_valid():
        try:
            issued = accesskeys.issue_key(
                requester=access.requester,
                label=form.cleaned_data["label"],
                by=access.user,
                others_end_in=form.others_end_in,
                ends_in=form.ends_in,
                read_only=form.cleaned_data["read_only"],
            )
        except Refusal as refusal:
            form.add_error(None, refusal.message)
        else:
            show_secret_once(request, issued.row)
            return redirect("requester:keys", access.requester.customer_id)
    return _page(request, access, form, status=422)


@require_POST
@needs_factor
@on_requester(look=Action.KEYS, act=Action.KEYS)
def mark_key_alerts(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """Close the alerts that the page showed; newer ones stay open."""
    last = request.POST.get("last", "")
    if last.isdecimal() and len(last) < _LONGEST_KEY:
        mark_alerts_seen(requester=access.requester, last=int(last), by=access.user)
        messages.success(request, "Seen. You are told when a key is used from another address.")
    return redirect("requester:keys", access.requester.customer_id)


@require_POST
@confirmed
@on_requester(look=Action.KEYS, act=Action.KEYS)
def end_key(request: HttpRequest, access: RequesterAccess, key: int) -> HttpResponse:
    """End one key, at once or later; from then on calls signed with it are refused."""
    key_row = access.requester.keys.filter(pk=key).first()
    if key_row is None:
        raise Http404("There is no such key.")
    form = EndKeyForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose when the key ends.")
        return redirect("requester:keys", access.requester.customer_id)
    try:
        at = accesskeys.end_key(key=key_row, after=form.delay)
    except Refusal as refusal:
        messages.error(request, refusal.message)
    else:
        when = "has ended" if at <= clock.now() else f"ends on {at:%-d %b %Y at %H:%M} UTC"
        messages.success(request, f"The key {key_row.access_key} {when}.")
    return redirect("requester:keys", access.requester.customer_id)


# Making a requester in the browser.

# The form by which staff make a requester.

_FEES = {"none-1": "none", "mturk-2026": "as on MTurk: 20 % to 40 %"}


class RequesterForm(forms.Form):
    """A requester: who posts HITs, with an account and keys of their own."""

    name = forms.CharField(
        max_length=120,
        help_text="Workers see it with every HIT.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )
    owner = forms.CharField(
        required=False,
        max_length=150,
        label="Owner",
        help_text="User name of the person whose pages these are. Empty: staff alone see them.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )
    fee_profile = forms.ChoiceField(
        label="Fees",
        choices=lambda: [(name, _FEES.get(name, name)) for name in FEE_PROFILES],
        initial=lambda: settings.MARKETPLACE_FEE_PROFILE,
    )
    real_money = forms.TypedChoiceField(
        label="The account holds",
        choices=[("no", "play money"), ("yes", "real money, which the lab pays out")],
        coerce=lambda value: value == "yes",
        help_text="This cannot change later.",
        initial="no",
    )

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, label_suffix="", **options)

    def clean_owner(self) -> User | None:
        """Somebody who has an account here."""
        name = self.cleaned_data["owner"].strip()
        if not name:
            return None
        user = User.objects.filter(username=name, is_active=True).first()
        if user is None:
            raise forms.ValidationError("There is no user with this name.")
        return user


@require_http_methods(["GET", "HEAD", "POST"])
@for_researchers
def new_requester(request: HttpRequest, user: User) -> HttpResponse:
    """Staff name a requester and its owner; its Keys page then shows the first secret, once."""
    if not user.is_staff:
        raise Http404("Staff make requesters.")
    form = RequesterForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            requester, key = people.create_requester(
                name=data["name"],
                fee_profile=data["fee_profile"],
                owner=data["owner"],
                real_money=data["real_money"],
                by=user,
            )
        except Refusal as refusal:
            form.add_error("name", refusal.message)
        else:
            show_secret_once(request, key.row)
            messages.success(request, f"{requester.name} is there. Its account is empty: deposit next.")
            return redirect("requester:keys", requester.customer_id)
    back = Link("Back", reverse("site:desk"))
    page = Page(
        "New requester",
        [FormSection(form, [Button("Make the requester"), back])],
        lead="Posts HITs, by scripts or in the browser, with its own keys and account.",
        frame="marketplace/requester/operator.html",
    )
    context = {"sidebar": operator_groups(user, request.path)}
    status = 422 if form.errors else 200
    return render_page(request, page, None, context, folder="", status=status)


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
    form = FormSection(
        MemberForm(),
        [Button("Save")],
        access.address("requester:set_member"),
        heading="Add a person, or change a role",
    )
    page = Page(
        "Members",
        [Table("Table of members", _MEMBERS, _list_members(access), empty=_NOBODY)],
        lead="Viewers read, reviewers decide about work, payers deposit and pay out, managers also "
        "publish and hold keys, owners name members.",
        aside=[*([form] if access.may["members"] else []), Own("accounts/parts_members.html")],
        aside_label="People",
        scripts=["copy.js"],
    )
    panel = members_panel(request, "requester", access.requester.customer_id)
    return show(request, page, access, place="members", **panel)


_NOBODY = "This requester has no owner and no members: staff alone see it."


def _list_members(access: RequesterAccess) -> list[Any]:
    """The owner, as a member without a row, and the members."""
    requester = access.requester
    owner = RequesterMember(
        requester=requester, user=requester.owner, role="owner", since=requester.created_at
    )
    return [*([owner] if requester.owner else []), *members_of(requester)]


def _draw_leave(cell: Cell) -> object:
    member, access = cell.row, cell.access
    mine = member.user_id == access.user.pk
    if member.pk is None or not (mine or access.may["members"]):
        return ""
    address = cell.address("requester:remove_member", member.user_id)
    words = ("Leave", "") if mine else ("Remove", member.user.get_username())
    return post(cell.context, Post(words[0], address, unseen=words[1]))


_MEMBERS = (
    Column("user", "Person", lambda member: member.user.get_username()),
    Column("role", "Role"),
    Column("since", "Since", cell=cells.moment),
    Column("remove", "Remove", None, unseen=True, cell=_draw_leave),
)


@require_POST
@confirmed
@on_requester(act=Action.MEMBERS)
def set_member(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """Bring somebody in who has an account, or give them another role."""

    def action() -> str:
        values = read_form(MemberForm(request.POST))
        user = User.objects.filter(username=values["username"].strip(), is_active=True).first()
        if user is None:
            raise FormError(f"There is no user {values['username']!r} here. Invite them instead.")
        services.set_role(requester=access.requester, user=user, role=values["role"], by=access.user)
        return f"{user.get_username()} is {values['role']} now."

    return run_action(request, action, "requester:members", access.requester.customer_id)


@require_POST
@confirmed
@on_requester(act=Action.VIEW)
def remove_member(request: HttpRequest, access: RequesterAccess, *, user: int) -> HttpResponse:
    """Take somebody out; anybody may leave."""
    member = get_object_or_404(access.requester.members.select_related("user"), user=user)

    def action() -> str:
        services.remove_member(requester=access.requester, user=member.user, by=access.user)
        return f"{member.user.get_username()} is no longer a member."

    answer = run_action(request, action, "requester:members", access.requester.customer_id)
    return redirect("site:desk") if member.user == access.user else answer


# The log: people and scripts, with keys and addresses.

_IN_WORDS = {name: f"{sentence[:1].upper()}{sentence[1:]}" for name, sentence in ACTIONS.items()}


def _worded(rows: list[Any]) -> list[Any]:
    for row in rows:
        row.words = _IN_WORDS.get(row.action, row.action)
        row.who = row.actor or row.access_key or "the system"
    return rows


def _draw_subject(cell: Cell) -> object:
    return several(cells.mono(cell), cell.row.details and more(cell.row.details))


ACTIVITY = Grid(
    "activity",
    columns=(
        Column("at", "When", by="pk", down=True, cell=cells.moment),
        Column("who", "Who", by="actor", cell=lambda cell: isolated(cell.value, mono=not cell.row.actor)),
        Column("words", "What", by="action", head=True),
        Column("action", "Action", on_page=False),
        Column("subject", "About", by="subject", cell=_draw_subject),
        Column("details", "Details", on_page=False),
        Column("user", "User", "actor", on_page=False),
        Column("access_key", "Access key", on_page=False),
        Column("via", "By", lambda row: row.get_via_display(), by="via"),
        Column("address", "From", by="address", cell=cells.mono),
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

    def rows(grid: GridRequest) -> QuerySet[Activity]:
        entries = Activity.objects.filter(requester=access.requester)
        if grid["action"] != "all":
            entries = entries.filter(action=grid["action"])
        if grid["by"] != "all":
            entries = entries.exclude(access_key="") if grid["by"] == "keys" else entries.exclude(actor="")
        if search := grid["q"]:
            person = Q(actor__icontains=search) | Q(access_key__icontains=search)
            entries = entries.filter(person | Q(address__icontains=search) | Q(subject__icontains=search))
        return filter_by_way(entries, grid["via"])

    owner = Owner(Owner.Kind.REQUESTER, access.requester.pk)
    name = f"activity-{access.requester.customer_id}"
    if request.GET.get("format") == "jsonl":
        return stream_log(owner, rows(ACTIVITY.read_request(request.GET)).order_by("pk"), name)
    empty = Empty("Nothing yet", "Decisions, grants, blocks, bonuses, keys and deposits are listed here.")
    page = Page(
        "Activity",
        [
            Listing("Which activity to show", "entry", "entries", empty),
            Own("parts/audit_chain.html"),
            Note("Automatic changes, such as approval after the deadline, are not listed."),
        ],
        lead="Who decided, granted, blocked, paid or made a key, with which key and from where.",
    )
    return respond(
        request,
        access,
        ACTIVITY,
        rows,
        page,
        place="activity",
        complete=_worded,
        file=name,
        chain_state=chain_state(owner),
        jsonl_address=jsonl_address(request),
    )


def _note_topics(access: RequesterAccess) -> list[Note]:
    topics = Link("Topics and their messages", access.address("requester:topics"))
    return [Note((topics, ", which scripts publish through SNS."))]


PAGES = WebhookPages(
    Owner.Kind.REQUESTER, "requester", show, respond, {"place": "webhooks"}, notes=_note_topics
)
_for_managers = on_requester(look=Action.MANAGE, act=Action.MANAGE)


@require_http_methods(["GET", "HEAD", "POST"])
@_for_managers
def webhooks(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """The webhooks, and the form for a new one."""
    return PAGES.listing(request, access, access.requester.pk, access.requester.customer_id, access.user)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@_for_managers
def webhook(request: HttpRequest, access: RequesterAccess, *, pk: int) -> HttpResponseBase:
    """One webhook with its messages; the form changes it."""
    return PAGES.page(request, access, access.requester.pk, access.requester.customer_id, pk)


@require_POST
@_for_managers
def act_on_webhook(request: HttpRequest, access: RequesterAccess, *, pk: int, action: str) -> HttpResponse:
    """Do something with a webhook."""
    return PAGES.act(request, access.requester.pk, access.requester.customer_id, pk, action)


@require_POST
@_for_managers
def webhook_message(request: HttpRequest, access: RequesterAccess, *, pk: int, message: int) -> HttpResponse:
    """Send a message again, or skip it."""
    return PAGES.act_on_message(request, access.requester.pk, access.requester.customer_id, pk, message)
