"""Invitations and ownership: making them, revoking them, and the page of somebody who was invited."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import BaseUserCreationForm
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from core.accounts import guards, memberships, security
from core.accounts.adapters import BACKEND
from core.accounts.confirmation import confirmed
from core.accounts.memberships import INVITATION, InvitationPlan, MembershipError, MembershipKind
from core.accounts.middleware import too_many
from core.accounts.passwords import new_password_fields
from core.errors import ActionError
from core.extensions import parts_of

_LINK = "invitation_link"


class InvitationForm(forms.Form):
    """Whom to invite, as what, for how long."""

    role = forms.ChoiceField(label="Role")
    email = forms.EmailField(
        required=False,
        max_length=254,
        label="E-mail address",
        help_text="Empty: you get a link to pass on.",
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )
    max_uses = forms.IntegerField(
        label="For how many people", initial=1, min_value=1, max_value=memberships.MOST_USES
    )
    days = forms.IntegerField(
        label="Days that it works", initial=7, min_value=1, max_value=memberships.LONGEST_DAYS
    )

    def __init__(self, kind: MembershipKind, data: Any = None) -> None:
        super().__init__(data, label_suffix="")
        self.fields["role"].choices = [(role, role) for role in reversed(kind.roles)]  # type: ignore[attr-defined]


class OfferForm(forms.Form):
    """Who is to become the owner."""

    username = forms.CharField(
        max_length=150,
        label="User name of a member",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )


class NewAccountForm(BaseUserCreationForm):  # type: ignore[type-arg]  # no generic when it runs
    """A user name and a password, for somebody who was invited and has no account."""

    password1, password2 = new_password_fields(gettext_lazy("Password"))

    class Meta:
        model = User
        fields = ("username",)


def members_panel(request: HttpRequest, kind: str, target: str) -> dict[str, Any]:
    """What the page of members shows of invitations and ownership; for `accounts/parts_members.html`."""
    what, user = memberships.kind_named(kind), request.user
    assert isinstance(user, User)
    offer = memberships.offers_of(kind, target).first()
    own = user.pk in (offer.taker_id, offer.giver_id) if offer else False
    context: dict[str, Any] = {
        "kind": kind,
        "target": target,
        "offer": offer if own or what.may_invite(user, target) else None,
    }
    if not what.may_invite(user, target):
        return {"panel": context}
    link = request.session.pop(_LINK, None) if request.method == "GET" else None
    still_open = set(memberships.open_invitations(kind, target).values_list("pk", flat=True))
    return {
        "panel": context
        | {
            "form": InvitationForm(what),
            "link": link,
            "invitations": memberships.invitations_to(kind, target)[:50],
            "still_open": still_open,
            "owns": what.owns(user, target),
            "offer_form": OfferForm(label_suffix=""),
        }
    }


def _kind(name: str, target: str) -> MembershipKind:
    membership_kind = next((each for each in parts_of(MembershipKind) if each.kind == name), None)
    if membership_kind is None or membership_kind.title(target) is None:
        raise Http404("There is no such project or requester.")
    return membership_kind


def _for_inviters(request: HttpRequest, kind: str, target: str) -> MembershipKind:
    what = _kind(kind, target)
    assert isinstance(request.user, User)
    if not what.may_invite(request.user, target):
        security.log("role.refused", path=request.path)
        raise Http404("There is no such project or requester.")
    return what


@require_POST
@confirmed
@login_required
def invite(request: HttpRequest, kind: str, target: str) -> HttpResponse:
    """Make an invitation; the page of members shows its link once."""
    what = _for_inviters(request, kind, target)
    form = InvitationForm(what, request.POST)
    if not form.is_valid():
        name, errors = next(iter(form.errors.items()))
        messages.error(request, f"{form[name].label}: {errors[0]}")
        return redirect(what.address(target))
    email = form.cleaned_data["email"]
    if email and (wait := guards.wait_for_letter(request, email)):
        return too_many(request, wait)
    assert isinstance(request.user, User)
    try:
        link, sent = memberships.invite(
            kind=kind,
            target=target,
            plan=InvitationPlan(**form.cleaned_data),
            by=request.user,
            base=request.build_absolute_uri("/").rstrip("/"),
        )
    except MembershipError as error:
        messages.error(request, str(error))
    else:
        if sent:
            messages.success(request, f"The invitation to {email} is on its way.")
        else:
            request.session[_LINK] = link
    return redirect(what.address(target))


@require_POST
@login_required
def revoke_invitation(request: HttpRequest, kind: str, target: str, pk: int) -> HttpResponse:
    """End an invitation."""
    what = _for_inviters(request, kind, target)
    assert isinstance(request.user, User)
    if memberships.revoke(kind=kind, target=target, pk=pk, by=request.user):
        messages.success(request, "The invitation is revoked. People who accepted it keep their role.")
    else:
        messages.info(request, "This invitation had ended already.")
    return redirect(what.address(target))


@require_POST
@confirmed
@login_required
def offer_ownership(request: HttpRequest, kind: str, target: str) -> HttpResponse:
    """Offer a member to be the owner."""
    what = _for_inviters(request, kind, target)
    taker = User.objects.filter(username=request.POST.get("username", "").strip()).first()
    assert isinstance(request.user, User)
    try:
        if taker is None:
            raise MembershipError("There is no such user.")
        memberships.offer_ownership(kind=kind, target=target, taker=taker, by=request.user)
    except MembershipError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{taker} sees the offer in their profile, and must accept it.")
    return redirect(what.address(target))


@require_POST
@confirmed
@login_required
def answer_offer(request: HttpRequest, pk: int) -> HttpResponse:
    """Take or decline what was offered, or withdraw one's own offer."""
    assert isinstance(request.user, User)
    yes = request.POST.get("answer") == "yes"
    try:
        offer = memberships.answer_offer(pk=pk, user=request.user, yes=yes)
    except ActionError as error:
        messages.error(request, str(error))
        return redirect("accounts:profile")
    what = memberships.kind_named(offer.kind)
    if offer.outcome == "taken":
        messages.success(request, f"You own {what.title(offer.target)} now.")
        return redirect(what.address(offer.target))
    messages.info(request, "The offer is over. Nothing was changed.")
    return redirect("accounts:profile")


