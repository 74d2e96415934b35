"""Task pages as they are served: scripts that they know from MTurk come from here, forms go to us.

Pages written for MTurk load two scripts of Amazon's. This installation has its own, written anew, under
`static/html/`; the page gets them without a change of its text but for the addresses.
"""

import re

from django.templatetags.static import static

#: Script of Amazon's → ours.
OURS = {
    "externalhit_v1.js": "html/external-hit.js",
    "crowd-html-elements.js": "html/crowd-elements.js",
    "crowd-html-elements-without-ce-polyfill.js": "html/crowd-elements.js",
}
_SCRIPTS = re.compile(
    r"(?:https?:)?//[a-z0-9.-]{1,253}(?:/mturk-public)?/"
    r"(externalHIT_v1|crowd-html-elements(?:-without-ce-polyfill)?)\.js",
    re.IGNORECASE,
)
_SUBMIT = re.compile(
    r"(?:(?:https?:)?//(?:www|workersandbox|worker)\.mturk\.com)?/mturk/externalSubmit", re.IGNORECASE
)
_DOCTYPE = re.compile(r"\s*<!doctype[^>]*>", re.IGNORECASE)


def task_document(html: str, *, submit_url: str = "") -> str:
    """A requester's page with our own scripts; MTurk's submit address becomes `submit_url`, if given."""
    page = _SCRIPTS.sub(lambda found: static(OURS[f"{found[1].lower()}.js"]), html)
    if submit_url:
        page = _SUBMIT.sub(lambda found: submit_url, page)
    doctype = _DOCTYPE.match(page)
    at = doctype.end() if doctype else 0
    return f'{page[:at]}<script src="{static("html/frame.js")}"></script>{page[at:]}'
