"""The XML that the protocol carries: questions of requesters, answers of workers."""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, ParseError, SubElement, tostring

from defusedxml import ElementTree as SafeTree
from defusedxml.common import DefusedXmlException

from marketplace.errors import Refusal, invalid_value

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
EXTERNAL_QUESTION = f"{SCHEMAS}2006-07-14/ExternalQuestion.xsd"
ANSWERS = f"{SCHEMAS}2005-10-01/QuestionFormAnswers.xsd"
#: Question schemas of MTurk that this marketplace does not show yet.
NOT_YET = {
    f"{{{SCHEMAS}2011-11-11/HTMLQuestion.xsd}}HTMLQuestion": "HTMLQuestion",
    f"{{{SCHEMAS}2005-10-01/QuestionForm.xsd}}QuestionForm": "QuestionForm",
    f"{{{SCHEMAS}2017-11-06/QuestionForm.xsd}}QuestionForm": "QuestionForm",
}
MAX_QUESTION_BYTES = 65_535
#: Fields of a submission that the marketplace itself put there; never part of the answer.
RESERVED_FIELDS = frozenset({"assignmentId", "hitId", "workerId", "turkSubmitTo"})


@dataclass(frozen=True, slots=True)
class ExternalQuestion:
    """A task page hosted by the requester. `frame_height` in CSS pixels; 0 fits the window."""

    url: str
    frame_height: int


@lru_cache(maxsize=1024)
def parse_question(xml: str) -> ExternalQuestion:
    """Read a question; raises Refusal naming what is wrong with it."""
    if len(xml.encode("utf-8", "surrogatepass")) > MAX_QUESTION_BYTES:
        raise invalid_value("Question", f"it is longer than {MAX_QUESTION_BYTES} bytes.")
    try:
        root = SafeTree.fromstring(xml, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
        raise _xml_error(f"it is not well-formed XML without DTD and entities ({error})") from error
    if root.tag in NOT_YET:
        raise Refusal(
            "NotSupported",
            f"This marketplace does not show {NOT_YET[root.tag]} yet; use an ExternalQuestion.",
        )
    if root.tag != f"{{{EXTERNAL_QUESTION}}}ExternalQuestion":
        raise _xml_error(f"its root is {root.tag}; expected ExternalQuestion in {EXTERNAL_QUESTION}")
    children = {child.tag: (child.text or "").strip() for child in root}
    url_tag, height_tag = f"{{{EXTERNAL_QUESTION}}}ExternalURL", f"{{{EXTERNAL_QUESTION}}}FrameHeight"
    if sorted(child.tag for child in root) != [url_tag, height_tag]:
        raise _xml_error("it needs exactly one ExternalURL and one FrameHeight")
    height = children[height_tag]
    if not (height.isascii() and height.isdigit() and len(height) <= 5):
        raise _xml_error(f"FrameHeight is {height[:40]!r}, not a whole number of pixels")
    return ExternalQuestion(url=_external_url(children[url_tag]), frame_height=int(height))


def _xml_error(why: str) -> Refusal:
    return Refusal("XMLParseError", f"There was an error parsing the XML question or answer data: {why}.")


def _external_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError as error:
        raise invalid_value("Question", f"ExternalURL is not a URL ({error}).") from error
    if any(ord(character) <= 32 or ord(character) == 127 for character in url):
        raise invalid_value("Question", "ExternalURL contains white space or control characters.")
    if not host or parts.scheme not in ("https", "http") or parts.username is not None:
        raise invalid_value("Question", "ExternalURL must be an https URL without user name.")
    if parts.scheme == "http" and not is_loopback(host):
        raise invalid_value("Question", "ExternalURL must use https; http is for loopback addresses only.")
    return url


def is_loopback(host: str) -> bool:
    """True for localhost and the loopback addresses."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _printable(text: str) -> str:
    """Text with the characters that XML 1.0 cannot carry replaced, so that no answer is lost to them."""
    return "".join(
        character
        if character in "\t\n\r"
        or " " <= character <= "\ud7ff"
        or "\ue000" <= character <= "\ufffd"
        or character > "\uffff"
        else "\ufffd"
        for character in text
    )


def answers_xml(fields: Iterable[tuple[str, str]]) -> str:
    """QuestionFormAnswers of a submitted form.

    A field that occurs several times becomes one answer with its values joined by "|".
    """
    joined: dict[str, list[str]] = {}
    for name, value in fields:
        if name not in RESERVED_FIELDS:
            joined.setdefault(name, []).append(value)
    root = Element("QuestionFormAnswers", xmlns=ANSWERS)
    for name, values in joined.items():
        answer = SubElement(root, "Answer")
        SubElement(answer, "QuestionIdentifier").text = _printable(name)
        SubElement(answer, "FreeText").text = _printable("|".join(values))
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode")
