"""Fields that several forms of the requester site have."""

import re
import uuid
from typing import Any

from django import forms

#: Control characters that no text of the protocol may have; line breaks and tabs are none of them.
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


class Form(forms.Form):
    """A form without colons behind its labels."""

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, label_suffix="", **options)


class OnceForm(Form):
    """A form that does its work once, however often it is sent: it carries a number of its own."""

    once = forms.UUIDField(widget=forms.HiddenInput, initial=uuid.uuid4)


class TextField(forms.CharField):
    """Text of several lines, with the line breaks of Unix and without control characters."""

    def __init__(self, *, most: int, rows: int = 3, **options: Any) -> None:
        super().__init__(
            max_length=most, widget=forms.Textarea(attrs={"rows": rows, "dir": "auto"}), **options
        )

    def to_python(self, value: Any) -> str:
        """Without carriage returns, so that a text is as long as it looks."""
        return str(super().to_python(value) or "").replace("\r\n", "\n").replace("\r", "\n")

    def validate(self, value: Any) -> None:
        """Refuse what the protocol refuses."""
        super().validate(value)
        if CONTROL.search(value):
            raise forms.ValidationError("There is a control character in this text; type it without.")
