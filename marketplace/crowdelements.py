"""Crowd elements: which there are, which script draws each, and the first one of a page that there is not."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

#: Scripts below `static/html/` that draw elements, beside `crowd-elements.js`; pages that name one get it.
PARTS: dict[str, frozenset[str]] = {
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
FORMS = frozenset({"crowd-form", "crowd-entity-annotation"})
#: Every crowd element that there is.
ELEMENTS = frozenset(
    f"crowd-{name}"
    for name in (
        *("button", "checkbox", "fab", "form", "icon", "icon-button", "input", "radio-button"),
        *("radio-group", "slider", "slider-label", "text-area", "toggle-button"),
    )
).union(*PARTS.values())
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
    known: set[str] | None = None
    for found in _TAG.finditer(page):
        name = found[1].lower()
        if name in ELEMENTS:
            continue
        if known is None:
            known = {each[1].lower() for each in _DEFINED.finditer(page)}
        if name not in known:
            known.add(name)
            yield UnknownElement(name, 1 + page.count("\n", 0, found.start()))


def unknown_element(html: str) -> UnknownElement | None:
    """The first crowd element of a page that is not here."""
    return next(unknown_elements(html), None)


def scripts_of(html: str) -> list[str]:
    """Files of `PARTS` that the page needs, in the order in which they are to run."""
    names = {found[0].lower() for found in _NAME.finditer(html)}
    return [script for script, elements in PARTS.items() if names & elements]


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
