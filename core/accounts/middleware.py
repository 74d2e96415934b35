"""Rules for every request: sessions end, printed passwords change, guessing waits, uploads are limited."""

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.module_loading import import_string
from django.utils.text import get_text_list
from django.utils.translation import gettext, ngettext

from core.accounts import guards, interrupted_forms, sessions

Next = Callable[[HttpRequest], HttpResponseBase]


class SessionAgeMiddleware:
    """End a session that is too old for its log-in to count, however much it is used."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Look at the session of somebody who is signed in; visitors cost nothing."""
        signed_in = settings.SESSION_COOKIE_NAME in request.COOKIES and SESSION_KEY in request.session
        if signed_in and sessions.is_over(request):
            request.session.flush()
        return self.get_response(request)


class BodySizeMiddleware:
    """Refuse a long body from somebody who is not signed in before a byte of it is read."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """By the length that the request says; the web server cuts what is longer than it says."""
        length = request.META.get("CONTENT_LENGTH") or "0"
        long = not length.isdecimal() or int(length) > settings.ANONYMOUS_BODY_MOST
        if long and not request.user.is_authenticated:
            most = bytes_by_signature(request)
            long = not most or not length.isdecimal() or int(length) > settings.ANONYMOUS_BODY_MOST + most
        if long and not request.user.is_authenticated:
            return render(request, "413.html", status=413)
        return self.get_response(request)


class SignInMiddleware:
    """Say how long the wait is where a sign-in was not heard, and mark the device where it succeeded."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Look at what `guards` left on the request."""
        response = self.get_response(request)
        if wait := getattr(request, guards.WAIT, None):
            return too_many(request, wait)
        if name := getattr(request, guards.SIGNED_IN, None):
            guards.remember_device(request, response, name)
        return response


def too_many(request: HttpRequest, wait_s: int) -> HttpResponse:
    """The page for somebody who has to wait."""
    minutes, seconds = divmod(wait_s, 60)
    parts = [ngettext("%(n)s minute", "%(n)s minutes", minutes) % {"n": minutes}] if minutes else []
    if seconds or not minutes:
        parts.append(ngettext("%(n)s second", "%(n)s seconds", seconds) % {"n": seconds})
    wait = get_text_list(parts, gettext("and"))
    response = render(request, "accounts/locked.html", {"wait": wait}, status=429)
    response["Retry-After"] = str(wait_s)
    return response


class PasswordChangeMiddleware:
    """Send people with a printed password to the change page, from everywhere but log-out.

    Visitors without a session cookie cost nothing; for others it reads the session, which holds the answer.
    """

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response
        self.change = reverse("accounts:password_change")
        self.home = reverse("accounts:home")
        self.open_paths = {self.change, reverse("accounts:logout")}

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Let the request through, or turn it towards the change page, which leads back to where it went."""
        if self._must_change(request):
            goes_on = request.method in ("GET", "HEAD") and request.path != self.home
            query = urlencode({"next": request.get_full_path()}) if goes_on else ""
            return redirect(f"{self.change}?{query}" if query else self.change)
        return self.get_response(request)

    def _must_change(self, request: HttpRequest) -> bool:
        path = request.path_info
        if settings.SESSION_COOKIE_NAME not in request.COOKIES or path in self.open_paths:
            return False
        return not path.startswith(settings.STATIC_URL) and bool(request.session.get(guards.MUST_CHANGE))


class InterruptedFormMiddleware:
    """A form that is sent after the session ended leads to log-in, then to its page, which says so.

    Forms whose token is of another session come to `views.csrf_failure` instead.
    """

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Send a form's sender the right way; greet them when they are back."""
        is_back = self._is_back(request)
        if is_back:
            interrupted_forms.greet(request)
        response = self.get_response(request)
        if is_back and response.status_code == 405:  # the form stood on the answer to another form
            return redirect(request.path.rstrip("/").rpartition("/")[0] + "/")
        if request.method == "POST" and response.status_code == 302:
            return self._with_way_back(request, response)
        return response

    def _is_back(self, request: HttpRequest) -> bool:
        opens = request.method == "GET" and request.headers.get("Sec-Fetch-Mode", "navigate") == "navigate"
        if not opens or settings.SESSION_COOKIE_NAME not in request.COOKIES:
            return False
        is_back = interrupted_forms.is_way_back(request, request.get_full_path())
        return is_back and request.user.is_authenticated

    def _with_way_back(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        to, page = urlsplit(response["Location"]), interrupted_forms.page_of(request)
        asks = to.path == settings.LOGIN_URL and parse_qs(to.query).get("next") == [request.get_full_path()]
        if not asks or not page.startswith(tuple(settings.FORMS_COME_BACK_BELOW)):
            return response
        interrupted_forms.note(request, page, interrupted_forms.Reason.SIGN_IN)
        return redirect(f"{settings.LOGIN_URL}?{urlencode({'next': page})}")


# Who may put how much on the disk by uploading: people who are signed in, and only where files are taken.


def may_upload(request: HttpRequest) -> bool:
    """Staff, members of projects and owners of requesters, on the pages that take files.

    Others only where an app says that the address itself, by its signature, asks for a file.
    """
    if bytes_by_signature(request):
        return True
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return False
    return request.path.startswith(tuple(settings.UPLOADS_BELOW))


def bytes_by_signature(request: HttpRequest) -> int:
    """How many bytes of files an address takes from whoever has it: those below UPLOADS_BY_SIGNATURE."""
    for below, function in settings.UPLOADS_BY_SIGNATURE.items():
        if request.path_info.startswith(below):
            return int(import_string(function)(request))
    return 0


class QuotaHandler(FileUploadHandler):
    """First of the handlers: files of everybody else are read past, and never touch memory or disk.

    The other fields of the form arrive, so that a view can say what it says to a form without its file.
    """

    def new_file(self, *arguments: Any, **named: Any) -> None:
        """Skip a file that nobody asked this person for."""
        super().new_file(*arguments, **named)
        if self.request is None or not may_upload(self.request):
            raise SkipFile

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        """On to the next handler."""
        return raw_data

    def file_complete(self, file_size: int) -> None:
        """Another handler makes the file."""
        return None
