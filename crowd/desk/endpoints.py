"""Marketplaces and panels of the installation, on the settings page of its administrators."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.models import User

from core.projects.models import Project
from crowd.desk.forms import Form
from crowd.models import Endpoint
from crowd.services.endpoints import PRESETS


class EndpointForm(Form):
    """A marketplace or panel by what is known of it, with keys that are stored sealed and never shown."""

    preset = forms.ChoiceField(label="What it is")
    name = forms.SlugField(
        label="Short name", max_length=60, help_text="Names it in study files; it never changes."
    )
    url = forms.URLField(
        label="Address",
        required=False,
        assume_scheme="https",
        help_text="Only where it is not the usual one, such as a simulated panel for a rehearsal.",
    )
    access_key = forms.CharField(
        label="Access key",
        required=False,
        max_length=128,
        help_text="Of a marketplace. At Prolific: the id of the workspace. Links and Connect need none.",
    )
    secret = forms.CharField(
        label="Secret key or token",
        required=False,
        max_length=400,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text="Stored encrypted, never shown again.",
    )

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        self.fields["preset"].choices = [  # type: ignore[attr-defined]  # a field of choices
            (name, preset.label) for name, preset in PRESETS.items()
        ]


def section(user: User, project: Project | None) -> Mapping[str, Any] | None:
    """All marketplaces and panels; None on a project's settings, and for those who run nothing."""
    if project is not None or not user.is_staff:
        return None
    return {
        "endpoints": Endpoint.objects.order_by("name"),
        "panels": Endpoint.PANELS,
        "endpoint_form": EndpointForm(),
        "public": settings.TASK_URL.startswith("https://"),
    }
