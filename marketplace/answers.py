"""What a worker answered, field by field, from the XML in which the protocol carries it."""

import json
from dataclasses import dataclass
from xml.etree.ElementTree import Element, ParseError

from defusedxml import ElementTree as SafeTree
from defusedxml.common import DefusedXmlException

#: A text that is longer is folded on pages, and one that is much longer is cut there.
FOLD_FROM = 1_200
CUT_FROM = 40_000
_SHOWN_OF_FOLDED = 500
_LONGEST_JSON = 200_000


@dataclass(frozen=True, slots=True)
class Field:
    """One answer: its QuestionIdentifier, what was typed, and what was chosen.

    `pretty` is a text that is JSON, one member a line; `file` says what was uploaded.
    """

    name: str
    text: str = ""
    chosen: tuple[str, ...] = ()
    file: str = ""
    pretty: str = ""

    @property
    def words(self) -> str:
        """All of it as a text."""
        return self.text or self.file or " | ".join(self.chosen)

    @property
    def shown(self) -> str:
        """What a page shows, pretty where it is JSON, cut where it would be too much."""
        return (self.pretty or self.text)[:CUT_FROM]

    @property
    def cut(self) -> bool:
        """There is more than a page shows."""
        return len(self.pretty or self.text) > CUT_FROM

    @property
    def long(self) -> bool:
        """Folded until somebody opens it."""
        return len(self.shown) > FOLD_FROM

    @property
    def beginning(self) -> str:
        """What is seen of a folded text."""
        return self.shown[:_SHOWN_OF_FOLDED]


def fields_of(xml: str) -> list[Field]:
    """The fields in their order. What is no QuestionFormAnswers is one field without a name."""
    if not xml:
        return []
    try:
        root = SafeTree.fromstring(xml, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError):
        return [Field(name="", text=xml)]
    found = [_field(answer) for answer in root if _tag(answer) == "Answer"]
    return found or ([Field(name="", text=xml)] if _tag(root) != "QuestionFormAnswers" else [])


def _field(answer: Element) -> Field:
    texts: dict[str, list[str]] = {}
    for part in answer:
        texts.setdefault(_tag(part), []).append(part.text or "")
    text = "\n".join(texts.get("FreeText", []))
    size, key = "".join(texts.get("UploadedFileSizeInBytes", [])), "".join(texts.get("UploadedFileKey", []))
    return Field(
        name="".join(texts.get("QuestionIdentifier", [])),
        text=text,
        chosen=(*texts.get("SelectionIdentifier", []), *texts.get("OtherSelectionText", [])),
        file=f"{key} ({size} bytes)" if key else "",
        pretty=_pretty(text),
    )


def _tag(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _pretty(text: str) -> str:
    """JSON objects and lists on several lines; other texts have no prettier form."""
    if not text.lstrip().startswith(("{", "[")) or len(text) > _LONGEST_JSON:
        return ""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return ""
