"""Grants of a qualification as a table: what the page of a qualification gives out, it takes in again."""

from collections.abc import Iterator
from typing import BinaryIO

from marketplace.batches.sheets import Limits, Sheet
from marketplace.services.bulk_grants import GrantLine

LIMITS = Limits(megabytes=10, columns=500, rows=100_000)
_UNCHANGED = "Nothing was changed."
_WORKER = ("worker", "worker_id", "workerid")
_VALUE = ("value", "integer_value", "integervalue", "score")
_LONGEST_ID = 64
_INTEGERS = range(-2_147_483_648, 2_147_483_648)


def open_grants(name: str, file: BinaryIO) -> Sheet:
    """The file as a table, its encoding and separator found out; SheetError where it is none."""
    return Sheet(file, name[:80], limits=LIMITS)


def lines(sheet: Sheet) -> Iterator[GrantLine]:
    """The lines below the head, one at a time.

    Columns are found by name: `worker`, and if there are such `value` (otherwise everybody gets 1) and
    `status` (Granted or Revoked). Raises Refusal naming file, line and remedy for the first thing wrong.
    """
    head = [name.casefold().replace(" ", "_") for name in sheet.columns]
    worker, value, status = _place(head, *_WORKER), _place(head, *_VALUE), _place(head, "status")
    if worker is None:
        raise sheet.error(
            "no column is called “worker”; name the columns in the first line. " + _UNCHANGED, line=1
        )
    seen: dict[str, int] = {}
    for row in sheet.rows():
        worker_id, said_value, said_status = (_cell(row.cells, place) for place in (worker, value, status))
        if why := _fault_of_worker(worker_id, seen):
            raise sheet.error(f"{why} {_UNCHANGED}", line=row.line)
        seen[worker_id] = row.line
        try:
            yield GrantLine(row.line, worker_id, _value(said_value), _granted(said_status))
        except ValueError as error:
            raise sheet.error(f"{error} {_UNCHANGED}", line=row.line) from error


def _fault_of_worker(worker_id: str, seen: dict[str, int]) -> str:
    if not worker_id or len(worker_id) > _LONGEST_ID:
        return "it names no worker; write the worker's id, or take the line out."
    if worker_id in seen:
        return f"worker {worker_id} is in line {seen[worker_id]} already; keep one of them."
    return ""


def _place(head: list[str], *names: str) -> int | None:
    return next((number for number, cell in enumerate(head) if cell in names), None)


def _cell(cells: list[str], place: int | None) -> str:
    return cells[place].strip() if place is not None and place < len(cells) else ""


def _value(cell: str) -> int:
    if not cell:
        return 1
    try:
        value = int(cell) if len(cell) <= len("-2147483648") else None
    except ValueError:
        value = None
    if value is None or value not in _INTEGERS:
        raise ValueError(f"value {cell[:40]!r} is not a whole number, such as 1 or 85.")
    return value


def _granted(cell: str) -> bool:
    if cell.casefold() not in ("", "granted", "revoked"):
        raise ValueError(f"status {cell[:40]!r} is neither Granted nor Revoked.")
    return cell.casefold() != "revoked"
