"""Files as people bring them, and what damage and malice make of them."""

import bz2
import gzip
import json
import lzma
import random
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import cbor2
import pyarrow
import zstandard
from pyarrow import parquet

from tests.robustness.fuzzing import ODD_TEXT, encoded, odd_json
from tests.workbooks import DATE, write_workbook

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SEEDS = [
    b'id,query,count\n1,what is a cat?,3\n2,"why, though?",1\n',
    "id;text\r\n1;Größe\r\n".encode("cp1252"),
    b"id\ttext\ntwo words\tis this a query\n",
    json.dumps({"id": "a", "query": "q", "text": "t", "answer": "x", "system": "s", "score": 3}).encode()
    + b"\n",
    json.dumps([{"query": "q", "passages": [{"passage_text": "p"}], "answer": "a", "score": 1}]).encode(),
    json.dumps(
        {"query": {"0": "q"}, "passages": {"0": [{"passage_text": "p"}]}, "answers": {"0": []}}
    ).encode(),
    json.dumps([{"number": 1, "turn": [{"number": 1, "raw_utterance": "hi"}]}]).encode(),
    json.dumps(
        {"data": [{"title": "t", "paragraphs": [{"context": "c", "qas": [{"question": "q"}]}]}]}
    ).encode(),
    json.dumps({"question": "q", "documents": [{"paragraphs": ["p"]}], "question_id": 1}).encode(),
    b"<ExternalQuestion xmlns='http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/"
    b"ExternalQuestion.xsd'><ExternalURL>https://a.b/</ExternalURL><FrameHeight>9</FrameHeight></ExternalQuestion>",
    b"item,worker,score\nq,a,3\nq,b,4\n",
    b"worker,value,status\nA1,3,Granted\n",
    b"question,answer,reference,score\nq,a,r,2\n",
    cbor2.dumps(["CAR", [2]]) + b"\x9f" + cbor2.dumps([0, b"id", [[0, "text"]]]) + b"\xff",
]
ODD_BYTES = [
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b'"',
    b"\r",
    b"\n",
    b"[" * 200,
    b"[" * 20_000,
    b'{"a":' * 20_000,
    b"{",
    b"\x1f\x8b",
    b"1e999",
    b"\xed\xa0\x80",
]
ODD_BYTES += [
    b"PK\x03\x04",
    b"a" * 140_000,
    b",,,,",
    b"\\ud800",
    b"NaN",
    b"-" * 30,
    "\uff1d1".encode(),
    b"\x9f\xff",
]

_PACKERS: tuple[Callable[[bytes], bytes], ...] = (
    lambda data: gzip.compress(data, 1),
    lambda data: lzma.compress(data, preset=0),
    lambda data: lzma.compress(data, format=lzma.FORMAT_ALONE, preset=0),
    lambda data: bz2.compress(data, 1),
    zstandard.ZstdCompressor(level=1).compress,
    lambda data: gzip.compress(gzip.compress(data, 1), 1),
)
#: Names that files have for what the importers look for.
_COLUMNS = tuple(
    """
    id query text count score answer system worker item value status question reference passages query_id
    passage_text title url workerid hitid assignmentid approve reject rating
    """.split()  # noqa: SIM905  # words, as columns have them
)


def mutated_file(chance: random.Random, more: list[bytes] | None = None) -> bytes:
    """A file: some good one, cut, doubled, sprinkled with odd bytes, or odd in its cells; perhaps packed."""
    match chance.randrange(12):
        case 0:
            data = odd_workbook(chance)
        case 1:
            data = odd_parquet(chance)
        case 2:
            data = odd_table(chance)
        case 3:
            data = odd_lines(chance)
        case _:
            good = chance.choice([*SEEDS, *(more or ())]) * chance.choice([1, 1, 1, 3, 40])
            data = damaged(chance, good)
    if chance.randrange(6):
        return data
    packed = chance.choice(_PACKERS)(data)
    return damaged(chance, packed) if chance.randrange(3) == 0 else packed


def damaged(chance: random.Random, good: bytes) -> bytes:
    """Bytes, some of them lost, doubled or replaced."""
    data = bytearray(good)
    for _ in range(chance.randrange(5)):
        at = chance.randrange(len(data) + 1)
        match chance.randrange(5):
            case 0:
                data[at:at] = chance.choice(ODD_BYTES)
            case 1:
                del data[at : at + chance.randrange(1, 30)]
            case 2:
                data[at : at + 1] = bytes([chance.randrange(256)])
            case 3:
                data[at:at] = data[: chance.randrange(1, 60)]
            case _:
                data = data[: max(1, at)]
    return bytes(data)


