"""Files of passages as others publish them, and as people pack them."""

import bz2
import gzip
import io
import json
import lzma
import tarfile

import cbor2
import pyarrow
import pytest
import zstandard
from pyarrow import parquet

from retrieval.errors import FileRefusedError
from retrieval.passage_files import open_passages
from tests.retrieval.readers.test_reading import faults, file_of, rows

LINES = b'{"id": "a", "text": "Caf\xc3\xa9."}\n{"id": "b", "text": "Two."}\n'


def zst(content):
    return zstandard.ZstdCompressor().compress(content)


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zst}


@pytest.mark.parametrize("packing", PACKERS)
def test_packed_files_are_known_by_their_content_and_refused_where_they_end_too_soon(tmp_path, packing):
    pack = PACKERS[packing]
    path = file_of(tmp_path, pack(LINES), "passages.jsonl")
    assert [row.text for row in rows(path)] == ["Café.", "Two."]
    path = file_of(tmp_path, pack(b"id\ttext\na\tOne.\n"), f"passages.tsv.{packing}")
    assert (open_passages(path).format, rows(path)[0].text) == ("tsv", "One.")
    whole = pack(b"".join(b'{"id": "%d", "text": "x%d"}\n' % (n, n * n) for n in range(5000)))
    path = file_of(tmp_path, whole[: len(whole) * 2 // 3], f"a.jsonl.{packing}")
    assert "data is damaged" in faults(path)[-1][2]


def test_two_zstandard_frames_are_one_file(tmp_path):
    path = file_of(tmp_path, zst(b'{"id": "a", "text": "x"}\n') + zst(b'{"id": "b", "text": "x"}\n'))
    assert [row.key for row in rows(path)] == ["a", "b"]


def test_an_archive_is_refused_with_what_to_do(tmp_path):
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as file:
        file.addfile(tarfile.TarInfo("collection.tsv"))
    path = file_of(tmp_path, archive.getvalue(), "collection.tar.gz")
    with pytest.raises(FileRefusedError, match=r"a tar archive, not text\. Take the file out of it"):
        rows(path)


def test_files_of_ms_marco_have_no_header(tmp_path):
    path = file_of(tmp_path, '0\tThe presence of "communication" is\r\n1\tThe Manhattan\tProject\n', "c.tsv")
    assert (open_passages(path).format, [row[:3] for row in rows(path)]) == (
        "marco",
        [(1, "0", 'The presence of "communication" is'), (2, "1", "The Manhattan\tProject")],
    )
    path = file_of(tmp_path, "D12\thttps://example.org\tOaks\tOaks are trees of the north.\n", "docs.tsv")
    row = rows(path)[0]
    assert (row.key, row.url, row.title, row.text) == (
        "D12",
        "https://example.org",
        "Oaks",
        "Oaks are trees of the north.",
    )
    path = file_of(tmp_path, "key2\twords\na\tx\n", "a.tsv")
    assert faults(path) == [(1, "id", "there is no column 'id', only key2, words")]


def test_passages_of_ms_marco_v2_keep_their_place(tmp_path):
    key, page = "msmarco_passage_00_0", "msmarco_doc_00_0"
    record = {"pid": key, "passage": "Oaks.", "spans": "(0,5)", "docid": page}
    row = rows(file_of(tmp_path, json.dumps(record)))[0]
    assert (row.key, row.text, row.page, row.start) == (key, "Oaks.", page, None)
    record = {
        "docid": "msmarco_v2.1_doc_00_0#0_0", "url": "https://example.org", "title": "T", "headings": "",
        "segment": "Oaks.", "start_char": 10, "end_char": 15,
    }  # fmt: skip
    row = rows(file_of(tmp_path, json.dumps(record)))[0]
    assert (row.key, row.page, row.start, row.end) == (record["docid"], "https://example.org", 10, 15)
    row = rows(file_of(tmp_path, '{"id": "a", "docid": "d", "text": "One.", "contents": "Other."}'))[0]
    assert (row.key, row.text, row.page) == ("a", "One.", "")


def car(paragraphs, kind=2, header=True):
    items = b"".join(map(cbor2.dumps, paragraphs))
    return cbor2.dumps(["CAR", [kind], ["provenance"]]) + b"\x9f" + items + b"\xff" if header else items


LINKED = [[0, b"a" * 40, [[0, "The oak is a "], [1, [0, "Tree", [], b"enwiki:Tree", "tree"]], [0, "."]]]]


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("pack", [bytes, lzma.compress])
def test_paragraphs_of_trec_car(tmp_path, header, pack):
    content = pack(car([*LINKED, [0, b"b" * 40, [[0, "Short."]]]], header=header))
    found = rows(file_of(tmp_path, content, "dedup.articles-paragraphs.cbor"))
    assert [row[:3] for row in found] == [(1, "a" * 40, "The oak is a tree."), (2, "b" * 40, "Short.")]


def test_paragraphs_of_trec_car_go_over_the_borders_of_blocks(tmp_path):
    many = [[0, b"%040d" % number, [[0, "word " * 200]]] for number in range(1000)]
    assert len(rows(file_of(tmp_path, car(many), "p.cbor"))) == 1000


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (car([], kind=0), (1, "", "it holds pages, not paragraphs")),
        (car([LINKED[0], [0, b"x", "text"]]), (2, "", "this is no paragraph of TREC CAR")),
        (car([LINKED[0], {"a": 1}]), (2, "", "this is no paragraph of TREC CAR")),
        (car([LINKED[0], [0, b"\xff", [[0, "x"]]]]), (2, "", "this is no paragraph of TREC CAR")),
        (car([[0, b"", [[0, "x"]]]]), (1, "id", "it is missing or empty")),
        (car(LINKED)[:-20], (1, "", "the file ends in the middle of a record")),
        (car([]), (1, "", "there is no passage in the file")),
    ],
)
def test_faults_of_trec_car_have_the_number_of_the_record(tmp_path, content, expected):
    path = file_of(tmp_path, content, "p.cbor")
    assert faults(path) == [expected]
    with pytest.raises(FileRefusedError, match=f"record {expected[0]}"):
        rows(path)


