"""Parts of the pages of settings: marketplaces and panels, tokens of programs, webhooks of a project.

Marketplaces and panels are for the installation's administrators, webhooks for managers of a project. A
token is shown once, when it is made; it is a person's own, or opens a project.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from core.accounts import security
from core.accounts.confirmation import confirmed
from core.api import tokens
from core.api.models import ApiToken, Scope
from core.api.tokens import LONGEST_DAYS, USUAL_DAYS, tokens_for, tokens_of
from core.money import format_amount
from core.origin import Owner
from core.projects.models import Membership, Project
from core.projects.selectors import projects_of
from crowd.adapters import registry
from crowd.adapters.base import MarketplaceDownError, MarketplaceRefusedError
from crowd.desk.forms import Form
from crowd.errors import CrowdError
from crowd.models import Endpoint, EndpointSpender
from crowd.services import endpoints as services
from crowd.services import spenders
from crowd.services.endpoints import PRESETS, create_endpoint
from crowd.services.panels import ask_balance, subscribe_hooks
from web.access import ProjectAccess, Role, for_members, on_project
from web.cells import Code, Link
from web.forms import FormError, read_form, run_action
from web.kit import Button, FormSection, Page, Secret
from web.pages import show, show_table
from web.webhook_pages import WebhookPages


class EndpointForm(Form):
    """A marketplace or panel by what is known of it, with keys that are stored sealed and never shown."""

    preset = forms.ChoiceField(label=gettext_lazy("What it is"))
    name = forms.SlugField(
        label=gettext_lazy("Short name"),
        max_length=60,
        help_text=gettext_lazy("Names it in study files; it never changes."),
    )
    url = forms.URLField(
        label=gettext_lazy("Address"),
        required=False,
        assume_scheme="https",
        help_text=gettext_lazy(
            "Only where it is not the usual one, such as a simulated panel for a rehearsal."
        ),
    )
    access_key = forms.CharField(
        label=gettext_lazy("Access key"),
        required=False,
        max_length=128,
        help_text=gettext_lazy(
            "Of a marketplace. At Prolific: the id of the workspace. Links and Connect need none."
        ),
    )
    secret = forms.CharField(
        label=gettext_lazy("Secret key or token"),
        required=False,
        max_length=400,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text=gettext_lazy("Stored encrypted, never shown again."),
    )

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, auto_id="endpoint_%s")
        self.fields["preset"].choices = [  # type: ignore[attr-defined]  # a field of choices
            (name, preset.label) for name, preset in PRESETS.items()
        ]


class SpenderForm(Form):
    """A project or a person who may spend from an endpoint."""

    project = forms.SlugField(
        label=gettext_lazy("Project"), required=False, help_text=gettext_lazy("Its short name.")
    )
    user = forms.CharField(
        label=gettext_lazy("Or person"),
        required=False,
        max_length=150,
        help_text=gettext_lazy("A user name: wherever they are manager or owner."),
    )

    def clean(self) -> dict[str, Any]:
        """One of both, as rows."""
        cleaned = super().clean() or {}
        project = Project.objects.filter(slug=cleaned.get("project") or "").first()
        user = User.objects.filter(username=cleaned.get("user") or "", is_active=True).first()
        if (project is None) == (user is None):
            raise forms.ValidationError(
                gettext("Name a project by its short name, or a person by their user name.")
            )
        return {"project": project, "user": user}


def endpoints_section(user: User, project: Project | None) -> Mapping[str, Any] | None:
    """All marketplaces and panels; None on a project's settings, and for those who run nothing."""
    if project is not None or not user.is_staff:
        return None
    endpoints = Endpoint.objects.prefetch_related("spenders__project", "spenders__user")
    return {
        "endpoints": [
            (endpoint, SpenderForm(auto_id=f"spender-{endpoint.pk}_%s"))
            for endpoint in endpoints.order_by("name")
        ],
        "panels": Endpoint.PANELS,
        "endpoint_form": EndpointForm(),
        "public": settings.TASK_URL.startswith("https://"),
    }


# What administrators do with marketplaces and panels

SETTINGS = "desk:my_settings"


