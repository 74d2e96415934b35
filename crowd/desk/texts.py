"""Texts for workers on forms: made from what is entered, until a person writes others.

Beside each text stands a hidden copy of what was made when the page was drawn. A text that still equals its
copy is made again from what is sent; the answer's page shows it, before anything is published.
"""

from collections.abc import MutableMapping
from copy import copy
from typing import Any, cast

from django import forms

from crowd.kinds import Listing
from crowd.listings import is_made

#: Fields of `TaskFields` that kinds make.
MADE = ("title", "description")
_HELP = "Made from what you enter, and again when that changes, unless you write your own. Empty: made."


def add_copies(form: forms.Form, made: Listing, *, texts: str, copies: str) -> None:
    """Hidden fields for what is made, under names with `copies` before them; `texts` is before the texts'."""
    if not made.title:
        return
    for name in MADE:
        field = form.fields[texts + name]
        field.help_text = f"{field.help_text} {_HELP}"
        form.fields[copies + name] = forms.CharField(
            required=False, widget=forms.HiddenInput, initial=getattr(made, name)
        )


def follow_entered(form: forms.Form, made: Listing, *, texts: str, copies: str) -> None:
    """Put what is made now in place of texts that equal their copies, as cleaned and as drawn again."""
    drawn = cast(MutableMapping[str, Any], copy(form.data))
    form.data = drawn
    for name in MADE:
        text, copied, new = texts + name, copies + name, getattr(made, name)
        if copied not in form.fields:
            continue
        old = form.cleaned_data.get(copied) or form.fields[copied].initial
        if is_made(form.cleaned_data.get(text) or "", old):
            form.cleaned_data[text] = drawn[text] = new
        form.cleaned_data[copied] = drawn[copied] = new
