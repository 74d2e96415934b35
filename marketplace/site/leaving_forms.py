"""The form that closes an account: nobody does it by mistake, or at somebody else's open browser."""

from typing import Any

from django import forms
from django.contrib.auth import authenticate
from django.http import HttpRequest

from marketplace.models import Worker


class CloseForm(forms.Form):
    """The worker id, typed, and the password."""

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

    def __init__(self, *arguments: Any, request: HttpRequest, worker: Worker) -> None:
        super().__init__(*arguments)
        self._request, self._worker = request, worker

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
