"""Forms of the worker site, and the places that they offer."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.forms import UserCreationForm, UsernameField
from django.contrib.auth.models import User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.utils.translation import gettext_lazy

from core.accounts.passwords import new_password_fields
from marketplace.accounts.contact import checked_address
from marketplace.countries import COUNTRIES
from marketplace.models import Worker
from marketplace.site.access import Newcomer
from web.languages import LANGUAGES


class AddressField(forms.CharField):
    """An e-mail address that fits into one header as it is."""

    widget = forms.EmailInput(attrs={"autocomplete": "email", "dir": "ltr"})

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=254, **options)

    def clean(self, value: Any) -> str:
        """As `checked_address`; an empty one where none is needed."""
        text = super().clean(value)
        return checked_address(text) if text else ""


SUBDIVISION_NEEDS_COUNTRY = gettext_lazy("Choose the country this state or province belongs to.")


class PlaceForm(forms.Form):
    """Where a worker lives."""

    country = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Country"),
        choices=[("", gettext_lazy("I would rather not say")), *COUNTRIES.items()],
        help_text=gettext_lazy(
            "Some HITs are open to people of certain countries only. You cannot change it often."
        ),
    )
    subdivision = forms.RegexField(
        r"^[A-Za-z0-9]{2}$",
        required=False,
        max_length=2,
        label=gettext_lazy("State or province"),
        help_text=gettext_lazy(
            "Its two letters, as in PA for Pennsylvania. Leave it empty if you are not sure."
        ),
        error_messages={"invalid": gettext_lazy("Two letters, as in PA.")},
        widget=forms.TextInput(attrs={"size": 4, "autocapitalize": "characters"}),
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


class CountryForm(PlaceForm):
    """Another country, and why."""

    reason = forms.CharField(
        label=gettext_lazy("Why does it change?"),
        max_length=300,
        widget=forms.TextInput(attrs={"dir": "auto"}),
        help_text=gettext_lazy("The people who run this marketplace read it; requesters do not."),
    )


class ChoiceFields(forms.Form):
    """What a worker agrees to see."""

    adult = forms.BooleanField(
        required=False,
        label=gettext_lazy("Show me HITs with adult content"),
        help_text=gettext_lazy("Their requesters say beforehand that the content may offend."),
    )


class PlaceFields(PlaceForm, ChoiceFields):
    """What requirements of HITs may ask for."""

    field_order = ["country", "subdivision", "adult"]


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
        help_text=gettext_lazy("You sign in with it. Requesters see an id instead, never this name."),
    )

    password1, password2 = new_password_fields(gettext_lazy("Password"))
    email = AddressField(
        label=gettext_lazy("E-mail address (optional)"),
        required=False,
        help_text=gettext_lazy("For a new password if you forget yours. Requesters never see it."),
    )

    field_order = ["username", "password1", "password2", "email", "country", "subdivision", "adult"]

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        if not settings.NOTICES_BY_EMAIL:
            del self.fields["email"]

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


class ProfileForm(ChoiceFields):
    """What a worker can change about themselves."""

    language = forms.ChoiceField(
        required=False,
        choices=[("", gettext_lazy("As my browser asks for")), *LANGUAGES],
        label=gettext_lazy("Language"),
        help_text=gettext_lazy("Of pages and e-mails. Tasks are in the language of their requesters."),
    )
    accept_next = forms.BooleanField(
        required=False,
        label=gettext_lazy("Accept the next HIT of a group when I submit one"),
        help_text=gettext_lazy("You can change this on every HIT, too."),
    )

    def save(self, worker: Worker) -> None:
        """Store the worker's choices."""
        Worker.objects.filter(pk=worker.pk).update(**self.cleaned_data)
