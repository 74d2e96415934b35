"""Grants of a qualification as a CSV file: what the page of a qualification gives out, it takes in again."""

import csv
import io
from collections.abc import Iterator
from typing import IO, Any

from marketplace.errors import Refusal
from marketplace.services.granting import Wanted

MAX_ROWS = 100_000
MAX_BYTES = 10 * 1024 * 1024
_WORKER = ("worker", "worker_id", "workerid")
_VALUE = ("value", "integer_value", "integervalue", "score")
_LONGEST_ID = 64
_INTEGERS = range(-2_147_483_648, 2_147_483_648)


def lines(name: str, file: IO[bytes]) -> Iterator[Wanted]:
    """The lines below the head, one at a time.

    Columns are found by name: `worker`, and if there are such `value` (otherwise everybody gets 1) and
    `status` (Granted or Revoked). Raises Refusal naming file, line and remedy for the first thing wrong.
    """
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    rows = csv.reader(text, strict=True)
    try:
        head = [cell.strip().casefold().replace(" ", "_") for cell in next(rows, [])]
        worker, value, status = _place(head, *_WORKER), _place(head, *_VALUE), _place(head, "status")
        if worker is None:
            raise _refusal(name, 1, "no column is called “worker”; name the columns in the first line.")
        yield from _below(name, rows, (worker, value, status))
    except UnicodeDecodeError as error:
        raise _refusal(name, rows.line_num + 1, "it is not UTF-8 text; save it as CSV in UTF-8.") from error
    except csv.Error as error:
        raise _refusal(name, rows.line_num, f"it is not CSV ({error}).") from error
    finally:
        text.detach()


def _below(name: str, rows: Any, places: tuple[int, int | None, int | None]) -> Iterator[Wanted]:
    seen: dict[str, int] = {}
    for cells in rows:
        line = rows.line_num
        if not any(cell.strip() for cell in cells):
            continue
        worker_id, value, status = (_cell(cells, place) for place in places)
        if not worker_id or len(worker_id) > _LONGEST_ID:
            raise _refusal(name, line, "it names no worker; write the worker's id, or take the line out.")
        if worker_id in seen:
            raise _refusal(
                name, line, f"worker {worker_id} stands in line {seen[worker_id]} already; keep one of them."
            )
        if len(seen) == MAX_ROWS:
            raise _refusal(name, line, f"a file has at most {MAX_ROWS:,} lines; divide it.")
        seen[worker_id] = line
        yield Wanted(line, worker_id, _value(name, line, value), _granted(name, line, status))


def _place(head: list[str], *names: str) -> int | None:
    return next((number for number, cell in enumerate(head) if cell in names), None)


def _cell(cells: list[str], place: int | None) -> str:
    return cells[place].strip() if place is not None and place < len(cells) else ""


def _value(name: str, line: int, cell: str) -> int:
    if not cell:
        return 1
    try:
        value = int(cell) if len(cell) <= len("-2147483648") else None
    except ValueError:
        value = None
    if value is None or value not in _INTEGERS:
        raise _refusal(name, line, f"value {cell[:40]!r} is not a whole number, such as 1 or 85.")
    return value


def _granted(name: str, line: int, cell: str) -> bool:
    if cell.casefold() not in ("", "granted", "revoked"):
        raise _refusal(name, line, f"status {cell[:40]!r} is neither Granted nor Revoked.")
    return cell.casefold() != "revoked"


def _refusal(name: str, line: int, why: str) -> Refusal:
    return Refusal("InvalidParameterValue", f"{name[:80]}, line {line}: {why} Nothing was changed.")
