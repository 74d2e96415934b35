"""The form by which staff make a requester."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.models import User

from core.money.fees import PROFILES

_FEES = {
    "none-1": "none",
    "mturk-2026": "as on MTurk: 20 % to 40 %",
}


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
        choices=lambda: [(name, _FEES.get(name, name)) for name in PROFILES],
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
        found = User.objects.filter(username=name, is_active=True).first()
        if found is None:
            raise forms.ValidationError("There is no user with this name.")
        return found
