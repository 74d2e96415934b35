"""The XML that the protocol carries: questions of requesters, answers of workers."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, ParseError, SubElement, tostring

from defusedxml import ElementTree as SafeTree
from defusedxml.common import DefusedXmlException

from marketplace.errors import Refusal, invalid_value
from marketplace.forms.html import unknown_element
from marketplace.forms.loopback import is_loopback
from marketplace.forms.questionform import MAX_BYTES as MAX_QUESTION_BYTES
from marketplace.forms.questionform import ROOTS as FORM_ROOTS
from marketplace.forms.questionform import SCHEMAS, form_of, parse_error, printable, root_of
from marketplace.forms.questionform import Form as QuestionForm

__all__ = [
    "MAX_QUESTION_BYTES",
    "MAX_TASK_BYTES",
    "MAX_TEMPLATE_BYTES",
    "ExternalQuestion",
    "HTMLQuestion",
    "QuestionForm",
    "parse_question",
    "read_stored_question",
]

#: What a template may have, and the question that is made of one; a question that comes with `CreateHIT` has
#: MTurk's limit.
MAX_TEMPLATE_BYTES = 512 * 1024
MAX_TASK_BYTES = MAX_TEMPLATE_BYTES + 1024

EXTERNAL_QUESTION = f"{SCHEMAS}2006-07-14/ExternalQuestion.xsd"
HTML_QUESTION = f"{SCHEMAS}2011-11-11/HTMLQuestion.xsd"
ANSWERS = f"{SCHEMAS}2005-10-01/QuestionFormAnswers.xsd"
#: Fields of a submission that the marketplace itself put there; never part of the answer.
RESERVED_FIELDS = frozenset({"assignmentId", "hitId", "workerId", "turkSubmitTo"})
#: Longer questions are parsed again each time rather than kept.
_KEPT = 4096


@dataclass(frozen=True, slots=True)
class ExternalQuestion:
    """A task page hosted by the requester. `frame_height` in CSS pixels; 0 fits the window."""

    url: str
    frame_height: int


@dataclass(frozen=True, slots=True)
class HTMLQuestion:
    """A task page that came with the HIT and that we serve. `frame_height` as of ExternalQuestion."""

    html: str
    frame_height: int


Question = ExternalQuestion | HTMLQuestion | QuestionForm


def parse_question(xml: str, *, most_bytes: int = MAX_QUESTION_BYTES) -> Question:
    """Read a question; raises Refusal naming what is wrong with it, its length over `most_bytes` included."""
    question = _parse_and_keep(xml) if len(xml) <= _KEPT else _parse(xml, most_bytes)
    if isinstance(question, HTMLQuestion) and (unknown := unknown_element(question.html)):
        raise Refusal(
            "NotSupported",
            f"HTMLContent, {unknown} in this marketplace; docs/batches.md names those that there are.",
        )
    return question


def read_stored_question(xml: str) -> Question:
    """The question of a HIT, which was checked by the rules of the day on which it was made."""
    return _parse_and_keep(xml) if len(xml) <= _KEPT else _parse(xml, MAX_TASK_BYTES)


def _parse(xml: str, most_bytes: int = MAX_QUESTION_BYTES) -> Question:
    root = root_of(xml, most_bytes=most_bytes)
    if root.tag in FORM_ROOTS:
        return form_of(root)
    if root.tag == f"{{{HTML_QUESTION}}}HTMLQuestion":
        html, height = _content_and_height(root, HTML_QUESTION, "HTMLContent")
        if not html.strip():
            raise parse_error("its HTMLContent is empty")
        return HTMLQuestion(html=html, frame_height=height)
    if root.tag != f"{{{EXTERNAL_QUESTION}}}ExternalQuestion":
        raise parse_error(
            f"its root is {root.tag}; expected ExternalQuestion in {EXTERNAL_QUESTION}, HTMLQuestion in "
            f"{HTML_QUESTION} or QuestionForm"
        )
    url, height = _content_and_height(root, EXTERNAL_QUESTION, "ExternalURL")
    return ExternalQuestion(url=_external_url(url.strip()), frame_height=height)


_parse_and_keep = lru_cache(maxsize=1024)(_parse)


def _content_and_height(root: Element, schema: str, name: str) -> tuple[str, int]:
    """Text of the one content element of a question, and its FrameHeight; nothing else may be there."""
    content_tag, height_tag = f"{{{schema}}}{name}", f"{{{schema}}}FrameHeight"
    children = {child.tag: child for child in root}
    if len(root) != 2 or set(children) != {content_tag, height_tag}:
        raise parse_error(f"it needs exactly one {name} and one FrameHeight")
    if any(len(child) for child in root):
        raise parse_error(f"{name} contains elements; put its text into a CDATA section")
    height = (children[height_tag].text or "").strip()
    if not (height.isascii() and height.isdigit() and len(height) <= 5):
        raise parse_error(f"FrameHeight is {height[:40]!r}, not a whole number of pixels")
    return children[content_tag].text or "", int(height)


def html_question_xml(html: str, frame_height: int) -> str:
    """The HTMLQuestion that shows a page."""
    content = printable(html).replace("]]>", "]]]]><![CDATA[>")
    return (
        f'<HTMLQuestion xmlns="{HTML_QUESTION}"><HTMLContent><![CDATA[{content}]]></HTMLContent>'
        f"<FrameHeight>{frame_height}</FrameHeight></HTMLQuestion>"
    )


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
        SubElement(answer, "QuestionIdentifier").text = printable(name)
        SubElement(answer, "FreeText").text = printable("|".join(values))
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode")


# What a worker answered, field by field.

#: A text that is longer is folded on pages, and one that is much longer is cut there.
FOLD_FROM = 1_200
CUT_FROM = 40_000
_SHOWN_OF_FOLDED = 500
_LONGEST_JSON = 200_000


@dataclass(frozen=True, slots=True)
class AnswerField:
    """One answer: its QuestionIdentifier, what was typed, and what was chosen.

    `pretty` is a text that is JSON, one member a line; `file` says what was uploaded.
    """

    name: str
    text: str = ""
    selections: tuple[str, ...] = ()
    file: str = ""
    pretty: str = ""

    @property
    def content(self) -> str:
        """All of it as a text."""
        return self.text or self.file or " | ".join(self.selections)

    @property
    def readable(self) -> str:
        """What a page shows, pretty where it is JSON, cut where it would be too much."""
        return (self.pretty or self.text)[:CUT_FROM]

    @property
    def cut(self) -> bool:
        """There is more than a page shows."""
        return len(self.pretty or self.text) > CUT_FROM

    @property
    def long(self) -> bool:
        """Folded until somebody opens it."""
        return len(self.readable) > FOLD_FROM

    @property
    def beginning(self) -> str:
        """What is seen of a folded text."""
        return self.readable[:_SHOWN_OF_FOLDED]


def fields_of(xml: str) -> list[AnswerField]:
    """The fields in their order. What is no QuestionFormAnswers is one field without a name."""
    if not xml:
        return []
    try:
        root = SafeTree.fromstring(xml, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError):
        return [AnswerField(name="", text=xml)]
    fields = [_answer_field(answer) for answer in root if _tag_of(answer) == "Answer"]
    return fields or ([AnswerField(name="", text=xml)] if _tag_of(root) != "QuestionFormAnswers" else [])


def _answer_field(answer: Element) -> AnswerField:
    texts: dict[str, list[str]] = {}
    for part in answer:
        texts.setdefault(_tag_of(part), []).append(part.text or "")
    text = "\n".join(texts.get("FreeText", []))
    size, key = "".join(texts.get("UploadedFileSizeInBytes", [])), "".join(texts.get("UploadedFileKey", []))
    return AnswerField(
        name="".join(texts.get("QuestionIdentifier", [])),
        text=text,
        selections=(*texts.get("SelectionIdentifier", []), *texts.get("OtherSelectionText", [])),
        file=f"{key} ({size} bytes)" if key else "",
        pretty=_pretty(text),
    )


def _tag_of(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _pretty(text: str) -> str:
    """JSON objects and lists on several lines; other texts have no prettier form."""
    if not text.lstrip().startswith(("{", "[")) or len(text) > _LONGEST_JSON:
        return ""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return ""
