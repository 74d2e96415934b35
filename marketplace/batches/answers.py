"""Answers of workers as columns: the fields of a QuestionFormAnswers document."""

from xml.etree.ElementTree import ParseError

from defusedxml import ElementTree as SafeTree
from defusedxml.common import DefusedXmlException

#: Between the parts of one answer: several choices, or a choice and one's own words.
BETWEEN = "|"
_PARTS = ("FreeText", "SelectionIdentifier", "OtherSelectionText", "UploadedFileKey")


def fields(xml: str) -> dict[str, str]:
    """Name → answer; what is no such document has no fields."""
    try:
        root = SafeTree.fromstring(xml, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError):
        return {}
    found: dict[str, str] = {}
    for answer in root:
        name, parts = "", []
        for child in answer:
            tag = child.tag.rpartition("}")[2]
            if tag == "QuestionIdentifier":
                name = child.text or ""
            elif tag in _PARTS and child.text:
                parts.append(child.text)
        if name:
            found[name] = BETWEEN.join(parts)
    return found
