"""What a task page of a requester may do in its frame: the headers that it is served with.

It has an origin of its own that is nobody's (no cookie, no storage, nothing of the page around it), sends
its form to one address only, and loads from where it may.
"""

import re
from collections.abc import Sequence
from html import unescape
from urllib.parse import urlsplit

from marketplace.html.documents import task_document, without_comments
from marketplace.loopback import anywhere

#: Never allow-same-origin, never any kind of top navigation: what a task page may do in any case.
SANDBOX = "allow-scripts allow-forms allow-modals allow-popups allow-popups-to-escape-sandbox"
_ORIGIN = re.compile(r"https?://[a-z0-9](?:[a-z0-9.-]{0,252}[a-z0-9])?(?::[0-9]{1,5})?")
_NAMED = re.compile(r"(?:(https?):)?//([a-z0-9][a-z0-9.-]{0,253}(?::[0-9]{1,5})?)", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"\b(href|action|formaction|xmlns(?::[a-z]{1,20})?)\s{0,9}=\s{0,9}[\"']?$", re.IGNORECASE
)
_LINK = re.compile(r"<(?:a|area)\s", re.IGNORECASE)
#: Names of namespaces, which nothing is loaded from.
_NAMES_ONLY = frozenset({"http://www.w3.org", "https://www.w3.org"})


def headers(hosts: Sequence[str] | None, *, submit_url: str = "") -> dict[str, str]:
    """Headers of a task page that loads from `hosts` (origins) only, or from any https address with None.

    Its forms go to `submit_url` and nowhere else; without one, nothing can be sent.
    """
    policy = {"sandbox": SANDBOX, "default-src": "'none'", "base-uri": "'none'"}
    policy["form-action"] = submit_url or "'none'"
    if hosts is None:
        sources = " ".join(anywhere())
        files = f"'self' {sources} data: blob:"
        policy |= {f"{kind}-src": f"{sources} data: blob:" for kind in ("connect", "frame", "worker")}
    else:
        files = " ".join(["'self'", "data:", "blob:", *(host for host in hosts if is_origin(host))])
    policy |= {f"{kind}-src": files for kind in ("img", "media", "font")}
    policy["style-src"] = f"{files} 'unsafe-inline'"
    policy["script-src"] = f"{files} 'unsafe-inline' 'unsafe-eval'"
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-DNS-Prefetch-Control": "off",
    }


def is_origin(host: str) -> bool:
    """True for what `headers` takes as a host: scheme, name and perhaps a port, in small letters."""
    return bool(_ORIGIN.fullmatch(host))


def hosts_in(html: str) -> list[str]:
    """Origins that a page or a piece of one names for loading, sorted; links and forms do not count.

    An address without scheme counts as https. Our own copies of known scripts need no host. Read without a
    parser of HTML, whose time would grow with the square of what somebody wants it to.
    """
    text = unescape(without_comments(task_document(html)))
    found = {
        f"{(named[1] or 'https').lower()}://{named[2].lower().rstrip('.')}"
        for named in _NAMED.finditer(text)
        if not _only_leads_there(text, named.start())
    }
    return sorted(host for host in found - _NAMES_ONLY if is_origin(host) and _is_a_host(host))


def _only_leads_there(text: str, at: int) -> bool:
    """True for the address of a link, of a form, or of a namespace, which nothing is loaded from."""
    tag = text.rfind("<", max(0, at - 2000), at)
    before = _ATTRIBUTE.search(text, max(0, at - 60), at)
    if tag < 0 or before is None:
        return False
    return before[1].lower() != "href" or bool(_LINK.match(text, tag))


def _is_a_host(origin: str) -> bool:
    """A comment of a script ("// then") names no host: one has a dot, a port, or is this machine."""
    name = urlsplit(origin).netloc
    return "." in name.strip(".") or ":" in name or name == "localhost"
