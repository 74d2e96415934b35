"""One JSON object a line: our own fields, MS MARCO v2's, BEIR's, TREC CAR's (`fields.NAMES`)."""

import json
from collections.abc import Iterator, Mapping
from typing import IO, Any

from core.files.numbered_lines import numbered
from retrieval.readers.fields import named
from retrieval.readers.passage_source import PassageSource

#: Members of the first object that are shown.
_MEMBERS = 100


def records(file: PassageSource, raw: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Objects with the numbers of their lines, their members by our names."""
    given = file.layout.columns
    for number, line in numbered(file, raw):
        if not line or line.isspace():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            what = error.msg.lower() if isinstance(error, json.JSONDecodeError) else "it cannot be read"
            file.fault(number, "", f"this is no JSON: {what}", "Each line is one JSON object.")
        else:
            if isinstance(record, dict):
                if not file.columns:
                    file.columns, file.mapping = list(record)[:_MEMBERS], named(record, given)
                plain = not given and "id" in record and "text" in record
                yield number, record if plain else _ours(record, given)
                continue
            file.fault(number, "", "this is no JSON object", 'Write {"id": …, "text": …}.')
        file.stop_if_too_many()


def _ours(record: dict[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    return {ours: _joined(record[theirs]) for ours, theirs in named(record, given).items()}


def _joined(value: Any) -> Any:
    """The pieces of a paragraph of TREC CAR (texts and links) as one text; anything else as it is."""
    if isinstance(value, list) and value and all(isinstance(piece, dict | str) for piece in value):
        pieces = [piece if isinstance(piece, str) else piece.get("text") for piece in value]
        if all(isinstance(piece, str) for piece in pieces):
            return "".join(pieces)
    return value