def _for_staff(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    @require_POST
    @login_required
    @wraps(view)
    def guarded(request: HttpRequest, **parts: Any) -> HttpResponse:
        assert isinstance(request.user, User)
        if not request.user.is_staff:
            raise Http404("Marketplaces are added by administrators.")
        return view(request, **parts)

    return guarded


@confirmed
@_for_staff
def add_endpoint(request: HttpRequest) -> HttpResponse:
    """Add a marketplace or panel."""

    def action() -> str:
        values = read_form(EndpointForm(request.POST))
        endpoint = create_endpoint(**values)
        security.log("endpoint.added", name=endpoint.name, by=request.user.get_username())
        return f"{endpoint.label} is there as {endpoint.name}."

    return run_action(request, action, SETTINGS)


@confirmed
@_for_staff
def allow_spending(request: HttpRequest, *, endpoint: str) -> HttpResponse:
    """Let a project or a person spend from a marketplace or panel."""
    row = get_object_or_404(Endpoint, name=endpoint)

    def action() -> str:
        fields = read_form(SpenderForm(request.POST))
        spenders.allow_spending(endpoint=row, actor=request.user, **fields)
        return f"{fields['project'] or fields['user']} may spend from {row.label} from now on."

    return run_action(request, action, SETTINGS)


@_for_staff
def disallow_spending(request: HttpRequest, *, pk: int) -> HttpResponse:
    """Take that right away."""
    rows = EndpointSpender.objects.select_related("endpoint", "project", "user")
    row = get_object_or_404(rows, pk=pk)

    def action() -> str:
        count = spenders.disallow_spending(row=row, actor=request.user)
        paused = f" Stages that were paused: {count}." if count else ""
        return f"{row.project or row.user} may no longer spend from {row.endpoint.label}.{paused}"

    return run_action(request, action, SETTINGS)


@confirmed
@_for_staff
def move_endpoint(request: HttpRequest, *, endpoint: str) -> HttpResponse:
    """Correct the address of a marketplace to which nothing was sent yet."""
    row = get_object_or_404(Endpoint, name=endpoint)

    def action() -> str:
        moved = services.move_endpoint(endpoint=row, url=request.POST.get("url", "").strip())
        security.log("endpoint.moved", name=moved.name, by=request.user.get_username())
        return f"{moved.label} is at {moved.url}."

    return run_action(request, action, SETTINGS)


@confirmed
@_for_staff
def remove_endpoint(request: HttpRequest, *, endpoint: str) -> HttpResponse:
    """Remove a marketplace that nothing was done with."""
    row = get_object_or_404(Endpoint, name=endpoint)

    def action() -> str:
        services.remove_endpoint(endpoint=row)
        security.log("endpoint.removed", name=endpoint, by=request.user.get_username())
        return f"{endpoint} is removed."

    return run_action(request, action, SETTINGS)


@_for_staff
def check_endpoint(request: HttpRequest, *, endpoint: str) -> HttpResponse:
    """Ask for the balance, which proves that address and keys work."""
    row = get_object_or_404(Endpoint, name=endpoint)

    def action() -> str:
        try:
            balance = (ask_balance(row, force=True) if row.is_panel else None) or registry.adapter(
                row
            ).check()
        except (MarketplaceDownError, MarketplaceRefusedError, ValueError) as error:
            raise CrowdError(f"{row.label}: {error}") from error
        return f"{row.label} answers; {format_amount(balance.available.minor, row.currency)} can be spent."

    return run_action(request, action, SETTINGS)


@_for_staff
def subscribe_to_hooks(request: HttpRequest, *, endpoint: str) -> HttpResponse:
    """Subscribe to a panel's hooks."""
    row = get_object_or_404(Endpoint, name=endpoint)

    def action() -> str:
        if not row.is_panel:
            raise CrowdError(f"{row.label} is no panel, and sends no hooks.")
        address = subscribe_hooks(row)
        security.log("endpoint.hooks", name=row.name, by=request.user.get_username())
        return f"{row.label} sends its hooks to {address} from now on."

    return run_action(request, action, SETTINGS)


# Tokens of programs

_USUAL = (Scope.READ,)


class TokenForm(Form):
    """A new token: what it is for, what it may do, where, and for how long."""

    name = forms.CharField(
        max_length=100,
        label=gettext_lazy("What it is for"),
        help_text=gettext_lazy("Such as: nightly export."),
    )
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices,
        widget=forms.CheckboxSelectMultiple,
        initial=_USUAL,
        label=gettext_lazy("May"),
        help_text=gettext_lazy(
            "None of these implies another, and a token never does more than you may yourself."
        ),
    )
    project = forms.ModelChoiceField(
        Project.objects.none(),
        required=False,
        to_field_name="slug",
        label=gettext_lazy("Only in"),
        empty_label=gettext_lazy("all your projects"),
    )
    days = forms.IntegerField(
        min_value=1,
        max_value=LONGEST_DAYS,
        initial=USUAL_DAYS,
        required=False,
        label=gettext_lazy("Days it works"),
        help_text=f"Empty: {USUAL_DAYS}.",
    )

    def __init__(self, data: Any = None, *, user: User) -> None:
        super().__init__(data, auto_id="token_%s")
        project_field = self.fields["project"]
        assert isinstance(project_field, forms.ModelChoiceField)
        project_field.queryset = projects_of(user).order_by("slug")


