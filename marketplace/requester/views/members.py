"""Members of a requester: who they are, another role, and taking somebody out."""

from django import forms
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from core.accounts.confirmation import confirmed
from core.accounts.membership_views import members_panel
from marketplace.requester.access import RequesterAccess, for_requester, on_requester, show
from marketplace.services import members as services
from marketplace.services.members import Action, members_of
from web.forms import FormError, read_form, run_action

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