def test_a_record_without_end_is_refused_without_being_read_whole(tmp_path):
    path = file_of(
        tmp_path, car([])[:-1] + b"\x83\x00\x41a\x81\x82\x00\x7b" + (2**40).to_bytes(8) + b"x" * 30_000_000
    )
    file = open_passages(path, "car")
    with pytest.raises(FileRefusedError, match="the record is longer than 1 MB"):
        list(file.rows())
    assert file.bytes_done < 6_000_000


def test_paragraphs_of_trec_car_as_lines(tmp_path):
    pieces = [{"text": "The oak is a "}, {"text": "tree", "entity": "enwiki:Tree"}, "."]
    path = file_of(tmp_path, json.dumps({"para_id": "a", "para_body": pieces}))
    assert rows(path)[0][:3] == (1, "a", "The oak is a tree.")
    table = file_of(tmp_path, "6b8\tThe oak is a large tree.\n", "paragraphs.tsv")
    assert rows(table)[0][:3] == (1, "6b8", "The oak is a large tree.")


def parquet_of(tmp_path, **columns):
    path = tmp_path / "passages.parquet"
    parquet.write_table(pyarrow.table(columns), path, row_group_size=1000)
    return path


def test_parquet_is_read_by_column_in_pieces_that_say_how_far_it_is(tmp_path):
    path = parquet_of(
        tmp_path, pid=[1, 2], passage=["One.", "Two."], start=[0, None], end=[4, None], other=[[1], []]
    )
    assert list(rows(path)) == [
        (1, "1", "One.", "", "", "", 0, 4),
        (2, "2", "Two.", "", "", "", None, None),
    ]
    path = parquet_of(tmp_path, id=list(range(5000)), text=["word"] * 5000)
    file = open_passages(path)
    seen = {file.bytes_done for _ in file.rows()}
    assert len(seen) == 10
    assert file.bytes_done == path.stat().st_size


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"id": ["a"], "words": ["x"]}, (1, "text", "there is no column 'text', only id, words")),
        ({"id": ["a", None], "text": ["x", "y"]}, (2, "id", "it is missing or empty")),
        ({"id": [1.5], "text": ["x"]}, (1, "id", "it is float, not text")),
        ({"id": ["a"], "text": [b"x"]}, (1, "text", "it is bytes, not text")),
    ],
)
def test_faults_of_parquet_have_the_number_of_the_record(tmp_path, columns, expected):
    assert faults(parquet_of(tmp_path, **columns)) == [expected]


def test_damaged_parquet_is_refused(tmp_path):
    path = parquet_of(tmp_path, id=["a"], text=["x"])
    path.write_bytes(path.read_bytes()[:-10])
    assert "cannot be read as Parquet" in faults(path)[0][2]
    packed = file_of(tmp_path, gzip.compress(path.read_bytes()), "a.parquet.gz")
    with pytest.raises(FileRefusedError, match="Unpack it"):
        rows(packed)
