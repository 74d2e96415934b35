"""What was typed into a form whose session had ended: kept until the same person has signed in again.

A form of the desk or of a requester says whose it is (`OwnedFormNode`). Where it arrives after
the session ended, its texts go into the new session of that browser, on the server, for two hours. After
sign-in the page shows them in its form, with a note and unsaved; nobody but the person who opened the form
gets it. A form that another site sent is not kept. Where the session goes on and the person only had to
confirm who they are, the form is sent again as it was, unless it had files.
"""

import secrets
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from django import template
from django.conf import settings
from django.core import signing
from django.http import HttpRequest
from django.template.context import Context
from django.template.defaulttags import CsrfTokenNode
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

#: The hidden field that says whose form it is, and the parameter of the address that gives it back.
OWNER, PARAMETER = "form_of", "kept"
LIFE = timedelta(hours=2)
#: At most so many characters of a form are kept, and so many forms of a browser.
MOST_CHARACTERS, MOST_FORMS = 300_000, 3
_SESSION = "kept_forms"
_signer = signing.Signer(salt="accounts.keptforms")
_NOT_KEPT = frozenset({"csrfmiddlewaretoken", OWNER})


@dataclass(frozen=True, slots=True)
class KeptForm:
    """What was typed: fields in their order, the page on which the form stood, and where it was sent."""

    user: int
    page: str
    action: str
    fields: list[list[str]]
    files: bool
    until: float
    to_confirm: bool = False

    @property
    def texts(self) -> list[list[str]]:
        """What a person typed or chose, for the list below the note; hidden fields are left out."""
        hidden = {"revision", "once", "seen"}
        return [[name, value] for name, value in self.fields if value.strip() and name not in hidden]

    @property
    def as_data(self) -> dict[str, Any]:
        """For the script that fills in the form."""
        return {"action": self.action, "fields": self.fields}


def owner_mark(user_id: int) -> str:
    """The value of the hidden field."""
    return _signer.sign(str(user_id))


def has_forms(path: str) -> bool:
    """Whether forms at this address are kept."""
    return path.startswith(tuple(settings.KEPT_FORMS_BELOW))


def is_from_here(request: HttpRequest) -> bool:
    """Whether the browser says that a page of this site sent the form; silence is a no."""
    origin = request.headers.get("Origin")
    if origin is None:
        return request.headers.get("Sec-Fetch-Site") == "same-origin"
    return origin in (f"{request.scheme}://{request.get_host()}", *settings.CSRF_TRUSTED_ORIGINS)


def keep(request: HttpRequest, *, to_confirm: bool = False) -> str | None:
    """Keep the form that was sent; the address that shows it to its owner, None where it is not kept.

    `to_confirm`: its sender is to confirm who they are, then it goes on.
    """
    owner = _owner(request)
    user = request.user
    if owner is None or not has_forms(request.path) or (user.is_authenticated and user.pk != owner):
        return None
    fields = [
        [name, str(text)] for name, texts in request.POST.lists() if name not in _NOT_KEPT for text in texts
    ]
    if sum(len(name) + len(text) for name, text in fields) > MOST_CHARACTERS:
        return None
    page = _page(request)
    row = KeptForm(
        user=owner,
        page=page,
        action=request.path,
        fields=fields,
        files=bool(request.FILES),
        until=(timezone.now() + LIFE).timestamp(),
        to_confirm=to_confirm,
    )
    rows = _rows(request)
    if len(rows) >= MOST_FORMS:
        return None
    token = secrets.token_urlsafe(12)
    request.session[_SESSION] = rows | {token: asdict(row)}
    path, _, query = page.partition("?")
    return f"{path}?{query}{'&' if query else ''}{urlencode({PARAMETER: token})}"


def kept(request: HttpRequest) -> KeptForm | None:
    """The form that the address asks for, if it is this person's."""
    token = request.GET.get(PARAMETER, "")
    found = _rows(request).get(token) if token else None
    row = KeptForm(**found) if found else None
    return row if row and request.user.is_authenticated and row.user == request.user.pk else None


def to_send_again(request: HttpRequest, address: str) -> KeptForm | None:
    """The form that waited only for its sender's confirmation, of the address at which it is kept."""
    token = dict(parse_qsl(urlsplit(address).query)).get(PARAMETER, "")
    found = _rows(request).get(token)
    row = KeptForm(**found) if found else None
    is_theirs = row is not None and row.user == request.user.pk
    return row if row and is_theirs and row.to_confirm and not row.files else None


def forget(request: HttpRequest, action: str) -> None:
    """The form was saved: what was kept of it goes."""
    rows = _rows(request)
    left = {token: row for token, row in rows.items() if row["action"] != action}
    if left != rows:
        request.session[_SESSION] = left


def forget_others(*, request: HttpRequest | None, user: Any, **_: object) -> None:
    """On log-in: what somebody else typed in this browser does not go into this person's session."""
    if request is not None and _SESSION in request.session:
        rows = _rows(request)
        request.session[_SESSION] = {token: row for token, row in rows.items() if row["user"] == user.pk}


def in_templates(request: HttpRequest) -> dict[str, object]:
    """Context of every page: `kept_form`, where the address asks for one."""
    return {"kept_form": kept(request)} if PARAMETER in request.GET and hasattr(request, "user") else {}


def list_address(token: str) -> str:
    """The page that shows what was typed where its form is not to be had."""
    return f"{reverse('accounts:kept_form')}?{urlencode({PARAMETER: token})}"


def _rows(request: HttpRequest) -> dict[str, Any]:
    now = timezone.now().timestamp()
    rows: dict[str, Any] = request.session.get(_SESSION) or {}
    return {token: row for token, row in rows.items() if row["until"] > now}


def _owner(request: HttpRequest) -> int | None:
    try:
        return int(_signer.unsign(request.POST.get(OWNER, "")))
    except (signing.BadSignature, ValueError):
        return None


def page_of(request: HttpRequest) -> str:
    """The page of ours that sent a form; empty where the browser does not say, or it is none of ours."""
    came = urlsplit(request.headers.get("Referer", ""))
    if came.netloc != request.get_host():
        return ""
    return f"{came.path}?{came.query}" if came.query else came.path


def _page(request: HttpRequest) -> str:
    """Where the form stood: the page that sent it, if it is one of ours; else the address it was sent to."""
    came = urlsplit(request.headers.get("Referer", ""))
    if came.netloc != request.get_host() or not has_forms(came.path):
        return request.path
    pairs = [pair for pair in came.query.split("&") if pair and not pair.startswith(f"{PARAMETER}=")]
    return f"{came.path}?{'&'.join(pairs)}" if pairs else came.path


register = template.Library()


class OwnedFormNode(CsrfTokenNode):
    """Django's own hidden field and ours."""

    def render(self, context: Context) -> SafeString:
        """Both, on the desk and on requesters' pages; elsewhere Django's alone."""
        token = SafeString(super().render(context))
        request = context.get("request")
        if not token or request is None or not has_forms(request.path):
            return token
        user = getattr(request, "user", None)
        if user is None or not user.is_authenticated:
            return token
        mark = owner_mark(user.pk)
        return format_html('{}<input type="hidden" name="{}" value="{}">', token, OWNER, mark)


@register.tag("csrf_token")
def csrf_token(parser: Any, token: Any) -> OwnedFormNode:
    """In the place of Django's tag of this name."""
    return OwnedFormNode()
