"""A bank's answer to a SEPA file: ISO 20022 pain.002, read as results of its lines.

A status of the whole file or of its batch counts for the lines that the report does not name. Any version of
pain.002 is read: elements are found by their names, whatever their namespace.
"""

from collections.abc import Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element, ParseError

from defusedxml import ElementTree as SafeTree
from defusedxml.common import DefusedXmlException

from marketplace.errors import Refusal
from marketplace.models import PayMethod, Payout, PayoutLine, Requester
from marketplace.payoutfiles import message_id

State = PayoutLine.State
_MOST_BYTES = 20_000_000
_UNCHANGED = "Nothing was booked."
#: What codes of `TxSts`, `PmtInfSts` and `GrpSts` mean. ACSP and earlier: it may still fail.
_MEANS = {
    **dict.fromkeys(("ACSC", "ACCC"), State.PAID),
    **dict.fromkeys(("RJCT", "CANC"), State.FAILED),
    **dict.fromkeys(
        ("ACSP", "ACTC", "ACCP", "ACWC", "ACWP", "ACFC", "PDNG", "RCVD", "PART", "PATC"), State.SENT
    ),
}


class LineStatus(NamedTuple):
    """What the report says of one line; `place` is its position, 0 where the whole file is meant."""

    place: int
    reference: str
    state: str
    reason: str


def is_status_report(head: bytes) -> bool:
    """Whether a file begins as XML does, and not as a table."""
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")


def read_report(requester: Requester, name: str, data: bytes) -> list[LineStatus]:
    """What became of lines. Raises Refusal naming the file, what is wrong, and what to do."""
    if len(data) > _MOST_BYTES:
        raise _refusal(name, "is larger than 20 MB; ask the bank for reports by day")
    try:
        root = SafeTree.fromstring(data, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError) as error:
        raise _refusal(name, f"is no XML that can be read ({error}); download it again") from error
    report = _first(root, "CstmrPmtStsRpt")
    if report is None:
        raise _refusal(name, "is no pain.002 status report; take the bank's report on the payment file")
    found: dict[str, LineStatus] = {}
    place = 0
    for batch in _each(report, "OrgnlPmtInfAndSts"):
        for said in _each(batch, "TxInfAndSts"):
            place += 1
            _add(found, _line(name, place, said), name)
    whole = _whole(report, name)
    if whole is not None:
        for reference in _lines_of(requester, _text(report, "OrgnlGrpInfAndSts", "OrgnlMsgId"), name):
            found.setdefault(reference, LineStatus(0, reference, *whole))
    if not found:
        raise _refusal(name, "says nothing of any line; wait for a later report of the bank")
    return list(found.values())


def _line(name: str, place: int, said: Element) -> LineStatus:
    reference = _text(said, "OrgnlEndToEndId")
    if not reference:
        raise _refusal(name, f"has no OrgnlEndToEndId in transaction {place}")
    state = _meaning(_text(said, "TxSts"), f"transaction {place}", name)
    return LineStatus(place, reference, state, _reason(said))


def _add(found: dict[str, LineStatus], line: LineStatus, name: str) -> None:
    before = found.get(line.reference)
    if before is not None and before.state != line.state:
        raise _refusal(
            name,
            f"says two things of {line.reference}, in transactions {before.place} and {line.place}; "
            "book it by a table of its own",
        )
    found[line.reference] = line


def _whole(report: Element, name: str) -> tuple[str, str] | None:
    """The status of the batch, else that of the file; None where there is none, or parts of it differ."""
    batches = list(_each(report, "OrgnlPmtInfAndSts"))
    said = [(_text(each, "PmtInfSts"), each) for each in batches]
    group = next(_each(report, "OrgnlGrpInfAndSts"), None)
    if group is not None:
        said.append((_text(group, "GrpSts"), group))
    code, where = next(((code, each) for code, each in said if code), ("", None))
    if where is None or code == "PART":
        return None
    state = _meaning(code, "the whole", name)
    return (state, _reason(where)) if state != State.SENT else None


def _lines_of(requester: Requester, message: str, name: str) -> list[str]:
    for payout in Payout.objects.filter(requester=requester, method=PayMethod.SEPA).order_by("-pk"):
        if message_id(f"D{payout.requester_id}P{payout.number}", payout.made_at) == message:
            return list(payout.lines.order_by("number").values_list("reference", flat=True))
    raise _refusal(
        name, f"is about the message {message[:40]!r}, and no payout has it; look whose file it answers"
    )


def _meaning(code: str, of: str, name: str) -> str:
    if code not in _MEANS:
        raise _refusal(name, f"has the status {code[:10]!r} in {of}, which is not known; book it by a table")
    return _MEANS[code]


def _reason(said: Element) -> str:
    """Code and words of the reason, as far as there are any."""
    given = next(_each(said, "StsRsnInf"), None)
    if given is None:
        return ""
    parts = [_text(given, "Rsn", "Cd") or _text(given, "Rsn", "Prtry")]
    parts += ["".join(each.itertext()) for each in _each(given, "AddtlInf")]
    words = " ".join(" ".join(part.split()) for part in parts if part)
    return "".join(each if each.isprintable() else " " for each in words)[:300]


def _each(parent: Element, name: str) -> Iterator[Element]:
    return (child for child in parent if child.tag.rpartition("}")[2] == name)


def _first(parent: Element, name: str) -> Element | None:
    return next(_each(parent, name), None)


def _text(parent: Element, *path: str) -> str:
    at: Element | None = parent
    for name in path:
        at = _first(at, name) if at is not None else None
    return (at.text or "").strip() if at is not None else ""


def _refusal(name: str, why: str) -> Refusal:
    return Refusal("InvalidResults", f"{name} {why}. {_UNCHANGED}")
