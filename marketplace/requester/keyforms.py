"""Forms of the Keys page."""

from datetime import timedelta
from typing import Any

from django import forms

_HOUR, _DAY = 3600, 86_400
#: When a key ends, by the value that the form sends.
ENDINGS = {"0": "at once", str(_HOUR): "in an hour", str(_DAY): "in a day", str(7 * _DAY): "in 7 days",
           str(30 * _DAY): "in 30 days"}  # fmt: skip
#: How long a new key is valid, by the value that the form sends.
LIVES = {
    str(30 * _DAY): "ends in 30 days",
    str(90 * _DAY): "ends in 90 days",
    str(365 * _DAY): "ends in a year",
}
KEEP = ""


class NewKeyForm(forms.Form):
    """A further key, and what becomes of those that scripts use now."""

    label = forms.CharField(
        required=False,
        max_length=80,
        label="What it is for",
        help_text="Such as the script or the machine that gets it. Only you see this.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )
    others = forms.ChoiceField(
        required=False,
        label="The keys that are valid now",
        choices=[(KEEP, "stay valid"), *((value, f"end {words}") for value, words in ENDINGS.items())],
        help_text="Until they end both work, so that your scripts can change one after the other.",
    )

    ends = forms.ChoiceField(
        required=False, label="The new key", choices=[(KEEP, "is valid until you end it"), *LIVES.items()]
    )
    read_only = forms.BooleanField(
        required=False,
        label="It may only read",
        help_text="For scripts that look: calls that publish, decide or pay are refused.",
    )

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, label_suffix="", **options)

    @property
    def ends_in(self) -> timedelta | None:
        """How long the new key is valid; None until it is ended."""
        given = self.cleaned_data["ends"]
        return None if given == KEEP else timedelta(seconds=int(given))

    @property
    def others_end_in(self) -> timedelta | None:
        """How long the other keys stay valid; None where they stay."""
        given = self.cleaned_data["others"]
        return None if given == KEEP else timedelta(seconds=int(given))


class EndKeyForm(forms.Form):
    """When one key ends."""

    after = forms.ChoiceField(choices=list(ENDINGS.items()), label="It ends")

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, label_suffix="", **options)

    @property
    def delay(self) -> timedelta:
        """How long the key stays valid."""
        return timedelta(seconds=int(self.cleaned_data["after"]))
