"""Task pages as they are served: scripts that they know from MTurk come from here, forms go to us.

Pages written for MTurk load two scripts of Amazon's. This installation has its own, written again, under
`static/html/`. The page gets them, and a form where it relies on the marketplace to have one, without any
other change of its text.
"""

import re

from django.templatetags.static import static
from django.utils.html import escape

#: Script of Amazon's, in small letters → ours.
OURS = {
    "externalhit_v1.js": "html/external-hit.js",
    "crowd-html-elements.js": "html/crowd-elements.js",
    "crowd-html-elements-without-ce-polyfill.js": "html/crowd-elements.js",
}
#: Elements of crowd forms that this marketplace does not have.
NOT_HERE = frozenset(
    f"crowd-{name}"
    for name in (
        "3d-point-cloud",
        "bounding-box",
        "entity-annotation",
        "google-map",
        "instance-segmentation",
        "keypoint",
        "line",
        "point",
        "polygon",
        "polyline",
        "rekognition-detect-moderation-labels",
        "semantic-segmentation",
        "textract-analyze-document",
    )
)
_SCRIPTS = re.compile(
    r"(?:https?:)?//[a-z0-9.-]{1,253}(?:/mturk-public)?/"
    r"(externalHIT_v1|crowd-html-elements(?:-without-ce-polyfill)?)\.js",
    re.IGNORECASE,
)
_CROWD = re.compile(r"<(crowd-[a-z0-9-]{1,60})", re.IGNORECASE)
_SUBMIT = re.compile(
    r"(?:https?:)?//(?:www|workersandbox|worker)\.mturk\.com/mturk/externalSubmit\b", re.IGNORECASE
)
_ACTION = re.compile(r"(\baction\s{0,9}=\s{0,9}[\"']?)/mturk/externalSubmit\b", re.IGNORECASE)
_DOCTYPE = re.compile(r"\s*<!doctype[^>]*>", re.IGNORECASE)
_BODY = re.compile(r"<body\b", re.IGNORECASE)
_BODY_END = re.compile(r"</body\s*>", re.IGNORECASE)
_FORM = re.compile(r"<(?:crowd-)?form\b", re.IGNORECASE)
_MADE_FORM = re.compile(r"createElement\(\s{0,9}[\"']form[\"']", re.IGNORECASE)
_FIELD = re.compile(r"<(?:input|textarea|select)\b", re.IGNORECASE)
_SUBMITS = re.compile(
    r"<(?:input|button)\b[^<>]{0,500}\btype\s{0,9}=\s{0,9}[\"']?(?:submit|image)\b", re.IGNORECASE
)


def task_document(html: str, *, submit_url: str = "") -> str:
    """A requester's page with our own scripts, and with forms that go to `submit_url`.

    Without one it is a preview: its forms go nowhere.
    """
    # Most pages name no script of these, and looking for their addresses takes a while.
    known = "externalhit_v1" in (lowered := html.lower()) or "crowd-html-elements" in lowered
    page = _SCRIPTS.sub(lambda found: static(OURS[f"{found[1].lower()}.js"]), html) if known else html
    if submit_url:
        page = _SUBMIT.sub(lambda found: submit_url, page)
        page = _ACTION.sub(lambda found: f"{found[1]}{submit_url}", page)
    page = _with_form(page, submit_url)
    doctype = _DOCTYPE.match(page)
    at = doctype.end() if doctype else 0
    return f'{page[:at]}<script src="{static("html/frame.js")}"></script>{page[at:]}'


def _with_form(page: str, submit_url: str) -> str:
    """Pages of fields without a form get one around everything, and a button, as MTurk's own site does."""
    if _FORM.search(page) or not _FIELD.search(page) or _MADE_FORM.search(page):
        return page
    start = _inside_body(page)
    ends = list(_BODY_END.finditer(page, start))
    end = ends[-1].start() if ends else len(page)
    action = f' action="{escape(submit_url)}"' if submit_url else ""
    form = f'<form name="mturk_form" id="mturk_form" method="post"{action}>'
    has_button = _SUBMITS.search(page, start, end)
    closed = " disabled" if not submit_url else ""
    words = "Submit" if submit_url else "Accept the HIT first"
    button = "" if has_button else f'<p><input type="submit" id="submitButton" value="{words}"{closed}></p>'
    return f"{page[:start]}{form}{page[start:end]}{button}</form>{page[end:]}"


def _inside_body(page: str) -> int:
    """Where the page's body begins; behind its doctype where it says nothing of a body."""
    body = _BODY.search(page)
    closed = page.find(">", body.end()) if body else -1
    if closed >= 0:
        return closed + 1
    doctype = _DOCTYPE.match(page)
    return doctype.end() if doctype else 0


def element_not_here(html: str) -> str:
    """Name of the first crowd element of a page that this marketplace does not have, or ""."""
    names = (found[1].lower() for found in _CROWD.finditer(without_comments(html)))
    return next((name for name in names if name in NOT_HERE), "")


def without_comments(html: str) -> str:
    """The page without its comments, for looking at; one that does not end takes the rest with it."""
    pieces, at = [], 0
    while (start := html.find("<!--", at)) >= 0:
        pieces.append(html[at:start])
        end = html.find("-->", start + 4)
        if end < 0:
            return "".join(pieces)
        at = end + 3
    return "".join([*pieces, html[at:]])
