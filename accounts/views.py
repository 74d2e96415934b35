"""Pages of an account."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, PasswordChangeView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse_lazy

from accounts import passwords, services
from accounts.forms import NewPasswordForm
from accounts.places import places_of


class LogIn(LoginView):
    """User name and password; django-axes counts the tries."""

    template_name = "accounts/login.html"
    redirect_authenticated_user = True


class ChangePassword(PasswordChangeView):
    """Choose a password; the only page open to people whose password was printed."""

    template_name = "accounts/password.html"
    form_class = NewPasswordForm
    success_url = reverse_lazy("accounts:home")

    def get_context_data(self, **kwargs: object) -> dict[str, object]:
        """Tell people who did not come by themselves why they are here."""
        return super().get_context_data(must_change=self.request.session.get(passwords.KEY), **kwargs)

    def form_valid(self, form: NewPasswordForm) -> HttpResponse:  # type: ignore[override]
        """Store the password and lift the demand for one."""
        response = super().form_valid(form)
        assert isinstance(self.request.user, User)
        services.password_was_changed(user=self.request.user)
        passwords.forget(self.request)
        messages.success(self.request, "Your new password is set.")
        return response


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """The first page after log-in: staff get the desk, others their first place, else the list of tasks."""
    if request.user.is_staff:
        return redirect("/desk/")
    places = places_of(request.user)
    return redirect(places[0].address if places else "/")
