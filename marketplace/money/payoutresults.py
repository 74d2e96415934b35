"""What services send back about a payout file: a table with our reference, a status, a reason; or pain.002.

Columns of a table are found by the names that services give them; each status means paid, failed or on its
way. A bank answers a SEPA file by ISO 20022 pain.002.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple
from xml.etree.ElementTree import Element, ParseError

from defusedxml import ElementTree as SafeTree
from defusedxml.common import DefusedXmlException
from django.contrib.auth.models import User

from core.files.reading import Reading
from core.files.refusals import RowCounts
from marketplace.errors import Refusal
from marketplace.forms.sheets import Limits, Sheet
from marketplace.models import PayMethod, Payout, PayoutLine, Requester
from marketplace.money.payoutfiles import message_id
from marketplace.money.payouts import BookingCounts, Result, book_results

State = PayoutLine.State
LIMITS = Limits(megabytes=20, columns=200, rows=100_000)
_UNCHANGED = "Nothing was booked."
#: As much of a file as tells XML from a table.
_HEAD = 64
_REFERENCE = (
    "reference", "endtoendid", "endtoendreference", "customerid", "recipientuniqueid", "uniqueid",
    "senderitemid", "paymentreference", "externalid", "customid",
)  # fmt: skip
_STATUS = (
    "status", "transactionstatus", "paymentstatus", "transferstatus", "deliverystatus", "rewardstatus",
    "result", "state",
)  # fmt: skip
_REASON = (
    "reason", "failurereason", "statusreason", "reasoncode", "errormessage", "error", "errorcode", "message",
)  # fmt: skip
_COLUMNS = {"reference": _REFERENCE, "status": _STATUS, "reason": _REASON}
#: By service: PayPal's item states, Wise's transfer states, Tremendous's rewards, a bank's pain.002 codes.
_MEANS = {
    State.PAID: """
        paid success succeeded successful complete completed delivered executed booked settled redeemed
        outgoingpaymentsent fundssent accc acsc
    """,
    State.FAILED: """
        failed failure returned return refused rejected denied blocked canceled cancelled refunded
        fundsrefunded reversed bouncedback bounced expired error chargedback rjct deleted
    """,
    State.SENT: """
        sent pending processing inprogress unclaimed onhold held new created approved queued waiting
        incomingpaymentwaiting incomingpaymentinitiated fundsconverted scheduled executing acsp actc pdng
    """,
}
_STATES = {word: state for state, synonyms in _MEANS.items() for word in synonyms.split()}
_LONGEST_SHOWN = 40


def book_file(
    *, requester: Requester, name: str, file: BinaryIO, by: User | None = None
) -> tuple[BookingCounts, Reading | None]:
    """Book a file that came back: all of it or nothing. SheetError and Refusal name file, line and remedy.

    Gives back how a table was read, too; None for a bank's report.
    """
    head = file.read(_HEAD)
    file.seek(0)
    reading = None
    if is_status_report(head):
        statuses = read_report(requester, name[:80], file.read())
        results = [Result(each.place, each.reference, each.state, each.reason) for each in statuses]
    else:
        results, reading = read_results(Sheet(file, name[:80], limits=LIMITS))
    return book_results(requester=requester, results=results, name=name[:80], by=by), reading


def read_results(sheet: Sheet) -> tuple[list[Result], Reading]:
    """The lines below the head; those without a reference, such as totals and fees, are left out."""
    head = [_bare(name) for name in sheet.columns]
    places = {role: _place(head, names) for role, names in _COLUMNS.items()}
    for role in ("reference", "status"):
        if places[role] is None:
            raise sheet.error(
                f"no column is called “{role}”; name the columns in the first line. {_UNCHANGED}", line=1
            )
    results: list[Result] = []
    seen: dict[str, tuple[int, str]] = {}
    left_out = repeats = 0
    for row in sheet.rows():
        name = _cell(row.cells, places["reference"])
        if not name:
            left_out += 1
            continue
        status_text = _cell(row.cells, places["status"])
        state = _STATES.get(_bare(status_text))
        if state is None:
            raise sheet.error(
                f"status {status_text[:_LONGEST_SHOWN]!r} is not known; write paid, failed or sent. "
                f"{_UNCHANGED}",
                line=row.line,
            )
        if name in seen:
            line, before = seen[name]
            if before == state:
                repeats += 1
                continue
            raise sheet.error(
                f"reference {name[:_LONGEST_SHOWN]} has another status in line {line}; keep one of them. "
                f"{_UNCHANGED}",
                line=row.line,
            )
        seen[name] = row.line, state
        reason = _printable(_cell(row.cells, places["reason"]))
        results.append(Result(row.line, name[:_LONGEST_SHOWN], state, reason))
    rows = RowCounts(len(results) + repeats + left_out, used=len(results), repeats=repeats, refused=left_out)
    columns = {role: [sheet.columns[place]] for role, place in places.items() if place is not None}
    return results, sheet.reading(columns, rows)


def _bare(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name.casefold())


def _printable(text: str) -> str:
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())[:300]


def _place(head: list[str], names: tuple[str, ...]) -> int | None:
    return next((head.index(name) for name in names if name in head), None)


def _cell(cells: list[str], place: int | None) -> str:
    return cells[place].strip() if place is not None and place < len(cells) else ""


# A bank's answer to a SEPA file: ISO 20022 pain.002, read as results of its lines.
#
# A status of the whole file or of its batch counts for the lines that the report does not name. Any version
# of pain.002 is read: elements are found by their names, whatever their namespace.

_MOST_BYTES = 20_000_000
#: What codes of `TxSts`, `PmtInfSts` and `GrpSts` mean. ACSP and earlier: it may still fail.
_CODES = {
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
    lines: dict[str, LineStatus] = {}
    place = 0
    for batch in _each(report, "OrgnlPmtInfAndSts"):
        for transaction in _each(batch, "TxInfAndSts"):
            place += 1
            _add(lines, _line(name, place, transaction), name)
    group_status = _read_group_status(report, name)
    if group_status is not None:
        for reference in _lines_of(requester, _text(report, "OrgnlGrpInfAndSts", "OrgnlMsgId"), name):
            lines.setdefault(reference, LineStatus(0, reference, *group_status))
    if not lines:
        raise _refusal(name, "says nothing of any line; wait for a later report of the bank")
    return list(lines.values())


def _line(name: str, place: int, transaction: Element) -> LineStatus:
    reference = _text(transaction, "OrgnlEndToEndId")
    if not reference:
        raise _refusal(name, f"has no OrgnlEndToEndId in transaction {place}")
    state = _meaning(_text(transaction, "TxSts"), f"transaction {place}", name)
    return LineStatus(place, reference, state, _reason(transaction))


def _add(lines: dict[str, LineStatus], line: LineStatus, name: str) -> None:
    before = lines.get(line.reference)
    if before is not None and before.state != line.state:
        raise _refusal(
            name,
            f"says two things of {line.reference}, in transactions {before.place} and {line.place}; "
            "book it by a table of its own",
        )
    lines[line.reference] = line


def _read_group_status(report: Element, name: str) -> tuple[str, str] | None:
    """The status of the batch, else that of the file; None where there is none, or parts of it differ."""
    batches = list(_each(report, "OrgnlPmtInfAndSts"))
    statuses = [(_text(each, "PmtInfSts"), each) for each in batches]
    group = next(_each(report, "OrgnlGrpInfAndSts"), None)
    if group is not None:
        statuses.append((_text(group, "GrpSts"), group))
    code, where = next(((code, each) for code, each in statuses if code), ("", None))
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
    if code not in _CODES:
        raise _refusal(name, f"has the status {code[:10]!r} in {of}, which is not known; book it by a table")
    return _CODES[code]


def _reason(status: Element) -> str:
    """Code and words of the reason, as far as there are any."""
    reason = next(_each(status, "StsRsnInf"), None)
    if reason is None:
        return ""
    parts = [_text(reason, "Rsn", "Cd") or _text(reason, "Rsn", "Prtry")]
    parts += ["".join(each.itertext()) for each in _each(reason, "AddtlInf")]
    text = " ".join(" ".join(part.split()) for part in parts if part)
    return "".join(each if each.isprintable() else " " for each in text)[:300]


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
