"""A new password by e-mail, by Django's own views: for confirmed addresses, with one answer for all."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.models import User
from django.contrib.auth.views import PasswordResetConfirmView, PasswordResetDoneView, PasswordResetView
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse_lazy

from core.accounts import guards, security, services
from core.accounts.middleware import too_many
from core.accounts.passwords import new_password_fields
from marketplace.services.contact import ask_for_password
from marketplace.site.forms import AddressField
from marketplace.taskpages import site_url


class AskForm(forms.Form):
    """The address that was confirmed."""

    email = AddressField(label="Your confirmed e-mail address")


class ChooseForm(SetPasswordForm):  # type: ignore[type-arg]  # no generic when it runs
    """A new password, twice."""

    new_password1, new_password2 = new_password_fields("New password")


class AskForPassword(PasswordResetView):
    """Ask for a link; a job looks whose address it is, so that the answer says nothing about it."""

    template_name = "accounts/ask_for_password.html"
    form_class = AskForm  # type: ignore[assignment]
    success_url = reverse_lazy("site:password_letter_sent")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Whether letters are sent at all."""
        return super().get_context_data(by_mail=settings.NOTICES_BY_EMAIL, **kwargs)

    def form_valid(self, form: AskForm) -> HttpResponse:  # type: ignore[override]
        """Have the letter sent, unless too many were asked for."""
        email = form.cleaned_data["email"]
        if wait := guards.wait_for_letter(self.request, email):
            return too_many(self.request, wait)
        if settings.NOTICES_BY_EMAIL:
            ask_for_password(email=email, base=site_url(self.request))
        return redirect(str(self.success_url))


class LetterSent(PasswordResetDoneView):
    """What happens now, whoever asked."""

    template_name = "accounts/password_letter_sent.html"


class NewPassword(PasswordResetConfirmView):
    """The link in the letter: choose a password. Every session of the account ends."""

    template_name = "accounts/new_password.html"
    form_class = ChooseForm
    success_url = reverse_lazy("accounts:login")

    def form_valid(self, form: "SetPasswordForm[User]") -> HttpResponse:
        """Store it; whoever reads the account's e-mail has shown who they are, so tries begin again."""
        answer = super().form_valid(form)
        user = form.user
        services.password_was_changed(user=user)
        guards.forget_tries(guards.BY_NAME.key(user.get_username()))
        security.log("password.reset", user=user.get_username())
        messages.success(self.request, "Your new password is set. Sign in with it.")
        return answer
