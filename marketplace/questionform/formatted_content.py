"""FormattedContent: the XHTML that a QuestionForm may carry, let through element by element."""

import re
from html.entities import html5
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, ParseError, tostring

from defusedxml import ElementTree as SafeTree
from defusedxml.common import DefusedXmlException

from marketplace.errors import Refusal

_PLAIN = frozenset({"align", "dir", "lang", "title", "valign"})
_BARE = (
    "b big blockquote br caption center cite code dd del dfn div dl dt em h1 h2 h3 h4 h5 h6 hr i ins kbd li "
    "p pre q s samp small span strike strong sub sup tbody tfoot thead tr tt u ul var"
)
#: What may stand in FormattedContent: element → its attributes beside those that all have.
ALLOWED: dict[str, frozenset[str]] = {
    **dict.fromkeys(_BARE.split(), frozenset()),
    "a": frozenset({"href"}),
    "col": frozenset({"span", "width"}),
    "colgroup": frozenset({"span", "width"}),
    "font": frozenset({"color", "face", "size"}),
    "img": frozenset({"alt", "border", "height", "src", "width"}),
    "ol": frozenset({"start", "type"}),
    "table": frozenset({"border", "cellpadding", "cellspacing", "summary", "width"}),
    "td": frozenset({"colspan", "height", "nowrap", "rowspan", "width"}),
    "th": frozenset({"colspan", "height", "nowrap", "rowspan", "scope", "width"}),
}
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]*;)")
_OF_XML = frozenset({"amp;", "lt;", "gt;", "quot;", "apos;"})


def formatted(xhtml: str) -> str:
    """HTML of FormattedContent that is safe to draw; raises Refusal naming what may not stand in it."""
    try:
        root: Element = SafeTree.fromstring(f"<div>{_ENTITY.sub(_character, xhtml)}</div>", forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError) as error:
        raise _refusal(f"it is not well-formed XHTML ({error})") from error
    for element in root.iter():
        _check(element)
    try:
        return tostring(root, encoding="unicode", method="html")
    except RecursionError as error:
        raise _refusal("its elements are nested too deeply") from error


def is_address(url: str) -> bool:
    """True for an http or https address that a page may load or lead to."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _character(found: re.Match[str]) -> str:
    name = found[1]
    return found[0] if name in _OF_XML else html5.get(name, found[0])


def _check(element: Element) -> None:
    if not isinstance(element.tag, str) or element.tag not in ALLOWED:
        raise _refusal(f"<{str(element.tag)[:40]}> may not stand in FormattedContent")
    for name, value in element.attrib.items():
        if name not in ALLOWED[element.tag] | _PLAIN:
            raise _refusal(f"<{element.tag}> may not have the attribute {name[:40]!r}")
        if name in ("href", "src") and not is_address(value):
            raise _refusal(f"{name}={value[:80]!r} is not an http or https address")
    if element.tag == "a":
        element.attrib |= {"target": "_blank", "rel": "noopener noreferrer"}


def _refusal(why: str) -> Refusal:
    return Refusal("XHTMLParseError", f"There was an error parsing the XHTML of FormattedContent: {why}.")
