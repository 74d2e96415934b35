"""Files of passages: what is read, and what is refused with its place."""

import gzip
import json

import pytest

from core.files import compression
from retrieval.errors import FileRefusedError
from retrieval.passage_files import Layout, open_passages


def file_of(tmp_path, content, name="passages.jsonl"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def rows(path, format="auto"):
    file = open_passages(path, format)
    found = list(file.rows())
    if file.faults:
        raise file.refused()
    return found


def faults(path, format="auto"):
    """Places and words of what is wrong."""
    with pytest.raises(FileRefusedError) as refused:
        rows(path, format)
    return [(fault.line, fault.field, fault.what) for fault in refused.value.faults]


FULL = {
    "id": "a",
    "text": "Some text.",
    "title": "A title",
    "url": "https://example.org/a",
    "group": "page-1",
    "start": 0,
    "end": 10,
}


def test_all_fields_of_json_lines_are_read(tmp_path):
    row = rows(file_of(tmp_path, json.dumps({**FULL, "source": "x", "other": [1]}) + "\n"))[0]
    assert row == (1, "a", "Some text.", "A title", "https://example.org/a", "page-1", 0, 10)
    row = rows(file_of(tmp_path, '{"id": 7, "text": "x", "url": "https://example.org/a"}'))[0]
    assert (row.key, row.page) == ("7", "https://example.org/a")
    path = file_of(tmp_path, b'\xef\xbb\xbf{"id": "a", "text": "x"}\r\n\r\n{"id": "b", "text": "y"}\r\n')
    assert [(row.line, row.key) for row in rows(path)] == [(1, "a"), (3, "b")]
    table = file_of(tmp_path, b"\xef\xbb\xbfid,text\r\na,x\r\n", "a.csv")
    assert [row.key for row in rows(table)] == ["a"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", 'id,text,start,end\na,"one, two\nthree",0,14\nb,four,,\n'),
        ("a.tsv", "id\ttext\tstart\tend\na\tone, two three\t0\t14\nb\tfour\t\t\n"),
        ("a.txt", 'text,id\r\n"one, two three",a\r\nfour,b\r\n'),
    ],
)
def test_tables_are_read_as_their_name_or_first_line_says(tmp_path, name, text):
    found = rows(file_of(tmp_path, text, name))
    assert [(row.key, " ".join(row.text.split())) for row in found] == [
        ("a", "one, two three"),
        ("b", "four"),
    ]


def test_a_passage_over_two_lines_of_a_table_has_the_number_of_the_first(tmp_path):
    path = file_of(tmp_path, 'id,text\na,"one\ntwo"\nb,\n', "a.csv")
    assert faults(path) == [(4, "text", "it is missing or empty")]


@pytest.mark.parametrize(
    ("record", "field", "words"),
    [
        ({"text": "x"}, "id", "it is missing or empty"),
        ({"id": "a", "text": " "}, "text", "it is missing or empty"),
        ({"id": "a", "text": 5}, "text", "it is int, not text"),
        ({"id": "a", "text": "x\0y"}, "text", "a NUL character cannot be stored"),
        ({"id": "a\0", "text": "x"}, "id", "a NUL character cannot be stored"),
        (
            {"id": "a", "text": "x\ud800y"},
            "text",
            "half of a character pair (a lone surrogate) cannot be stored",
        ),
        ({"id": "a" * 201, "text": "x"}, "id", "it has 201 characters; 200 are kept"),
        ({"id": "a", "text": "x" * 200_001}, "text", "it has 200,001 characters; 200,000 are kept"),
        ({"id": "a", "text": "x", "url": ["u"]}, "url", "it is list, not text"),
        ({"id": "a", "text": "x", "start": 1}, "end", "start is given and end is not"),
        ({"id": "a", "text": "x", "start": 4, "end": 4}, "end", "end 4 is not after start 4"),
        ({"id": "a", "text": "x", "start": -1, "end": 4}, "start", "'-1' is no offset"),
        ({"id": "a", "text": "x", "start": 1.5, "end": 4}, "start", "'1.5' is no offset"),
        ({"id": "a", "text": "x", "start": True, "end": 4}, "start", "'True' is no offset"),
    ],
)
def test_a_bad_field_is_refused_with_its_line_and_name(tmp_path, record, field, words):
    path = file_of(tmp_path, '{"id": "z", "text": "good"}\n' + json.dumps(record) + "\n")
    assert faults(path) == [(2, field, words)]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "this is no JSON: expecting property name enclosed in double quotes"),
        ("[1]", "this is no JSON object"),
        ('"text"', "this is no JSON object"),
        ("[" * 100_000, "this is no JSON: it cannot be read"),
    ],
)
def test_a_line_that_is_no_object_is_refused(tmp_path, line, words):
    assert faults(file_of(tmp_path, '{"id": "z", "text": "good"}\n' + line + "\n")) == [(2, "", words)]


