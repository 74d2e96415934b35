"""What a task page of a requester may do in its frame: the headers that it is served with.

It has an origin of its own that is nobody's (no cookie, no storage, nothing of the page around it), sends
its form to one address only, and loads from where it may.
"""

import re
from collections.abc import Sequence
from html.parser import HTMLParser
from urllib.parse import urlsplit

from marketplace.html.documents import task_document

#: Never allow-same-origin, never any kind of top navigation: what a task page may do in any case.
SANDBOX = "allow-scripts allow-forms allow-modals allow-popups allow-popups-to-escape-sandbox"
#: Where pages of requesters with keys may load from: as pages that they host themselves.
ANYWHERE = ("https:", "http://127.0.0.1:*", "http://localhost:*", "http://*.localhost:*")
_ORIGIN = re.compile(r"https?://[a-z0-9](?:[a-z0-9.-]{0,252}[a-z0-9])?(?::[0-9]{1,5})?")
_NAMED = re.compile(r"(?:(https?):)?//([a-z0-9][a-z0-9.-]{0,253}(?::[0-9]{1,5})?)", re.IGNORECASE)
#: Names of namespaces, which nothing is loaded from.
_NAMES_ONLY = frozenset({"http://www.w3.org", "https://www.w3.org"})


def headers(hosts: Sequence[str] | None, *, submit_url: str = "") -> dict[str, str]:
    """Headers of a task page that loads from `hosts` (origins) only, or from any https address with None.

    Its forms go to `submit_url` and nowhere else; without one, nothing can be sent.
    """
    policy = {"sandbox": SANDBOX, "default-src": "'none'", "base-uri": "'none'"}
    policy["form-action"] = submit_url or "'none'"
    if hosts is None:
        anywhere = " ".join(ANYWHERE)
        files = f"'self' {anywhere} data: blob:"
        policy |= {"connect-src": f"{anywhere} data: blob:", "frame-src": f"{anywhere} data: blob:"}
        policy |= {"worker-src": f"{anywhere} data: blob:"}
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

    An address without scheme counts as https. Our own copies of known scripts need no host.
    """
    reader = _Reader()
    reader.feed(task_document(html))
    reader.close()
    found = {
        f"{(scheme or 'https').lower()}://{host.lower().rstrip('.')}"
        for text in reader.texts
        for scheme, host in _NAMED.findall(text)
    }
    return sorted(host for host in found - _NAMES_ONLY if is_origin(host) and _is_a_host(host))


def _is_a_host(origin: str) -> bool:
    """A comment of a script ("// then") names no host: one has a dot, a port, or is this machine."""
    name = urlsplit(origin).netloc
    return "." in name.strip(".") or ":" in name or name == "localhost"


class _Reader(HTMLParser):
    """Collects everything that could make a browser load something: attributes, scripts, styles, text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            leads_away = name in ("action", "formaction") or (name == "href" and tag in ("a", "area"))
            if value and not leads_away and not name.startswith("xmlns"):
                self.texts.append(value)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
