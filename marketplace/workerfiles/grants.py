"""Grants of a qualification as a table: what the page of a qualification gives out, it takes in again."""

from collections.abc import Iterator
from typing import BinaryIO

from marketplace.batches.sheets import Limits, Sheet
from marketplace.services.qualifications import GrantLine
from marketplace.workerfiles.reader import (
    WORKER_NAMES,
    AskedLine,
    Fault,
    cell_at,
    column_of,
    fault_of_worker,
)

LIMITS = Limits(megabytes=10, columns=500, rows=100_000)
_UNCHANGED = "Nothing was changed."
_VALUE = ("value", "integer_value", "integervalue", "score")
_INTEGERS = range(-2_147_483_648, 2_147_483_648)


def open_grants(name: str, file: BinaryIO) -> Sheet:
    """The file as a table, its encoding and separator found out; SheetError where it is none."""
    return Sheet(file, name[:80], limits=LIMITS)


def lines(sheet: Sheet) -> Iterator[GrantLine]:
    """The lines below the head, one at a time.

    Columns are found by name: `worker`, and if there are such `value` (otherwise everybody gets 1) and
    `status` (Granted or Revoked). Raises Refusal naming file, line and remedy for the first thing wrong.
    """
    for line, found in _read(sheet):
        if isinstance(found, str):
            raise sheet.error(f"{found} {_UNCHANGED}", line=line)
        yield found


def read_grants(sheet: Sheet) -> tuple[list[AskedLine], list[Fault]]:
    """What all lines ask for, and what is wrong with others."""
    asked, faults = [], []
    for line, found in _read(sheet):
        if isinstance(found, str):
            faults.append(Fault(line, found))
        else:
            words = "Granted" if found.granted else "Revoked"
            asked.append(AskedLine(line, found.worker_id, "", found.value, words))
    return asked, faults


def _read(sheet: Sheet) -> Iterator[tuple[int, GrantLine | str]]:
    """Each line with what it asks for, or with what is wrong with it."""
    worker, value, status = (column_of(sheet, *names) for names in (WORKER_NAMES, _VALUE, ("status",)))
    if worker is None:
        raise sheet.error(
            "no column is called “worker”; name the columns in the first line. " + _UNCHANGED, line=1
        )
    seen: dict[str, int] = {}
    for row in sheet.rows():
        worker_id, said_value, said_status = (cell_at(row, place) for place in (worker, value, status))
        if why := fault_of_worker(worker_id):
            yield row.line, why
        elif worker_id in seen:
            yield row.line, f"worker {worker_id} is in line {seen[worker_id]} already; keep one of them."
        else:
            seen[worker_id] = row.line
            try:
                yield row.line, GrantLine(row.line, worker_id, _value(said_value), _granted(said_status))
            except ValueError as error:
                yield row.line, str(error)


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
