"""Making a token, which is shown once, and ending one."""

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST

from core.accounts.confirmation import confirmed
from core.api import tokens
from core.api.models import ApiToken
from crowd.desk.tokens import TokenForm
from web.access import ProjectAccess, Role, for_members, on_project
from web.forms import FormError, run_action
from web.pages import show


@require_POST
@confirmed
@for_members
@sensitive_variables("text")
def create(request: HttpRequest, user: User) -> HttpResponse:
    """Make a token and show its text, this once."""
    form = TokenForm(request.POST, user=user)
    if not form.is_valid():
        return show(request, "token_form.html", sidebar="settings", token_form=form, status=422)
    given = form.cleaned_data
    token, text = tokens.create_token(
        user=user,
        scopes=given["scopes"],
        name=given["name"],
        project=given["project"],
        days=given["days"],
    )
    return show(request, "token.html", sidebar="settings", token=token, text=text)


@require_POST
@for_members
def end(request: HttpRequest, user: User, *, pk: int) -> HttpResponse:
    """End one of one's own tokens at once."""

    def action() -> str:
        token = ApiToken.objects.filter(user=user, pk=pk).first()
        if token is None:
            raise FormError("There is no such token of yours. Nothing was changed.")
        tokens.revoke_token(token=token)
        return f"The token {token.prefix}… has ended."

    return run_action(request, action, "desk:my_settings")


@require_POST
@on_project(Role.OWNER)
def end_for_project(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """End a token that opens this project alone, whoever made it."""
    token = get_object_or_404(ApiToken, project=access.project, pk=pk)

    def action() -> str:
        tokens.revoke_token(token=token)
        return f"The token {token.prefix}… has ended."

    return run_action(request, action, "desk:settings", access.project.slug)
