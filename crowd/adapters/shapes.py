"""The MTurk protocol's shapes: what our data look like in its parameters, and its answers in our data."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from xml.etree.ElementTree import ParseError

from defusedxml import ElementTree as SafeTree
from defusedxml.common import DefusedXmlException

from crowd.adapters.base import Rule, Submission

EXTERNAL_QUESTION = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"
)
_HIDE = {
    "accept": "Accept",
    "preview": "PreviewAndAccept",
    "discover": "DiscoverPreviewAndAccept",
}
_SYSTEM = {
    "approval_rate": "000000000000000000L0",
    "approved_count": "00000000000000000040",
    "adult": "00000000000000000060",
}
_LOCALE = "00000000000000000071"


def external_question(url: str, frame_height: int) -> str:
    """ExternalQuestion XML for a page of ours."""
    escaped = url.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return (
        f'<ExternalQuestion xmlns="{EXTERNAL_QUESTION}"><ExternalURL>{escaped}</ExternalURL>'
        f"<FrameHeight>{frame_height}</FrameHeight></ExternalQuestion>"
    )


def requirement_for(rule: Rule) -> dict[str, Any]:
    """A rule as a QualificationRequirement."""
    requirement: dict[str, Any] = {"Comparator": rule.op, "ActionsGuarded": _HIDE[rule.hide]}
    if rule.kind == "country":
        requirement["QualificationTypeId"] = _LOCALE
        requirement["LocaleValues"] = [_locale(str(value)) for value in rule.values]
        return requirement
    if rule.kind in ("group", "raw"):
        requirement["QualificationTypeId"] = str(rule.values[0])
        numbers = rule.values[1:]
    else:
        requirement["QualificationTypeId"] = _SYSTEM[rule.kind]
        numbers = rule.values
    if numbers:
        requirement["IntegerValues"] = [int(value) for value in numbers]
    return requirement


def _locale(place: str) -> dict[str, str]:
    country, _, subdivision = place.partition("-")
    return {"Country": country, **({"Subdivision": subdivision} if subdivision else {})}


def utc(moment: datetime) -> datetime:
    """botocore answers in the process's local zone."""
    return moment.astimezone(UTC)


def submission_from(item: Mapping[str, Any]) -> Submission:
    """An Assignment of the protocol."""
    decided = item.get("ApprovalTime") or item.get("RejectionTime")
    return Submission(
        ref=item["AssignmentId"],
        listing=item["HITId"],
        worker=item["WorkerId"],
        state=item["AssignmentStatus"].lower(),
        accepted_at=utc(item["AcceptTime"]) if "AcceptTime" in item else None,
        submitted_at=utc(item["SubmitTime"]),
        auto_approve_at=utc(item["AutoApprovalTime"]) if "AutoApprovalTime" in item else None,
        decided_at=utc(decided) if decided else None,
        answer=parse_answers(item.get("Answer", "")),
        raw=item,
    )


def parse_answers(xml: str) -> dict[str, str]:
    """Fields of QuestionFormAnswers; what cannot be read is an empty answer."""
    try:
        root = SafeTree.fromstring(xml, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError):
        return {}
    fields: dict[str, str] = {}
    for answer in root:
        values = {child.tag.rpartition("}")[2]: child.text or "" for child in answer}
        if "QuestionIdentifier" in values:
            fields[values["QuestionIdentifier"]] = values.get("FreeText", "")
    return fields
