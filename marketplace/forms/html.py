"""Pages of requesters' HTML: their crowd elements, what is changed to work here, how they are confined."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any
from urllib.parse import urlsplit

from django.templatetags.static import static
from django.utils.html import escape
from django.utils.translation import gettext

from marketplace.forms.loopback import anywhere

# Crowd elements: which there are, which script draws each, and which of a page there are not.

#: Scripts below `static/html/` that draw elements, beside `crowd-elements.js`; pages that name one get it.
SCRIPTS: dict[str, frozenset[str]] = {
    "crowd-boxes.js": frozenset(
        f"crowd-{name}"
        for name in ("alert", "badge", "card", "instructions", "modal", "tab", "tabs", "toast")
    ),
    "crowd-classifiers.js": frozenset(
        f"crowd-{name}"
        for name in (
            *("classifier", "classifier-multi-select"),
            *("image-classifier", "image-classifier-multi-select"),
        )
    ),
    "crowd-image.js": frozenset(
        f"crowd-{name}"
        for name in (
            *("bounding-box", "instance-segmentation", "keypoint", "line"),
            *("polygon", "polyline", "semantic-segmentation"),
        )
    ),
    "crowd-shapes.js": frozenset(
        f"crowd-{name}" for name in ("bounding-box", "keypoint", "line", "polygon", "polyline")
    ),
    "crowd-masks.js": frozenset({"crowd-instance-segmentation", "crowd-semantic-segmentation"}),
    "crowd-text.js": frozenset({"crowd-entity-annotation", "crowd-question-answer-generation"}),
    "crowd-ranking.js": frozenset({"crowd-text-ranking"}),
}
#: Elements that are a form by themselves where no `crowd-form` is around them.
FORM_ELEMENTS = frozenset({"crowd-form", "crowd-entity-annotation"})
#: Every crowd element that there is.
ELEMENTS = frozenset(
    f"crowd-{name}"
    for name in (
        *("button", "checkbox", "fab", "form", "icon", "icon-button", "input", "radio-button"),
        *("radio-group", "slider", "slider-label", "text-area", "toggle-button"),
    )
).union(*SCRIPTS.values())
_NAME = re.compile(r"crowd-[a-z0-9-]{1,60}", re.IGNORECASE)
_TAG = re.compile(r"<(crowd-[a-z0-9-]{1,60})", re.IGNORECASE)
_DEFINED = re.compile(r"\bdefine\(\s{0,9}[\"'`](crowd-[a-z0-9-]{1,60})[\"'`]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class UnknownElement:
    """A crowd element that there is not, and the line of the page on which it first occurs."""

    name: str
    line: int

    def __str__(self) -> str:
        return f"line {self.line}: there is no element <{self.name}>"


def unknown_elements(html: str) -> Iterator[UnknownElement]:
    """Crowd elements that are not here, each once; those in comments and those that the page defines are."""
    page = blank_comments(html)
    defined: set[str] | None = None
    for tag in _TAG.finditer(page):
        name = tag[1].lower()
        if name in ELEMENTS:
            continue
        if defined is None:
            defined = {each[1].lower() for each in _DEFINED.finditer(page)}
        if name not in defined:
            defined.add(name)
            yield UnknownElement(name, 1 + page.count("\n", 0, tag.start()))


def unknown_element(html: str) -> UnknownElement | None:
    """The first crowd element of a page that is not here."""
    return next(unknown_elements(html), None)


def scripts_of(html: str) -> list[str]:
    """Files of `SCRIPTS` that the page needs, in the order in which they are to run."""
    names = {match[0].lower() for match in _NAME.finditer(html)}
    return [script for script, elements in SCRIPTS.items() if names & elements]


def blank_comments(html: str) -> str:
    """The page without what its comments hold, on the same lines; one that does not end takes the rest."""
    pieces, at = [], 0
    while (start := html.find("<!--", at)) >= 0:
        pieces.append(html[at:start])
        end = html.find("-->", start + 4)
        end = len(html) if end < 0 else end + 3
        pieces.append("\n" * html.count("\n", start, end))
        at = end
    return "".join([*pieces, html[at:]])


# Task pages as they are served: scripts that they know from MTurk come from here, forms go to us.
#
# Pages written for MTurk load scripts of Amazon's. This installation has its own, written again, under
# `static/html/`. The page gets them, and a form where it relies on the marketplace to have one, without any
# other change of its text.

#: What people without script see of a crowd form, which is drawn by script alone.
NEEDS_SCRIPT = (
    '<noscript><p role="alert" style="margin:1em;padding:1em;border:2px solid #a1282b;'
    'font:16px/1.5 sans-serif">'
    "This task is drawn by JavaScript, which is switched off in your browser. Switch it on and load the page "
    "again, or return the HIT.</p></noscript>"
)

#: Script of Amazon's, in small letters → ours.
OURS = {
    "externalhit_v1.js": "html/external-hit.js",
    "crowd-html-elements.js": "html/crowd-elements.js",
    "crowd-html-elements-without-ce-polyfill.js": "html/crowd-elements.js",
    "crowd-html-elements-v2.js": "html/crowd-elements.js",
}
#: What a style sheet of Amazon's becomes: ours comes with the script.
NO_STYLE = "data:text/css,"
_SCRIPTS = re.compile(
    r"(?:https?:)?//[a-z0-9.-]{1,253}(?:/mturk-public)?/"
    r"(externalHIT_v1|crowd-html-elements(?:-without-ce-polyfill|-v2)?)\.js",
    re.IGNORECASE,
)
_STYLES = re.compile(
    r"(?:https?:)?//assets\.crowd\.aws/css/crowd-html-elements[a-z0-9-]{0,20}\.css", re.IGNORECASE
)
_SUBMIT = re.compile(
    r"(?:https?:)?//(?:www|workersandbox|worker)\.mturk\.com/mturk/externalSubmit\b", re.IGNORECASE
)
_ACTION = re.compile(r"(\baction\s{0,9}=\s{0,9}[\"']?)/mturk/externalSubmit\b", re.IGNORECASE)
#: A policy in the page itself names Amazon's hosts and would keep our scripts out; the page gets ours.
_POLICY = re.compile(
    r"(<meta\b[^>]{0,200}?)\bhttp-equiv(?=\s{0,9}=\s{0,9}[\"']?content-security-policy\b)", re.IGNORECASE
)
_DOCTYPE = re.compile(r"\s*<!doctype[^>]*>", re.IGNORECASE)
_BODY = re.compile(r"<body\b", re.IGNORECASE)
_BODY_END = re.compile(r"</body\s*>", re.IGNORECASE)
_FORM = re.compile(rf"<(?:form|{'|'.join(sorted(FORM_ELEMENTS))})\b", re.IGNORECASE)
_CROWD = re.compile(r"<crowd-", re.IGNORECASE)
_CROWD_FORM = re.compile(rf"<(?:{'|'.join(sorted(FORM_ELEMENTS))})\b", re.IGNORECASE)
_FIELD = re.compile(r"<(?:input|textarea|select)\b", re.IGNORECASE)
_MADE_FORM = re.compile(r"createElement\(\s{0,9}[\"']form[\"']", re.IGNORECASE)
_SUBMITS = re.compile(
    r"<(?:input|button)\b[^<>]{0,500}\btype\s{0,9}=\s{0,9}[\"']?(?:submit|image)\b", re.IGNORECASE
)


def task_document(html: str, *, submit_url: str = "", lent: Mapping[str, Any] | None = None) -> str:
    """A requester's page with our own scripts, and with forms that go to `submit_url`.

    Without one it is a preview: its forms go nowhere. `lent` is what `frame.js` shall know before any script
    of the page runs: the storage of earlier tasks.
    """
    # Most pages name no script of these, and looking for their addresses takes a while.
    needs_scripts = "externalhit_v1" in (lowered := html.lower()) or "crowd-html-elements" in lowered
    page = _SCRIPTS.sub(lambda match: static(OURS[f"{match[1].lower()}.js"]), html) if needs_scripts else html
    page = _STYLES.sub(NO_STYLE, page) if needs_scripts else page
    page = _POLICY.sub(r"\1data-http-equiv", page) if "content-security-policy" in lowered else page
    if submit_url:
        page = _SUBMIT.sub(lambda match: submit_url, page)
        page = _ACTION.sub(lambda match: f"{match[1]}{submit_url}", page)
    page = _with_form(page, submit_url)
    if _CROWD_FORM.search(page):
        start = _inside_body(page)
        page = f"{page[:start]}{NEEDS_SCRIPT}{page[start:]}"
    doctype = _DOCTYPE.match(page)
    at = doctype.end() if doctype else 0
    return f"{page[:at]}{_own_scripts(page, lent)}{page[at:]}"


def _own_scripts(page: str, lent: Mapping[str, Any] | None) -> str:
    """What runs before every script of the page, and what draws its crowd elements once it is read."""
    named = scripts_of(page)
    style = ""
    if named or _CROWD.search(page):
        style = f'<link rel="stylesheet" href="{static("html/crowd-elements.css")}">'
        # On MTurk a crowd form without its script would be no form; here it is drawn all the same.
        if "crowd-elements.js" not in page and _CROWD_FORM.search(page):
            named = ["crowd-elements.js", *named]
    inline = f"<script>var distilleryLent={_script_json(lent)}</script>" if lent is not None else ""
    parts = "".join(f'<script src="{static(f"html/{name}")}" defer></script>' for name in named)
    return f'{style}{inline}<script src="{static("html/frame.js")}"></script>{parts}'


def files_of(html: str) -> list[str]:
    """Our own files that a task page with this text loads in any case, below `static/`.

    The page around the frame has the browser fetch them while the task page itself is on its way: on a slow
    line that is one way to the server and back less.
    """
    named = scripts_of(html)
    files = ["html/frame.js"]
    if named or _CROWD.search(html):
        files.append("html/crowd-elements.css")
    if _CROWD_FORM.search(html) or "crowd-html-elements" in html.lower():
        files.append("html/crowd-elements.js")
    if "externalhit_v1" in html.lower():
        files.append("html/external-hit.js")
    return files + [f"html/{name}" for name in named if f"html/{name}" not in files]


def _script_json(value: Mapping[str, Any]) -> str:
    """JSON that nothing in it can end the script element of."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _with_form(page: str, submit_url: str) -> str:
    """Pages of fields without a form get one around everything, and a button, as MTurk's own site does.

    Pages without any field get the form behind them: their own buttons send nothing.
    """
    if _FORM.search(page) or _MADE_FORM.search(page):
        return page
    start = _inside_body(page)
    ends = list(_BODY_END.finditer(page, start))
    end = ends[-1].start() if ends else len(page)
    action = f' action="{escape(submit_url)}"' if submit_url else ""
    form = (
        f'<form name="mturk_form" id="mturk_form" method="post"{action}>'
        '<input type="hidden" name="assignmentId" value="">'
    )
    has_button = _SUBMITS.search(page, start, end)
    closed = " disabled" if not submit_url else ""
    label = gettext("Submit") if submit_url else gettext("Accept the HIT first")
    button = "" if has_button else f'<p><input type="submit" id="submitButton" value="{label}"{closed}></p>'
    if not _FIELD.search(page):
        return f"{page[:end]}{form}{button}</form>{page[end:]}"
    return f"{page[:start]}{form}{page[start:end]}{button}</form>{page[end:]}"


def _inside_body(page: str) -> int:
    """Where the page's body begins; behind its doctype where it says nothing of a body."""
    body = _BODY.search(page)
    closed = page.find(">", body.end()) if body else -1
    if closed >= 0:
        return closed + 1
    doctype = _DOCTYPE.match(page)
    return doctype.end() if doctype else 0


# What a task page of a requester may do in its frame: the headers that it is served with.
#
# It has an origin of its own that is nobody's (no cookie, no storage, nothing of the page around it), sends
# its form to one address only, and loads from where it may.

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


def task_headers(hosts: Sequence[str] | None, *, submit_url: str = "") -> dict[str, str]:
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
    text = unescape(blank_comments(task_document(html)))
    hosts = {
        f"{(named[1] or 'https').lower()}://{named[2].lower().rstrip('.')}"
        for named in _NAMED.finditer(text)
        if not _only_leads_there(text, named.start())
    }
    return sorted(host for host in hosts - _NAMES_ONLY if is_origin(host) and _is_a_host(host))


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
