"""What services send back about a payout file: a table with our reference, a status, a reason; or pain.002.

Columns are found by the names that services give them; each status means paid, failed or on its way.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

from django.contrib.auth.models import User

from marketplace.batches.sheets import Limits, Sheet
from marketplace.models import PayoutLine, Requester
from marketplace.services import statusreports
from marketplace.services.payouts import BookingCounts, Result, book_results

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
_STATES = {word: state for state, words in _MEANS.items() for word in words.split()}
_LONGEST_SHOWN = 40


def book_file(*, requester: Requester, name: str, file: BinaryIO, by: User | None = None) -> BookingCounts:
    """Book a file that came back: all of it or nothing. SheetError and Refusal name file, line and remedy."""
    head = file.read(_HEAD)
    file.seek(0)
    if statusreports.is_status_report(head):
        said = statusreports.read_report(requester, name[:80], file.read())
        results = [Result(each.place, each.reference, each.state, each.reason) for each in said]
    else:
        results = list(read_results(Sheet(file, name[:80], limits=LIMITS)))
    return book_results(requester=requester, results=results, name=name[:80], by=by)


def read_results(sheet: Sheet) -> Iterator[Result]:
    """The lines below the head; those without a reference, such as totals and fees, are passed over."""
    head = [_bare(name) for name in sheet.columns]
    reference, status, reason = (_place(head, names) for names in (_REFERENCE, _STATUS, _REASON))
    for place, called in ((reference, "reference"), (status, "status")):
        if place is None:
            raise sheet.error(
                f"no column is called “{called}”; name the columns in the first line. {_UNCHANGED}", line=1
            )
    seen: dict[str, tuple[int, str]] = {}
    for row in sheet.rows():
        name = _cell(row.cells, reference)
        if not name:
            continue
        said = _cell(row.cells, status)
        state = _STATES.get(_bare(said))
        if state is None:
            raise sheet.error(
                f"status {said[:_LONGEST_SHOWN]!r} is not known; write paid, failed or sent. {_UNCHANGED}",
                line=row.line,
            )
        if name in seen:
            line, before = seen[name]
            if before == state:
                continue
            raise sheet.error(
                f"reference {name[:_LONGEST_SHOWN]} has another status in line {line}; keep one of them. "
                f"{_UNCHANGED}",
                line=row.line,
            )
        seen[name] = row.line, state
        yield Result(row.line, name[:_LONGEST_SHOWN], state, _printable(_cell(row.cells, reason)))


def _bare(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name.casefold())


def _printable(text: str) -> str:
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())[:300]


def _place(head: list[str], names: tuple[str, ...]) -> int | None:
    return next((head.index(name) for name in names if name in head), None)


def _cell(cells: list[str], place: int | None) -> str:
    return cells[place].strip() if place is not None and place < len(cells) else ""
