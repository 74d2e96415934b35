"""Small forms that do one thing: what was typed, the action, and a note that says how it went."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from core.errors import ActionError


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