@pytest.mark.parametrize(
    ("content", "name", "expected"),
    [
        ("id,text\na,é\nb,é\n".encode() + b"c,\xe9\n", "a.csv", (4, "", "byte 3 (0xe9) is no UTF-8")),
        (b"PK\x03\x04rest", "a.jsonl", (1, "", "this is a zip file, not text")),
        (b"", "a.jsonl", (1, "", "there is no passage in the file")),
        (b"id,text\n", "a.csv", (1, "", "there is no passage in the file")),
        (b"key,words\na,b\n", "a.csv", (1, "id", "there is no column 'id', only key, words")),
        (b"id,id,text\na,b,c\n", "a.csv", (1, "id", "there are two columns 'id'")),
        (b"id,text\na,b,c\n", "a.csv", (2, "", "there are 3 fields for 2 columns")),
        (b'id,text\na,"b\n', "a.csv", (2, "", "the table breaks here: unexpected end of data")),
    ],
)
def test_a_file_that_is_something_else_is_refused(tmp_path, content, name, expected):
    assert faults(file_of(tmp_path, content, name)) == [expected]


def test_a_line_of_fifty_megabytes_is_refused_without_being_read_whole(tmp_path):
    path = file_of(tmp_path, b'{"id": "a", "text": "' + b"x" * 50_000_000)
    file = open_passages(path)
    with pytest.raises(FileRefusedError, match="longer than 4 MB"):
        list(file.rows())
    assert file.bytes_done < 5_000_000


def test_a_small_gzip_file_that_unpacks_to_very_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(compression, "FREE_GROWTH", 1_000_000)
    bomb = gzip.compress((b'{"id": "a", "text": "' + b"x" * 100_000 + b'"}\n') * 100)
    assert "unpacks to more than 200 times its size" in faults(file_of(tmp_path, bomb, "a.jsonl.gz"))[-1][2]


def test_reading_stops_after_twenty_faults_and_the_words_name_file_line_field_and_remedy(tmp_path):
    path = file_of(tmp_path, '{"id": "a"}\n' * 1000)
    with pytest.raises(FileRefusedError, match="there may be more") as refused:
        list(open_passages(path).rows())
    assert len(refused.value.faults) == 20
    with pytest.raises(FileRefusedError) as refused:
        rows(file_of(tmp_path, '{"id": "a"}\n'))
    assert str(refused.value) == (
        "passages.jsonl was not imported.\n"
        "passages.jsonl: line 1 [text]: it is missing or empty. Every passage has an id and a text."
    )


def test_a_delimiter_that_separates_no_cells_refuses_the_file(tmp_path):
    path = file_of(tmp_path, "id,text\np1,one\n", "passages.csv")
    for delimiter in ("::", "\n", "x"):
        with pytest.raises(FileRefusedError, match=r"separates no cells\. Choose one of comma"):
            list(open_passages(path, layout=Layout(delimiter=delimiter)).rows())
    with pytest.raises(FileRefusedError, match="No such file"):
        open_passages(tmp_path / "nothing.jsonl")
