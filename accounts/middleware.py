"""Nobody works under a password that was printed on a screen."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from accounts.passwords import KEY


class PasswordChangeMiddleware:
    """Send people with a printed password to the change page, from everywhere but log-out.

    Visitors without a session cookie cost nothing; for others it reads the session, which holds the answer.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self.change = reverse("accounts:password_change")
        self.open_paths = {self.change, reverse("accounts:logout")}

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Let the request through, or turn it towards the change page."""
        if self._must_change(request):
            return redirect(self.change)
        return self.get_response(request)

    def _must_change(self, request: HttpRequest) -> bool:
        path = request.path_info
        if settings.SESSION_COOKIE_NAME not in request.COOKIES or path in self.open_paths:
            return False
        return not path.startswith(settings.STATIC_URL) and bool(request.session.get(KEY))
