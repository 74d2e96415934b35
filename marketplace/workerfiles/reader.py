"""Lines of files that name workers, with every fault of a file and its line; and bonuses."""

from dataclasses import dataclass

from core.money import AmountError, dollars, entered_cents
from marketplace.batches.placeholders import listed
from marketplace.batches.sheets import Limits, Row, Sheet
from marketplace.services.review import is_feedback

WORKER_NAMES = ("worker", "worker_id", "workerid")
_ASSIGNMENT = ("assignment", "assignment_id", "assignmentid")
_AMOUNT = ("amount", "bonus", "bonus_amount", "bonusamount")
_REASON = ("reason", "why", "message")
_LONGEST_ID = 64
#: A bonus in cents, and characters of its reason.
MOST_CENTS, LONGEST_REASON = 10_000_00, 900
BONUSES = Limits(megabytes=10, columns=2_000, rows=20_000)


@dataclass(frozen=True, slots=True)
class AskedLine:
    """What a line asks for: cents and a reason, or a value and Granted or Revoked.

    One of the ids may be empty.
    """

    line: int
    worker_id: str
    assignment_id: str
    amount: int
    words: str


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a line, with the remedy."""

    line: int
    words: str


def column_of(sheet: Sheet, *names: str) -> int | None:
    """Where the first column with one of these names is, in whatever letters it is written."""
    head = [name.casefold().replace(" ", "_") for name in sheet.columns]
    return next((number for number, cell in enumerate(head) if cell in names), None)


def cell_at(row: Row, place: int | None) -> str:
    """The cell without white space around it; empty where there is none."""
    return row.cells[place].strip() if place is not None and place < len(row.cells) else ""


def fault_of_worker(worker_id: str) -> str:
    """What is wrong with a worker's id as text."""
    if not worker_id or len(worker_id) > _LONGEST_ID:
        return "it names no worker; write the worker's id, or take the line out."
    return ""


def read_bonuses(sheet: Sheet) -> tuple[list[AskedLine], list[Fault]]:
    """What all lines of a file of bonuses ask for, and what is wrong with others.

    Columns are found by name: worker or assignment (or both), amount, and reason.
    """
    worker, assignment, amount, reason = (
        column_of(sheet, *names) for names in (WORKER_NAMES, _ASSIGNMENT, _AMOUNT, _REASON)
    )
    if worker is None and assignment is None:
        raise sheet.error(_no_column("worker” or “assignment", sheet), line=1)
    for place, name in ((amount, "amount"), (reason, "reason")):
        if place is None:
            raise sheet.error(_no_column(name, sheet), line=1)
    asked: list[AskedLine] = []
    faults: list[Fault] = []
    seen: dict[tuple[str, str, int, str], int] = {}
    for row in sheet.rows():
        try:
            cents = _cents(cell_at(row, amount))
            found = AskedLine(
                row.line,
                _id(cell_at(row, worker)),
                _id(cell_at(row, assignment)),
                cents,
                _reason(cell_at(row, reason)),
            )
            if not found.worker_id and not found.assignment_id:
                raise ValueError("it names neither a worker nor an assignment; write one of the two ids.")
            key = (found.worker_id, found.assignment_id, cents, found.words)
            if (before := seen.setdefault(key, row.line)) != row.line:
                raise ValueError(
                    f"it says the same as line {before}. Take one out; to pay both, give them other reasons."
                )
            asked.append(found)
        except ValueError as error:
            faults.append(Fault(row.line, str(error)))
    return asked, faults


def _no_column(name: str, sheet: Sheet) -> str:
    return (
        f"no column is called “{name}”; its columns are {listed(sheet.columns)}. Name them in the first line."
    )


def _id(text: str) -> str:
    if len(text) > _LONGEST_ID:
        raise ValueError(f"{text[:40]!r} is too long for an id.")
    return text


def _cents(text: str) -> int:
    if not text:
        raise ValueError("it has no amount.")
    try:
        cents = entered_cents(text)
    except AmountError as error:
        raise ValueError(f"amount {text[:40]!r}: {error}") from error
    if not 1 <= cents <= MOST_CENTS:
        raise ValueError(f"amount {text[:40]!r} is not between 0.01 and {dollars(MOST_CENTS)}.")
    return cents


def _reason(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text:
        raise ValueError("it has no reason, which the worker reads.")
    if len(text) > LONGEST_REASON:
        raise ValueError(f"the reason has {len(text):,} characters; at most {LONGEST_REASON} are taken.")
    if not is_feedback(text):
        raise ValueError("the reason has a control character; write it without.")
    return text
