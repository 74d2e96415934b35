"""TREC CAR's paragraphs (`*.paragraphs.cbor`), as the collection is published.

A header `["CAR", [2, …], …]` and an endless list of paragraphs, or in the first versions paragraphs alone.
A paragraph is `[0, id, pieces]`; a piece is `[0, text]`, or a link `[1, [0, page, section, page id, text]]`
(trec-car.cs.unh.edu, "Data format"). Its text is that of all pieces, one after the other.
"""

import io
from collections.abc import Iterator
from typing import IO, Any

from core.files.numbered_lines import LineNumber, blocks, too_long
from retrieval.readers.passage_source import PassageSource

#: Longest paragraph in bytes. Each may be an object of eighty, and more than that is taken by none.
LONGEST_RECORD = 1_000_000
_KINDS = {0: "pages", 1: "outlines", 2: "paragraphs"}
_PARAGRAPHS = 2
_LIST, _BREAK = b"\x9f", b"\xff"


def records(file: PassageSource, raw: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Paragraphs, numbered from 1 without the header."""
    where = LineNumber()
    for item in _items(file, raw, where):
        if isinstance(item, list) and item[:1] == ["CAR"]:
            _check_kind(file, item)
            continue
        try:
            yield where.number, {"id": _text(item[1]), "text": _body(item)}
        except (LookupError, TypeError, ValueError):
            remedy = "Give a file of paragraphs of TREC CAR."
            file.fault(where.number, "", "this is no paragraph of TREC CAR", remedy)
            file.stop_if_too_many()
        where.number += 1


def _items(file: PassageSource, raw: IO[bytes], where: LineNumber) -> Iterator[Any]:
    """What stands in the file, one after the other, without the marks of the list around it."""
    from cbor2 import CBORDecodeEOF, CBORDecodeError, CBORDecoder  # only for such files

    content, after_header = io.BytesIO(), False
    for block in blocks(file, raw, where):
        content = io.BytesIO(content.read() + block)
        decoder = CBORDecoder(content)
        while mark := content.read(1):
            at = content.tell() - 1
            if mark == _BREAK or (mark == _LIST and after_header):
                after_header = False
                continue
            content.seek(at)
            try:
                item = decoder.decode()
            except CBORDecodeEOF:
                content.seek(at)
                if len(content.getbuffer()) - at > LONGEST_RECORD:
                    raise too_long(file, where, "record", LONGEST_RECORD) from None
                break
            except CBORDecodeError as error:
                what = f"the data is damaged here ({error})"
                raise file.stop(where.number, "", what, "Fetch the file again.") from error
            after_header = isinstance(item, list) and item[:1] == ["CAR"]
            yield item
    if content.read(1):
        raise file.stop(where.number, "", "the file ends in the middle of a record", "Fetch it again.")


def _check_kind(file: PassageSource, header: list[Any]) -> None:
    kind = header[1][0] if len(header) > 1 and isinstance(header[1], list) and header[1] else None
    if kind != _PARAGRAPHS:
        what = f"it holds {_KINDS.get(kind, 'something else') if isinstance(kind, int) else 'something else'}"
        raise file.stop(1, "", f"{what}, not paragraphs", "Give a *.paragraphs.cbor file.")


def _body(item: Any) -> str:
    return "".join(_text(piece[1] if piece[0] == 0 else piece[1][4]) for piece in item[2])


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if not isinstance(value, str):
        raise TypeError(type(value).__name__)
    return value
