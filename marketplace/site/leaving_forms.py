"""Forms about money after the work, and about leaving."""

from typing import Any

from django import forms
from django.contrib.auth import authenticate
from django.http import HttpRequest

from marketplace.models import Worker
from marketplace.services.payables import LONGEST_NOTE


class PaymentForm(forms.Form):
    """How a worker wants to be paid real money."""

    note = forms.CharField(
        label="How do you want to be paid?",
        required=False,
        max_length=LONGEST_NOTE,
        widget=forms.Textarea(attrs={"rows": 5, "dir": "auto"}),
        help_text="As the people who run this marketplace asked you to say it: a name and an account number, "
        "for example. Leave it empty to delete it.",
    )


class CloseForm(forms.Form):
    """The worker id, typed, and the password: nobody closes by mistake, or at somebody's open browser."""

    worker_id = forms.CharField(
        label="Type your worker id",
        max_length=64,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "characters"}),
    )
    password = forms.CharField(
        label="Your password",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    keep_payment_note = forms.BooleanField(
        required=False,
        initial=True,
        label="Keep how I want to be paid until I am",
        help_text="It is deleted on the day after everything is paid out. Without it, show your receipt.",
    )

    def __init__(
        self, *arguments: Any, request: HttpRequest, worker: Worker, ask_about_payment: bool
    ) -> None:
        super().__init__(*arguments)
        self._request, self._worker = request, worker
        if not ask_about_payment:
            del self.fields["keep_payment_note"]

    def clean_worker_id(self) -> str:
        """It has to be this worker's."""
        typed = str(self.cleaned_data["worker_id"]).strip().upper()
        if typed != self._worker.worker_id:
            raise forms.ValidationError(f"Type {self._worker.worker_id}, your worker id.")
        return typed

    def clean_password(self) -> str:
        """Checked as at log-in, so that tries are counted and end after a few."""
        password = str(self.cleaned_data["password"])
        user = self._worker.user
        assert user is not None
        if authenticate(self._request, username=user.get_username(), password=password) != user:
            raise forms.ValidationError("This is not your password.")
        return password
