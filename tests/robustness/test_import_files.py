"""Damaged, odd and hostile files for every import: each is read or refused in words, and none hangs.

The files are made from a seed and are the same every time, however quick the machine is.
"""

import gzip
import json
import lzma
import random
import time
from collections.abc import Callable
from pathlib import Path

import cbor2
import pyarrow
import pytest
from pyarrow import parquet

from annotation.importing.detect import FORMATS, open_reader
from annotation.importing.records import FileRefusedError
from annotation.importing.source import Source
from evaluations.errors import EvaluationError
from evaluations.tables.sheet import open_sheet
from judgments.importing.formats import FORMATS as ANSWER_FORMATS
from judgments.importing.formats import open_answers
from judgments.importing.rating_source import RatingsFileError
from judgments.importing.ratings import read_ratings
from marketplace.batches.sheets import Sheet
from marketplace.errors import Refusal
from marketplace.questions import parse_question
from marketplace.requester.grantfile import lines, open_grants
from releases.importing.rows import Scale
from releases.importing.tables import open_table
from retrieval.errors import RetrievalError
from retrieval.reading import FORMATS as PASSAGE_FORMATS
from retrieval.reading import Layout, open_passages
from tests.workbooks import write_workbook

#: Of each import; about two seconds.
FILES = 300
_ENCODINGS = ["", "", "utf-8", "utf-16", "cp1252", "shift_jis", "zlib", "rot13", "idna", "undefined", "\0"]
_SEEDS = [
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
_ODD = [
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b'"',
    b"\r",
    b"\n",
    b"[" * 200,
    b"{",
    b"\x1f\x8b",
    b"1e999",
    b"\xed\xa0\x80",
]
_ODD += [
    b"PK\x03\x04",
    b"a" * 140_000,
    b",,,,",
    b"\\ud800",
    b"NaN",
    b"-" * 30,
    "\uff1d1".encode(),
    b"\x9f\xff",
]


def _mutated(chance: random.Random, packed: list[bytes]) -> bytes:
    """A file: some seed, cut, doubled, sprinkled with odd bytes, perhaps packed."""
    data = bytearray(chance.choice(_SEEDS + packed) * chance.choice([1, 1, 1, 3, 40]))
    for _ in range(chance.randrange(5)):
        at = chance.randrange(len(data) + 1)
        match chance.randrange(5):
            case 0:
                data[at:at] = chance.choice(_ODD)
            case 1:
                del data[at : at + chance.randrange(1, 30)]
            case 2:
                data[at : at + 1] = bytes([chance.randrange(256)])
            case 3:
                data[at:at] = data[: chance.randrange(1, 60)]
            case _:
                data = data[: max(1, at)]
    result = bytes(data)
    pack = chance.randrange(12)
    return gzip.compress(result, 1) if pack == 0 else lzma.compress(result, preset=0) if pack == 1 else result


def _queries(path: Path, chance: random.Random) -> None:
    source = Source(path, encoding=chance.choice(_ENCODINGS))
    reader = open_reader(source, path.parent, format=chance.choice([*FORMATS, "auto", "auto"]))
    for _record in reader.records(lambda *_: None):
        pass


def _candidates(path: Path, chance: random.Random) -> None:
    source = Source(path, encoding=chance.choice(_ENCODINGS))
    format = chance.choice([*ANSWER_FORMATS, "auto"])
    for _row in open_answers(source, format=format, system="s").rows(lambda *_: None):
        pass


def _scores(path: Path, chance: random.Random) -> None:
    source = Source(path, encoding=chance.choice(_ENCODINGS))
    for _row in open_table(source).rows(Scale(1, 5), lambda *_: None):
        pass


def _tables(path: Path, chance: random.Random) -> None:
    sheet = open_sheet(path, known=["answer", "score"], encoding=chance.choice(_ENCODINGS))
    for _row in sheet.rows():
        pass


def _ratings(path: Path, chance: random.Random) -> None:
    read_ratings(path, encoding=chance.choice(_ENCODINGS))


def _passages(path: Path, chance: random.Random) -> None:
    layout = Layout(
        columns=chance.choice([{}, {}, {"id": ""}, {"id": "query", "text": "answer"}]),
        encoding=chance.choice(_ENCODINGS),
        delimiter=chance.choice(["", "", ";", "|"]),
    )
    text = [each for each in PASSAGE_FORMATS if each not in ("car", "parquet")]
    file = open_passages(path, chance.choice([*text, "auto"]), layout=layout)
    for _row in file.rows_here():  # in this process: what a program of its own would hide shows here
        pass


def _batches(path: Path, chance: random.Random) -> None:
    with path.open("rb") as file:
        for _row in Sheet(
            file, "sheet.csv", encoding=chance.choice(["auto", "auto", "utf-8", "cp1252"])
        ).rows():
            pass


def _grants(path: Path, chance: random.Random) -> None:
    with path.open("rb") as file:
        for _wanted in lines(open_grants("grants.csv", file)):
            pass


def _questions(path: Path, chance: random.Random) -> None:
    parse_question(path.read_bytes().decode("utf-8", "replace"))


_Import = Callable[[Path, random.Random], None]
IMPORTS: dict[str, tuple[_Import, tuple[type[Exception], ...]]] = {
    "queries": (_queries, (FileRefusedError,)),
    "candidates": (_candidates, (FileRefusedError,)),
    "scores": (_scores, (FileRefusedError,)),
    "tables": (_tables, (EvaluationError,)),
    "ratings": (_ratings, (RatingsFileError,)),
    "passages": (_passages, (RetrievalError,)),
    "batches": (_batches, (Refusal,)),
    "grants": (_grants, (Refusal,)),
    "questions": (_questions, (Refusal,)),
}


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Whole files of formats that are not text."""
    folder = tmp_path_factory.mktemp("whole")
    table = pyarrow.table({"id": ["a", "b"], "text": ["one", "two"], "query": ["q", "r"]})
    parquet.write_table(table, folder / "a.parquet")
    write_workbook(folder / "a.xlsx", [["id", "text", "query"], ["a", "one", "q"]])
    return [(folder / name).read_bytes() for name in ("a.parquet", "a.xlsx")]


@pytest.mark.parametrize("name", IMPORTS)
def test_a_file_is_read_or_refused_in_words(name: str, packed: list[bytes], tmp_path: Path) -> None:
    read, refusals = IMPORTS[name]
    chance = random.Random(f"import {name}")
    for tried in range(FILES):
        path = tmp_path / f"file-{tried % 10}"
        path.write_bytes(data := _mutated(chance, packed))
        begun = time.monotonic()
        try:
            read(path, chance)
        except refusals as refused:
            assert 10 < len(str(refused)) < 20_000
        except Exception as error:
            raise AssertionError(
                f"{name}, file {tried}: {type(error).__name__} for {data[:300]!r}"
            ) from error
        assert time.monotonic() - begun < 20, f"{name}, file {tried} took long"
