"""Which format a file has, by what it holds; its name decides nothing."""

import json
import re
from collections.abc import Mapping
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any

from annotation.importing import datasets
from annotation.importing.datasets import CastReader, DuReaderReader, MarcoReader, SquadReader
from annotation.importing.formats import JsonLinesReader, JsonRecordsReader, Reader, TableReader
from annotation.importing.records import FIELD_NAMES
from core.files.json_objects import holds_records
from core.files.refusals import FileRefusedError, ignore
from core.files.tables import check_format, refuse_header_row
from core.files.text_source import TextSource

FORMATS = {
    "auto": "find out from the file",
    "csv": "CSV",
    "tsv": "TSV",
    "jsonl": "JSONL, one object a line",
    "json": "a JSON list of objects, or an object of them by their ids",
    "marco": "MS MARCO v2.1",
    "dureader": "DuReader",
    "cast": "TREC CAsT topics",
    "squad": "SQuAD",
}
_LOOK = 2**16
#: Names of members by which an object is known to be one query, or one conversation.
_KNOWN = {"turns", "number", *chain.from_iterable(FIELD_NAMES.values())}
_TURNS = re.compile(r'"turns?"\s*:\s*\[')
_FIRST_MEMBER = re.compile(r'\s*\{\s*"(\w+)"\s*:\s*(.)', re.DOTALL)


def open_reader(
    source: TextSource,
    room: Path,
    *,
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    header: bool | None = None,
    header_row: int = 0,
) -> Reader:
    """A reader of the file; `room` is a folder for temporary files. FileRefusedError where none fits."""
    check_format(source, format, FORMATS)
    if source.workbook:
        return TableReader(source, room, format="xlsx", columns=columns, header=header, header_row=header_row)
    head = _head(source)
    columnwise = _columnwise(head)
    if format == "auto":
        format = detect(head, source)
    if format in ("csv", "tsv"):
        return TableReader(source, room, format=format, columns=columns, header=header, header_row=header_row)
    refuse_header_row(source, FORMATS[format], header_row)
    if columns and format not in ("jsonl", "json"):
        raise FileRefusedError(f"{source.name} is {FORMATS[format]}, which has its own columns; give none.")
    if format == "jsonl":
        return JsonLinesReader(source, room, columns=columns)
    if format == "json":
        return JsonRecordsReader(source, room, columns=columns)
    if format == "marco":
        return MarcoReader(source, room, columnwise=columnwise)
    simple: dict[str, type[Reader]] = {"dureader": DuReaderReader, "cast": CastReader, "squad": SquadReader}
    return simple[format](source, room)


def _head(source: TextSource) -> str:
    """The beginning of the text; lines that cannot be read are left out."""
    data = next(source.blocks(), b"")[:_LOOK]
    text = data.decode(source.narrow, errors="ignore")
    if not text.strip() and source.size > _LOOK:
        raise FileRefusedError(f"{source.name} begins with nothing but white space.")
    return text


def detect(head: str, source: TextSource) -> str:
    """Name of the format of a file that begins like this."""
    start = head.lstrip()[:1]
    if start == "{":
        return _of_objects(head, source)
    if start == "[":
        return "cast" if _is_topic(head) else "json"
    first = next((line for line in StringIO(head) if line.strip()), "")
    if not first:
        return _of_later_lines(source)
    return "tsv" if "\t" in first else "csv"


def _of_later_lines(source: TextSource) -> str:
    """For a file whose beginning cannot be read."""
    for _line, text in source.chunks(ignore):
        if text.strip():
            return detect(text.lstrip("\n")[:_LOOK], source)
    raise FileRefusedError(f"{source.name} has no line that can be read.")


def _of_objects(head: str, source: TextSource) -> str:
    if _columnwise(head):
        return "marco"
    first = _FIRST_MEMBER.match(head)
    squad = first and first[1] in ("data", "version") and '"paragraphs"' in head
    if squad or re.search(r'"data"\s*:\s*\[\s*\{\s*"(?:title|paragraphs)"', head):
        return "squad"
    if _is_topic(head) and "\n" in head[: head.index("[")]:
        return "cast"
    if holds_records(source, _KNOWN):
        return "json"
    value = _first_object(head, source)
    if "query" in value and "passage_text" in json.dumps(value.get("passages"))[:4000]:
        return "marco"
    return "dureader" if "question" in value and "documents" in value else "jsonl"


def _is_topic(head: str) -> bool:
    return bool(_TURNS.search(head)) and '"number"' in head


def _columnwise(head: str) -> bool:
    first = _FIRST_MEMBER.match(head)
    return bool(
        first and first[1] in datasets.COLUMNS and first[2] == "{" and re.search(r'\{\s*"0"\s*:', head)
    )


def _first_object(head: str, source: TextSource) -> dict[str, Any]:
    """The first line that is an object; lines that are refused anyway are passed over."""
    tried = 0
    for _first, text in source.chunks(ignore):
        for line in StringIO(text):
            if line.isspace():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                value = None
            if isinstance(value, dict):
                return value
            tried += 1
            if tried == 20:
                break
        if tried >= 20:
            break
    raise FileRefusedError(
        f"{source.name} begins like JSON, but it is neither one object a line nor a format known here. "
        "Name its format, or write one object a line."
    )
