"""Tokens of programs on pages of settings: a person's own, and those that open a project."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib.auth.models import User

from core.api.models import ApiToken, Scope
from core.api.tokens import LONGEST_DAYS, tokens_for, tokens_of
from core.projects.models import Membership, Project
from core.projects.selectors import projects_of
from crowd.desk.forms import Form

_USUAL = (Scope.READ,)
_DAYS = 90


class TokenForm(Form):
    """A new token: what it is for, what it may do, where, and for how long."""

    name = forms.CharField(max_length=100, label="What it is for", help_text="Such as: nightly export.")
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices,
        widget=forms.CheckboxSelectMultiple,
        initial=_USUAL,
        label="May",
        help_text="None of these implies another, and a token never does more than you may yourself.",
    )
    project = forms.ModelChoiceField(
        Project.objects.none(),
        required=False,
        to_field_name="slug",
        label="Only in",
        empty_label="all your projects",
    )
    days = forms.IntegerField(
        min_value=1,
        max_value=LONGEST_DAYS,
        initial=_DAYS,
        required=False,
        label="Days it works",
        help_text="Empty: until you end it.",
    )

    def __init__(self, data: Any = None, *, user: User) -> None:
        super().__init__(data)
        chosen = self.fields["project"]
        assert isinstance(chosen, forms.ModelChoiceField)
        chosen.queryset = projects_of(user).order_by("slug")


def section(user: User, project: Project | None) -> Mapping[str, Any] | None:
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
    found = list(rows)
    for token in found:
        token.may = ", ".join(token.scopes)
    return found
