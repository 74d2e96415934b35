"""Pages of an account."""

from urllib.parse import urlencode

from allauth.account.utils import perform_login
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate, update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, PasswordChangeView, RedirectURLMixin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from core.accounts import guards, interrupted_forms, keys, services, sessions
from core.accounts.confirmation import confirmation_missing
from core.accounts.interrupted_forms import Reason, is_way_back
from core.accounts.passwords import NewPasswordForm
from core.accounts.places import home_of


class LogIn(LoginView):
    """User name and password, then a factor where the person has one; django-axes counts the tries."""

    template_name = "accounts/login.html"
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: object) -> dict[str, object]:
        """The providers that one can sign in by, and whether the person comes from a form."""
        ended = is_way_back(self.request, self.get_redirect_url())
        return super().get_context_data(providers=settings.SIGN_IN_PROVIDERS, ended=ended, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """The password is right: on to the factor, or in."""
        then = self.get_redirect_url() or None
        answer: HttpResponse = perform_login(self.request, form.get_user(), redirect_url=then)
        return answer


class ChangePassword(RedirectURLMixin, PasswordChangeView):
    """Choose a password; the only page open to people whose password was printed. It leads on to `next`."""

    template_name = "accounts/password.html"
    form_class = NewPasswordForm
    next_page = "accounts:home"

    def get_context_data(self, **kwargs: object) -> dict[str, object]:
        """Tell people who did not come by themselves why they are here."""
        must_change = self.request.session.get(guards.MUST_CHANGE)
        assert isinstance(self.request.user, User)
        return super().get_context_data(
            must_change=must_change,
            next=self.get_redirect_url(),
            keys=keys.keys_of(self.request.user),
            **kwargs,
        )

    def form_valid(self, form: NewPasswordForm) -> HttpResponse:  # type: ignore[override]
        """Store the password and lift the demand for one."""
        response = super().form_valid(form)
        assert isinstance(self.request.user, User)
        services.password_was_changed(user=self.request.user)
        guards.forget_password_demand(self.request)
        sessions.end_other_devices(user=self.request.user, request=self.request)
        messages.success(self.request, gettext("Your new password is set."))
        return response


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """The first page after log-in: people's projects, staff's desk, else the list of tasks."""
    assert isinstance(request.user, User)
    place = home_of(request.user)
    if place is not None:
        return redirect(place.address)
    return redirect("/desk/" if request.user.is_staff else "/")


@require_POST
@login_required
@sensitive_post_parameters("password")
def sign_out_everywhere(request: HttpRequest) -> HttpResponse:
    """End all other sessions of this person, who types the password again; this one goes on."""
    user, password = request.user, request.POST.get("password", "")
    assert isinstance(user, User)
    back = "accounts:sessions" if request.POST.get("from") == "sessions" else "accounts:password_change"
    if not user.has_usable_password():
        if away := confirmation_missing(request):
            return away
        services.end_sessions_without_password(user=user)
    elif authenticate(request, username=user.get_username(), password=password) != user:
        messages.error(request, gettext("This is not your password. No session was ended."))
        return redirect(back)
    else:
        services.end_all_sessions(user=user, password=password)
    update_session_auth_hash(request, user)
    sessions.end_other_devices(user=user, request=request)
    messages.success(
        request,
        gettext("You are signed out everywhere else. Your search keys and tokens of programs have ended."),
    )
    return redirect(back)


@require_POST
@login_required
def end_key(request: HttpRequest) -> HttpResponse:
    """End one key of this person's programs."""
    assert isinstance(request.user, User)
    name = keys.end_key(user=request.user, key=request.POST.get("key", ""))
    if name:
        messages.success(request, gettext("The key “%(name)s” has ended.") % {"name": name})
    else:
        messages.error(request, gettext("There is no such key any more. Nothing was changed."))
    return redirect("accounts:password_change")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form of another session leads to its page, by way of sign-in; one of another site is refused."""
    page = interrupted_forms.page_of(request) if interrupted_forms.is_from_here(request) else ""
    user = getattr(request, "user", None)
    if user is None or not page.startswith(tuple(settings.FORMS_COME_BACK_BELOW)):
        return render(request, "403_csrf.html", {"reason": reason}, status=403)
    if user.is_authenticated:
        interrupted_forms.note(request, page, Reason.OLD)
        address = page
    else:
        interrupted_forms.note(request, page, Reason.SIGN_IN)
        address = f"{settings.LOGIN_URL}?{urlencode({'next': page})}"
    response = HttpResponseRedirect(address)
    response.status_code = 303
    return response
