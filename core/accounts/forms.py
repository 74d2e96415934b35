"""Forms of an account."""

from typing import Any

from django import forms
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordMixin


def new_password_fields(label: str) -> tuple[forms.CharField, forms.CharField]:
    """A new password and its repetition; the rules stand beside the first."""
    first, second = SetPasswordMixin.create_password_fields(label1=label, label2="The same once more")
    second.help_text = ""
    return first, second


class NewPasswordForm(PasswordChangeForm):
    """The old password, then a new one twice; the new one must really be new."""

    new_password1, new_password2 = new_password_fields("New password")

    def clean(self) -> dict[str, Any]:
        """Refuse the password that is being replaced."""
        cleaned = super().clean() or {}
        if cleaned.get("new_password1") and cleaned["new_password1"] == cleaned.get("old_password"):
            self.add_error("new_password1", "This is the password you have now. Choose another one.")
        return cleaned
