"""Doing what a form of the requester site asks for, and saying in a note how it went."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from marketplace.errors import Refusal


def entered(form: forms.Form) -> dict[str, Any]:
    """What somebody typed; raises Refusal with the first sentence about what is wrong."""
    if form.is_valid():
        return form.cleaned_data
    name, errors = next(iter(form.errors.items()))
    label = "" if name == "__all__" else form[name].label
    raise Refusal("InvalidParameterValue", f"{label}: {errors[0]}" if label else str(errors[0]))


def run_action(
    request: HttpRequest, action: Callable[[], str], then: str, *, otherwise: str | None = None
) -> HttpResponse:
    """Do it, and go on at the address `then`; where it was refused at `otherwise`, with the reason."""
    try:
        messages.success(request, action())
    except Refusal as refusal:
        if refusal.code == "DuplicateRequest":
            messages.info(request, refusal.message)
            return redirect(then)
        messages.error(request, refusal.message)
        return redirect(otherwise or then)
    return redirect(then)
