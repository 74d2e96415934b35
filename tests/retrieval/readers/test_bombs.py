"""Small files of passages that would fill all memory: each is refused in a sentence, and little is taken."""

import json
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path

import cbor2
import pyarrow
import pytest
from pyarrow import parquet

from tests.memory import measured

pytestmark = pytest.mark.only_on("linux")
_MIB = 2**20
_READ = """
import json, pathlib, sys
from retrieval.errors import RetrievalError
from retrieval.passage_files import open_passages
for path in sys.argv[1:]:
    try:
        file = open_passages(pathlib.Path(path))
        rows = sum(1 for row in file.rows())
        said = str(file.refused()) if file.faults else f"{rows} rows"
    except RetrievalError as error:
        said = str(error)
    print(json.dumps(said))
"""


def _referred(path: Path) -> None:
    """One text of 24 MiB that 400 rows refer to: two kilobytes for nine gigabytes."""
    once = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 400, pyarrow.int32()), ["a" * 24 * _MIB])
    table = pyarrow.table({"id": list(map(str, range(400))), "text": once})
    parquet.write_table(table, path, compression="zstd")
    assert path.stat().st_size < 4096


def _cell(path: Path) -> None:
    """One cell of 300 MiB, page and all."""
    cell = pyarrow.py_buffer(b"a" * (300 * _MIB))
    ends = pyarrow.array([0, len(cell)], pyarrow.int32()).buffers()[1]
    text = pyarrow.StringArray.from_buffers(1, ends, cell)
    table = pyarrow.table({"id": ["1"], "text": text})
    # Statistics of such a cell take seconds, and no reader of ours looks at them.
    parquet.write_table(table, path, compression="zstd", use_dictionary=False, write_statistics=False)
    assert path.stat().st_size < _MIB


def _dictionary_of_xz(path: Path) -> None:
    """Ninety-six bytes whose head asks for a dictionary of 1.5 GiB."""
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1536 * _MIB, "mode": lzma.MODE_FAST, "mf": lzma.MF_HC3}]
    filters[0] |= {"nice_len": 3, "depth": 1}
    small = [{"id": lzma.FILTER_LZMA2, "dict_size": 4096}]
    data = bytearray(lzma.compress(b'{"id": "a", "text": "x"}\n', filters=small))
    at = data.index(b"\x21\x01", 12) + 2
    data[at] = 37  # 1.5 GiB, as the format writes it
    head = data[12 : 12 + (data[12] + 1) * 4]
    data[12 + len(head) - 4 : 12 + len(head)] = zlib.crc32(bytes(head[:-4])).to_bytes(4, "little")
    path.write_bytes(data)
    assert len(data) < 120


def _window_of_zstandard(path: Path) -> None:
    """A window of 1 GiB."""
    line = b'{"id": "a", "text": "x"}\n'
    block = (len(line) << 3 | 1).to_bytes(3, "little") + line  # the last one, not packed
    path.write_bytes(b"\x28\xb5\x2f\xfd\x00" + bytes([20 << 3]) + block)


def _lists_of_cbor(path: Path) -> None:
    """A paragraph whose pieces are nearly four million empty lists."""
    head = cbor2.dumps(["CAR", [2]])
    path.write_bytes(head + b"\x83\x00\x41a\x9b" + (3_900_000).to_bytes(8, "big") + b"\xa0" * 3_900_000)


def _line_of_xz(path: Path) -> None:
    """A line of 60 MiB."""
    path.write_bytes(lzma.compress(b'{"id": "a", "text": "' + b"x" * (60 * _MIB), preset=0))


BOMBS: dict[str, tuple[Callable[[Path], object], str]] = {
    "referred.parquet": (_referred, "record 1: reading on takes more than 224 MiB of memory"),
    "cell.parquet": (_cell, "record 1: reading on takes more than 224 MiB of memory"),
    "dictionary.jsonl.xz": (_dictionary_of_xz, "line 1: unpacking the xz data takes more than 128 MiB"),
    "window.jsonl.zst": (
        _window_of_zstandard,
        "line 1: unpacking the Zstandard data takes more than 128 MiB",
    ),
    "lists.cbor": (_lists_of_cbor, "record 1: the record is longer than 1 MB"),
    "line.jsonl.xz": (_line_of_xz, "line 1: the line is longer than 4 MB"),
}


def test_a_bomb_is_refused_in_a_sentence_and_takes_no_three_hundred_megabytes(tmp_path: Path) -> None:
    for name, (make, _words) in BOMBS.items():
        make(tmp_path / name)
    found = measured(_READ, *(tmp_path / name for name in BOMBS))
    for (name, (_make, words)), line in zip(BOMBS.items(), found.said.splitlines(), strict=True):
        assert json.loads(line).startswith(f"{name} was not imported.\n{name}: {words}")
    assert (found.own < 300, found.children < 300) == (True, True)
