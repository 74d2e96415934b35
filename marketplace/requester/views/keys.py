"""Access keys of a requester: a table, new ones, and ends of old ones."""

from operator import attrgetter

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from marketplace import clock
from marketplace.errors import Refusal
from marketplace.models import AccessKey
from marketplace.requester.access import RequesterAccess, for_requester, respond
from marketplace.requester.keyforms import ENDINGS, EndKeyForm, NewKeyForm
from marketplace.services import accesskeys
from marketplace.services.accesskeys import valid_at
from marketplace.services.keyalerts import mark_seen, open_alerts
from marketplace.submission import site_url
from web.tables import Choices, Column, Grid, GridRequest

_SHOW_ONCE = "marketplace.new_key"
#: Digits of a number that no primary key reaches.
_LONGEST_KEY = 19
KEYS = Grid(
    "keys",
    columns=(
        Column("access_key", "Access key", attrgetter("access_key")),
        Column("label", "For", attrgetter("label"), by="label"),
        Column("created_at", "Made", attrgetter("created_at"), by="created_at", down=True),
        Column(
            "last_used_at", "Last used", attrgetter("last_used_at"), by="last_used_at", down=True, gaps=True
        ),
        Column("ends_at", "State", attrgetter("ends_at"), by="ends_at", gaps=True),
    ),
    filters=(Choices("state", "State", {"valid": "Valid", "all": "All, with those that ended"}, tabs=True),),
    order="created_at",
)


@require_safe
@never_cache
@for_requester
def keys(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """The keys; a secret is shown on the first look after its key was made, and never again."""
    return _page(request, access, NewKeyForm())


def _page(
    request: HttpRequest, access: RequesterAccess, form: NewKeyForm, status: int = 200
) -> HttpResponseBase:
    now = clock.now()

    def rows(asked: GridRequest) -> QuerySet[AccessKey]:
        found = access.requester.keys.select_related("made_by")
        return found.filter(valid_at(now)) if asked["state"] == "valid" else found

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
    if request.method != "GET" or "format" in request.GET or _SHOW_ONCE not in request.session:
        return None
    return access.requester.keys.filter(pk=request.session.pop(_SHOW_ONCE), made_by=access.user).first()


def show_secret_once(request: HttpRequest, key: AccessKey) -> None:
    """Let the Keys page show the secret of this key when this person looks at it next."""
    request.session[_SHOW_ONCE] = key.pk


@require_POST
@for_requester
def new_key(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """Make a key; the others end when the form says so."""
    form = NewKeyForm(request.POST)
    if form.is_valid():
        try:
            issued = accesskeys.issue(
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
@for_requester
def see_alerts(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """Close the alerts that the page showed; newer ones stay open."""
    last = request.POST.get("last", "")
    if last.isdecimal() and len(last) < _LONGEST_KEY:
        mark_seen(requester=access.requester, last=int(last), by=access.user)
        messages.success(request, "Seen. You are told when a key is used from another address.")
    return redirect("requester:keys", access.requester.customer_id)


@require_POST
@for_requester
def end_key(request: HttpRequest, access: RequesterAccess, key: int) -> HttpResponse:
    """End one key, at once or later; from then on calls signed with it are refused."""
    found = access.requester.keys.filter(pk=key).first()
    if found is None:
        raise Http404("There is no such key.")
    form = EndKeyForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose when the key ends.")
        return redirect("requester:keys", access.requester.customer_id)
    try:
        at = accesskeys.end(key=found, after=form.delay)
    except Refusal as refusal:
        messages.error(request, refusal.message)
    else:
        when = "has ended" if at <= clock.now() else f"ends on {at:%-d %b %Y at %H:%M} UTC"
        messages.success(request, f"The key {found.access_key} {when}.")
    return redirect("requester:keys", access.requester.customer_id)
