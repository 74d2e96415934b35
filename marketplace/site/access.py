"""Doors of the worker site and of the desk: views behind them get the person they need, or do not run."""

from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect

from marketplace import clock
from marketplace.site.pages import page
from marketplace.site.people import current_worker, may_see_desk

View = Callable[..., HttpResponseBase]


def for_workers(view: View) -> View:
    """The view gets the signed-in worker; others are asked to sign in, or told how to become one."""

    @wraps(view)
    def guarded(request: HttpRequest, **parts: str | int) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return _to_log_in(request)
        worker = current_worker(request)
        if worker is None:
            return page(request, "no_worker.html", worker=None, now=clock.now(), status=403)
        return view(request, worker, **parts)

    return guarded


def _to_log_in(request: HttpRequest) -> HttpResponse:
    """To the log-in page, and back here afterwards; what a POST wanted is not repeated."""
    if request.method in ("GET", "HEAD"):
        return redirect_to_login(request.get_full_path())
    return redirect(settings.LOGIN_URL)


def for_researchers(view: View) -> View:
    """The view gets a user who may see the desk; for other people who are signed in there is no such page."""

    @login_required
    @wraps(view)
    def guarded(request: HttpRequest, **parts: str | int) -> HttpResponseBase:
        user = request.user
        if not isinstance(user, User) or not may_see_desk(user):
            raise Http404("The desk is for staff and requesters.")
        return view(request, user, **parts)

    return guarded
