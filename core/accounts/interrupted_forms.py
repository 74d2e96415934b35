"""Forms that arrive after their session ended, or whose sender has to confirm who they are first.

Nothing of them is stored. The person goes to sign-in or confirmation, then back to the page on which the form
stood, which says that nothing was saved. On the desk and on requesters' pages the browser has kept what was
typed (`static/entries.js`) and fills it in again.
"""

import time
from enum import Enum
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.http import url_has_allowed_host_and_scheme

from core.accounts import sessions

#: In the session: the page that the person comes back to, why they left it, and until when that counts.
_SESSION, _LIFE_S = "interrupted_form", 7_200
#: As it is without the script, which shows the hidden parts where they are true.
_SENTENCES = """{} <span data-lost>Nothing was saved yet: fill in the form and press its button again.</span>
<span data-back hidden>Your entries are still here: press the button again.</span>
<span data-left hidden>Files and passwords have to be given again.</span>"""


class Reason(Enum):
    """Why a form was not heard, as its page says it afterwards."""

    SIGN_IN = "You are signed in again."
    CONFIRM = "Confirmed."
    FACTOR = "Money, keys and members need a second factor."
    OLD = "The form was from an earlier session."


def is_from_here(request: HttpRequest) -> bool:
    """Whether the browser says that a page of this site sent the form; silence is a no."""
    origin = request.headers.get("Origin")
    if origin is None:
        return request.headers.get("Sec-Fetch-Site") == "same-origin"
    return origin in (f"{request.scheme}://{request.get_host()}", *settings.CSRF_TRUSTED_ORIGINS)


def page_of(request: HttpRequest) -> str:
    """The page of ours that sent a form; empty where the browser does not say, or it is none of ours."""
    came = urlsplit(request.headers.get("Referer", ""))
    page = f"{came.path}?{came.query}" if came.query else came.path
    is_ours = came.netloc == request.get_host() and url_has_allowed_host_and_scheme(page, None)
    return page if is_ours else ""


def note(request: HttpRequest, page: str, reason: Reason) -> None:
    """Remember that the person comes back to this page with a form that was not heard."""
    request.session[_SESSION] = [page, reason.name, int(time.time()) + _LIFE_S]


def is_way_back(request: HttpRequest, address: str) -> bool:
    """Whether somebody who goes to this address comes back to a form that was not heard."""
    page, _, until = request.session.get(_SESSION) or ("", "", 0)
    return bool(address) and address == page and time.time() < until


def greet(request: HttpRequest) -> None:
    """Tell a person who is back that nothing was saved; the script shows the other sentence instead."""
    reason = Reason[request.session[_SESSION][1]]
    if reason == Reason.CONFIRM and not sessions.is_confirmed(request):
        return
    del request.session[_SESSION]
    messages.info(request, format_html(_SENTENCES, reason.value), extra_tags="interrupted")
