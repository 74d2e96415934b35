"""Forms of the worker site."""

from typing import Any

from django import forms
from django.contrib.auth.forms import UserCreationForm, UsernameField
from django.contrib.auth.models import User
from django.contrib.auth.validators import UnicodeUsernameValidator

from core.accounts.forms import new_password_fields
from marketplace.models import Worker
from marketplace.site.countries import COUNTRIES
from marketplace.site.people import Newcomer

SUBDIVISION_NEEDS_COUNTRY = "Choose the country this state or province belongs to."


class PlaceFields(forms.Form):
    """Where a worker lives and what they agree to see: what requirements of HITs may ask for."""

    country = forms.ChoiceField(
        required=False,
        choices=[("", "I would rather not say"), *COUNTRIES.items()],
        help_text="Some HITs are open to people of certain countries only.",
    )
    subdivision = forms.RegexField(
        r"^[A-Za-z0-9]{2}$",
        required=False,
        max_length=2,
        label="State or province",
        help_text="Its two letters, as in PA for Pennsylvania. Leave it empty if you are not sure.",
        error_messages={"invalid": "Two letters, as in PA."},
        widget=forms.TextInput(attrs={"size": 4, "autocapitalize": "characters"}),
    )
    adult = forms.BooleanField(
        required=False,
        label="Show me HITs with adult content",
        help_text="Their requesters say beforehand that the content may offend.",
    )

    def clean_subdivision(self) -> str:
        """As codes are written: in capitals."""
        return str(self.cleaned_data["subdivision"]).upper()

    def clean(self) -> dict[str, Any]:
        """A state without a country means nothing."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("subdivision") and not cleaned.get("country"):
            self.add_error("country", SUBDIVISION_NEEDS_COUNTRY)
        return cleaned


class JoinForm(PlaceFields):
    """Sign-up of somebody who has an account already."""

    def newcomer(self) -> Newcomer:
        """What the form says about the person."""
        data = self.cleaned_data
        return Newcomer(country=data["country"], subdivision=data["subdivision"], adult=data["adult"])


class SignUpForm(PlaceFields, UserCreationForm[User]):
    """Sign-up of somebody new: an account and a worker in one go."""

    username = UsernameField(
        max_length=60,
        validators=[UnicodeUsernameValidator()],
        help_text="You sign in with it. Requesters see an id instead, never this name.",
    )

    password1, password2 = new_password_fields("Password")

    field_order = ["username", "password1", "password2", "country", "subdivision", "adult"]

    class Meta(UserCreationForm.Meta):
        """The only field that is stored as it is typed; the password is hashed by `join`."""

        fields = ("username",)

    def newcomer(self) -> Newcomer:
        """What the form says about the person."""
        data = self.cleaned_data
        return Newcomer(
            username=data["username"],
            password=data["password1"],
            country=data["country"],
            subdivision=data["subdivision"],
            adult=data["adult"],
        )


class ProfileForm(PlaceFields):
    """What a worker can change about themselves."""

    accept_next = forms.BooleanField(
        required=False,
        label="Accept the next HIT of a group when I submit one",
        help_text="You can change this on every HIT, too.",
    )

    def save(self, worker: Worker) -> None:
        """Store the worker's choices."""
        Worker.objects.filter(pk=worker.pk).update(**self.cleaned_data)