# The page of somebody who was invited.


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@sensitive_post_parameters()
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """What one is invited to, and by whom: accept it with an account, or make one."""
    by_address = guards.address_key(guards.ROLE_LINKS, request)
    row = memberships.invitation_for(token)
    if row is None:
        # Only wrong ones wait: tokens cannot be guessed, and a class shares one network.
        if wait := guards.seconds_to_wait(by_address):
            return too_many(request, wait)
        guards.count_try(by_address)
        return render(request, "accounts/invitation.html", {"row": None}, status=404)
    user = request.user if isinstance(request.user, User) else None
    form = None
    if user is None:
        request.session[INVITATION] = token  # a provider may make an account for who was invited
        form = NewAccountForm(request.POST if request.method == "POST" else None, label_suffix="")
    if request.method == "POST":
        if form is not None:
            sign_ups = guards.address_key(guards.SIGN_UPS, request)
            if wait := guards.seconds_to_wait(sign_ups):
                return too_many(request, wait)
            guards.count_try(sign_ups)
        if form is None or form.is_valid():
            answer = _accept(request, token, user, form)
            if answer is not None:
                return answer
    what = memberships.kind_named(row.kind)
    context = {
        "row": row,
        "title": what.title(row.target),
        "form": form,
        "token": token,
        "providers": settings.SIGN_IN_PROVIDERS,
    }
    return render(request, "accounts/invitation.html", context, status=422 if form and form.errors else 200)


def _accept(
    request: HttpRequest, token: str, user: User | None, form: NewAccountForm | None
) -> HttpResponse | None:
    """The role, and for a newcomer the account: both or neither. None where the form shows what is wrong."""
    try:
        with transaction.atomic():
            newcomer = form.save() if form is not None else None
            row = memberships.accept(token=token, user=newcomer or user)  # type: ignore[arg-type]  # one is there
    except ActionError as error:
        messages.error(request, str(error))
        return redirect("accounts:home")
    except IntegrityError:
        assert form is not None
        form.add_error("username", gettext("Somebody has just taken this user name; choose another one."))
        return None
    request.session.pop(INVITATION, None)
    if newcomer is not None:
        login(request, newcomer, backend=BACKEND)
    what, member = memberships.kind_named(row.kind), newcomer or user
    assert member is not None
    messages.success(request, f"You are {what.role_of(member, row.target)} of {what.title(row.target)}.")
    return redirect(what.address(row.target))