def _columns(chance: random.Random) -> list[str]:
    names = chance.sample(_COLUMNS, chance.randrange(1, 7))
    if chance.randrange(3) == 0:
        names[chance.randrange(len(names))] = chance.choice(ODD_TEXT)
    return names


def _cells(chance: random.Random, columns: int) -> list[str]:
    return [chance.choice([*ODD_TEXT, *(("a", "3", "what is a cat?") * 15)]) for _ in range(columns)]


def odd_table(chance: random.Random) -> bytes:
    """Delimited text, its cells quoted or not."""
    columns = _columns(chance)
    delimiter, end = chance.choice(",;\t|"), chance.choice(["\n", "\r\n", "\r"])
    quoted = chance.randrange(2)
    rows = [columns] + [_cells(chance, len(columns)) for _ in range(chance.randrange(5))]
    return encoded(
        end.join(
            delimiter.join('"' + cell.replace('"', '""') + '"' if quoted else cell for cell in row)
            for row in rows
        )
    )


def odd_lines(chance: random.Random) -> bytes:
    """JSON Lines, or one list, of objects whose members have odd values."""
    columns = _columns(chance)
    rows = [
        {name: odd_json(chance) if chance.randrange(3) == 0 else "a" for name in columns}
        for _ in range(chance.randrange(1, 5))
    ]
    if chance.randrange(3) == 0:
        return json.dumps(rows).encode()
    return "\n".join(json.dumps(row, ensure_ascii=chance.randrange(2) == 0) for row in rows).encode(
        "utf-8", "surrogatepass"
    )


def odd_workbook(chance: random.Random) -> bytes:
    """A workbook whose cells are of every kind."""
    columns = _columns(chance)
    kinds = (
        "a",
        "3",
        3,
        -0.0,
        1e300,
        True,
        None,
        (45000, DATE),
        (-1, DATE),
        (1e12, DATE),
        10**30,
        "x" * 40_000,
    )
    rows = [[_xml(name) for name in columns]]
    rows += [[chance.choice(kinds) for _ in columns] for _ in range(chance.randrange(5))]
    with TemporaryDirectory() as folder:
        return write_workbook(Path(folder) / "a.xlsx", rows).read_bytes()


def _xml(text: str) -> str:
    return "".join(each for each in text if each >= " " and not "\ud800" <= each <= "\udfff")[:300]


def odd_parquet(chance: random.Random) -> bytes:
    """A Parquet file whose columns are of every type."""
    types: tuple[Callable[[], pyarrow.Array], ...] = (
        lambda: pyarrow.array(["a", "b"]),
        lambda: pyarrow.array(["a", None]),
        lambda: pyarrow.array(["a", "b"]).dictionary_encode(),
        lambda: pyarrow.array([b"a", b"\xff\xfe"]),
        lambda: pyarrow.array([1, 2**62]),
        lambda: pyarrow.array([float("nan"), float("inf")]),
        lambda: pyarrow.array([None, None]),
        lambda: pyarrow.array([True, False]),
        lambda: pyarrow.array([Decimal("1.50"), Decimal("1e20")]),
        lambda: pyarrow.array([date(1, 1, 1), date(9999, 12, 31)]),
        lambda: pyarrow.array([datetime(2026, 1, 1), datetime(9999, 12, 31)]),
        lambda: pyarrow.array([2**62, -(2**62)], pyarrow.int64()).cast(pyarrow.timestamp("us")),
        lambda: pyarrow.array([["a"], []]),
        lambda: pyarrow.array([[{"passage_text": "p", "is_selected": 1}], None]),
        lambda: pyarrow.array([{"a": {"b": 1}}, {"a": None}]),
    )
    columns = list(dict.fromkeys(_xml(name) for name in _columns(chance)))
    table = pyarrow.table({name: chance.choice(types)() for name in columns})
    file = BytesIO()
    parquet.write_table(table, file)
    return file.getvalue()


def whole_files() -> list[bytes]:
    """Good files of formats that are not text."""
    table = pyarrow.table({"id": ["a", "b"], "text": ["one", "two"], "query": ["q", "r"]})
    file = BytesIO()
    parquet.write_table(table, file)
    with TemporaryDirectory() as folder:
        rows = [["id", "text", "query"], ["a", "one", "q"]]
        return [file.getvalue(), write_workbook(Path(folder) / "a.xlsx", rows).read_bytes()]