def tokens_section(user: User, project: Project | None) -> Mapping[str, Any] | None:
    """Tokens that open a project, for its members to see; a person's own, with the form of a new one."""
    if project is None:
        return {"tokens": with_words(tokens_of(user)), "token_form": TokenForm(user=user), "owns": False}
    owner = Membership.objects.filter(project=project, user=user, role=Membership.Role.OWNER)
    return {
        "tokens": with_words(tokens_for(project)),
        "token_form": None,
        "owns": user.is_superuser or owner.exists(),
    }


def with_words(rows: Any) -> list[ApiToken]:
    """Tokens with `may`, their scopes as a sentence."""
    token_list = list(rows)
    for token in token_list:
        token.may = ", ".join(token.scopes)
    return token_list


@require_POST
@confirmed
@for_members
@sensitive_variables("text")
def create_token(request: HttpRequest, user: User) -> HttpResponse:
    """Make a token and show its text, this once."""
    form = TokenForm(request.POST, user=user)
    if not form.is_valid():
        page = Page(
            gettext("New token"),
            [FormSection(form, [Button(gettext("Make a token"))])],
            lead=gettext("With it, a program can do at the API what you may do, within the token's scopes."),
        )
        return show(request, page, sidebar="settings", status=422)
    fields = form.cleaned_data
    token, text = tokens.create_token(
        user=user,
        scopes=fields["scopes"],
        name=fields["name"],
        project=fields["project"],
        days=fields["days"],
    )
    until = f"until {token.expires_at:%-d %b %Y, %H:%M} (UTC)" if token.expires_at else "until you end it"
    what = (
        f"{token.name}. It may: {', '.join(token.scopes)}. ",
        token.project and f"Only in {token.project.slug}. ",
        f"It works {until}. Programs send it as ",
        Code("Authorization: Bearer …"),
        ".",
    )
    page = Page(
        gettext("Your token"),
        [Secret(what, text)],
        lead=gettext("Copy it now: it is shown only once, and we keep only its digest."),
        primary=[
            Link(gettext("What the API does"), reverse("api:reference"), plain=True),
            Link(gettext("I have copied it"), reverse("desk:my_settings") + "#tokens"),
        ],
        scripts=["copy.js"],
    )
    return show(request, page, sidebar="settings")


@require_POST
@for_members
def end_token(request: HttpRequest, user: User, *, pk: int) -> HttpResponse:
    """End one of one's own tokens at once."""

    def action() -> str:
        token = ApiToken.objects.filter(user=user, pk=pk).first()
        if token is None:
            raise FormError(gettext("There is no such token of yours. Nothing was changed."))
        tokens.revoke_token(token=token)
        return f"The token {token.prefix}… has ended."

    return run_action(request, action, "desk:my_settings")


@require_POST
@on_project(Role.OWNER)
def end_project_token(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """End a token that opens this project alone, whoever made it."""
    token = get_object_or_404(ApiToken, project=access.project, pk=pk)

    def action() -> str:
        tokens.revoke_token(token=token)
        return f"The token {token.prefix}… has ended."

    return run_action(request, action, "desk:settings", access.project.slug)


# Webhooks of a project

PAGES = WebhookPages(
    Owner.Kind.PROJECT,
    "desk",
    show,
    show_table,
    {"tab": "settings"},
    trail=lambda access: [Link(gettext("Settings"), access.address("desk:settings"))],
)


@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.MANAGER)
def webhooks(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """The webhooks, and the form for a new one."""
    return PAGES.listing(request, access, access.project.pk, access.project.slug, access.user)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.MANAGER)
def webhook(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponseBase:
    """One webhook with its messages; the form changes it."""
    return PAGES.page(request, access, access.project.pk, access.project.slug, pk)


@require_POST
@on_project(Role.MANAGER)
def act_on_webhook(request: HttpRequest, access: ProjectAccess, *, pk: int, action: str) -> HttpResponse:
    """Do something with a webhook."""
    return PAGES.act(request, access.project.pk, access.project.slug, pk, action)


@require_POST
@on_project(Role.MANAGER)
def webhook_message(request: HttpRequest, access: ProjectAccess, *, pk: int, message: int) -> HttpResponse:
    """Send a message again, or skip it."""
    return PAGES.act_on_message(request, access.project.pk, access.project.slug, pk, message)
