"""An export as one ZIP archive, written while it is sent: no file of it is ever whole in memory."""

import io
import json
import zipfile
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.conf import settings

from core.files.cells import csv_line_writer, plain
from marketplace.export.contents import BLOCKS, TABLES, Table, profile, readme
from marketplace.models import Worker

#: Bytes of a file that are collected before they are sent on.
_PIECE = 1 << 16


class _Outlet(io.RawIOBase):
    """Where the archive is written: it keeps the bytes until they are fetched."""

    def __init__(self) -> None:
        super().__init__()
        self._held = bytearray()

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, some: Any) -> int:
        """Take bytes of the archive."""
        self._held += some
        return len(some)

    @property
    def full(self) -> bool:
        """Enough to be worth sending."""
        return len(self._held) >= _PIECE

    def fetch(self) -> bytes:
        """What has come since the last time."""
        some = bytes(self._held)
        self._held.clear()
        return some


def exported(worker: Worker, *, now: datetime, with_blocks: bool = False) -> Iterator[bytes]:
    """The archive of everything about one worker, piece by piece; `with_blocks` only for the operator."""
    tables = (*TABLES, BLOCKS) if with_blocks else TABLES
    outlet = _Outlet()
    with zipfile.ZipFile(outlet, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, parts in _files(worker, tables, now):
            entry = zipfile.ZipInfo(f"{worker.worker_id}/{name}", now.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            with archive.open(entry, "w", force_zip64=True) as file:
                for part in parts:
                    file.write(part.encode())
                    if outlet.full:
                        yield outlet.fetch()
            yield outlet.fetch()
    yield outlet.fetch()


def _files(worker: Worker, tables: tuple[Table, ...], now: datetime) -> Iterator[tuple[str, Iterator[str]]]:
    words = readme(worker, tables, currency=settings.MARKETPLACE_CURRENCY, now=now)
    yield "README.txt", iter((words,))
    yield "profile.json", iter((json.dumps(profile(worker), default=_written, indent=2) + "\n",))
    for table in tables:
        yield f"{table.name}.json", _as_json(table, worker)
        yield f"{table.name}.csv", _as_csv(table, worker)


def _as_json(table: Table, worker: Worker) -> Iterator[str]:
    names = list(table.columns)
    before = "[\n"
    for row in table.values(worker):
        record = dict(zip(names, row, strict=True))
        yield before + json.dumps(record, default=_written, ensure_ascii=False)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def _as_csv(table: Table, worker: Worker) -> Iterator[str]:
    write_row = csv_line_writer()
    yield write_row(list(table.columns))
    for row in table.values(worker):
        yield write_row([plain(value) for value in row])


def _written(value: object) -> str:
    """Values that JSON has no form of: times."""
    return value.isoformat() if isinstance(value, datetime) else str(value)
