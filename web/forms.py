"""Small forms that do one thing: what was typed, the action, and a note that says how it went."""

from collections.abc import Callable, Iterable
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from core.errors import ActionError
from core.money import AmountError, dollars, entered_cents

# Rows that a person ticked in a table.

#: Digits of the longest number that is surely a key on both databases; a longer one is an error of SQLite.
_MOST_DIGITS = 18


def chosen_keys(values: Iterable[str]) -> list[int]:
    """Primary keys from the values of tick boxes; what is no key is left out, as a row that is gone is."""
    return [
        int(value) for value in values if value.isascii() and value.isdigit() and len(value) <= _MOST_DIGITS
    ]


_MOST_CENTS = 1_000_000_000


class FormError(ActionError):
    """A form with something missing or wrong, in words; for forms of one or two fields."""


def read_form(form: forms.Form) -> dict[str, Any]:
    """What a small form holds; raises FormError with the first thing that is wrong with it."""
    if form.is_valid():
        return dict(form.cleaned_data)
    name, errors = next(iter(form.errors.items()))
    label = form[name].label if name in form.fields else ""
    raise FormError(f"{label}: {errors[0]}" if label else str(errors[0]))


def run_action(
    request: HttpRequest, action: Callable[[], str], then: str, *names: Any, other: str | None = None
) -> HttpResponse:
    """Do something, say in a note how it went, and show a page: `then`, or `other` where it could not be.

    Both are addresses, or names of addresses that `names` complete.
    """
    try:
        messages.success(request, action())
    except ActionError as error:
        if error.is_repeat:
            messages.info(request, str(error))
            return redirect(then, *names)
        messages.error(request, str(error))
        return redirect(other or then, *names)
    return redirect(then, *names)


class MoneyField(forms.CharField):
    """An amount such as 12.50, kept as whole cents: from `least` to `most` of them.

    `refusal` says what is wrong with any other amount, with {most} as an amount.
    """

    widget = forms.TextInput(attrs={"inputmode": "decimal", "size": 10, "autocomplete": "off"})

    def __init__(
        self,
        *,
        least: int = 0,
        most: int = _MOST_CENTS,
        refusal: str = "This is more than {most}.",
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.least, self.most, self.refusal = least, most, refusal

    def prepare_value(self, value: Any) -> Any:
        """Cents as an amount."""
        return dollars(value) if isinstance(value, int) else value

    def to_python(self, value: Any) -> Any:
        """Whole cents."""
        text = str(super().to_python(value) or "").strip()
        if not text:
            return None
        try:
            amount = entered_cents(text)
        except AmountError as error:
            raise forms.ValidationError(str(error)) from error
        if not self.least <= amount <= self.most:
            raise forms.ValidationError(self.refusal.format(most=dollars(self.most)))
        return amount


class LogReasonForm(forms.Form):
    """Why something is done; `help_text` says where the reason stays."""

    help_text = ""
    reason = forms.CharField(max_length=300, widget=forms.Textarea(attrs={"rows": 2}), label="Why")

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        self.fields["reason"].help_text = self.help_text
