"""Every refusal names its line and its reason; the rest is read."""

import gzip
import tracemalloc

import pytest

from annotation.importing.formats import hints_of
from core.files.refusals import FileRefusedError, UnmappedError
from core.files.text_source import Limits
from tests.annotation.importing.conftest import plain, read, sample


def refused(path, **options):
    records, refusals, _ = read(path, **options)
    return [each.text for each in records], [(each.line, each.reason) for each in refusals.listed]


def test_bytes_of_another_encoding_are_refused_by_line_unless_it_is_named(write):
    texts, why = refused(write("log.csv", b"query\nfirst\nCaf\xe9\nlast\n"), encoding="utf-8")
    assert texts == ["first", "last"]
    assert why == [(3, "Byte 4 (0xE9) is not UTF-8. Save the file as UTF-8, or name its encoding.")]
    assert refused(write("log.csv", b"query\nCaf\xe9\n"), encoding="latin-1")[0] == ["Café"]
    with pytest.raises(FileRefusedError, match="'klingon' is no encoding"):
        read(write("log.csv", "query\na\n"), encoding="klingon")


def test_what_no_database_can_store_is_refused_by_line(write):
    texts, why = refused(write("log.csv", b"query\nfir\0st\nlast\n"))
    assert (texts, why) == (["last"], [(2, "The line has a NUL byte at byte 4; text has none.")])
    lines = [
        '{"query": "fine here"}',
        '{"query": "a\\u0000b"}',
        '{"query": "\\ud800"}',
        '{"query": "x", "n": 1e999}',
    ]
    texts, why = refused(write("log.jsonl", "\n".join(lines)))
    assert (texts, [line for line, _ in why]) == (["fine here"], [2, 3, 4])
    deep = '{"query": ' + "[" * 100_000 + "]" * 100_000 + "}"
    assert [line for line, _ in refused(write("log.jsonl", f'{{"query": "one"}}\n{deep}\n'))[1]] == [2]


def test_a_line_of_50_mb_is_refused_without_being_held(write):
    path = write("log.csv", b"query,count\nfirst,1\n" + b"x" * 50_000_000 + b",1\nlast,2\n")
    tracemalloc.start()
    texts, why = refused(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert texts == ["first", "last"]
    assert why == [(3, "The line is longer than 8,388,608 bytes.")]
    assert peak < 40_000_000
    path = write("log.csv", b"query\nfirst\n" + b"x" * 20_000_000)
    assert refused(path)[1] == [(3, "The line is longer than 8,388,608 bytes.")]
    texts, why = refused(write("log.csv", "query\nshort\nmuch too long\n"), limits=Limits(line_bytes=8))
    assert (texts, [line for line, _ in why]) == (["short"], [3])


def test_a_wrong_number_of_columns_and_unknown_values_are_refused_by_line(write):
    texts, why = refused(write("log.csv", "query,count\none,two,3\nfine,1\none,two,3,4\n"))
    assert texts == ["fine"]
    assert why == [
        (2, "The line has 3 columns instead of 2. A text with the separator in it must be quoted."),
        (4, "The line has 4 columns instead of 2. A text with the separator in it must be quoted."),
    ]
    _, why = refused(write("log.csv", "query,type,yes_no\na,WHO,\nb,PERSON,perhaps\nc,PERSON,yes\n"))
    assert [(line, reason[:24]) for line, reason in why] == [
        (2, "The type 'WHO' is none o"),
        (3, "The yes-no flag 'perhaps"),
    ]
    path = write("log.csv", "query,type,yes_no\nwho,,\nWho,PERSON,\nwho,NUMERIC,\nwho,,yes\nwho,PERSON,no\n")
    found, report = sample(path)
    assert found["who"][0].count == 3
    assert [each["line"] for each in report["refusals"]] == [4, 6]
    assert report["refusals"][0]["reason"].endswith("query in line 3: PERSON there, NUMERIC here.")


def test_a_count_that_is_none_is_refused(write):
    for count in ("0", "-3", "many", "1.5", "99999999999999999999"):
        path = write("log.csv", f"query,count\none,{count}\ntwo,2\n")
        texts, why = refused(path)
        assert texts == [*sample(path)[0]] == ["two"], count
        assert why == [(2, f"The count '{count}' is no whole number from 1 to 1,000,000,000.")]
    path = write("log.csv", "query,count\none,many\n,3\ntwo,2\nthree,4,5\n")
    found, report = sample(path)
    assert (list(found), [each["line"] for each in report["refusals"]]) == (["two"], [2, 3, 5])
    with pytest.raises(FileRefusedError, match=r"log.csv, line 2: The count 'many' .* Nothing was imported."):
        sample(path, strict=True)


def test_a_quote_that_never_closes_or_closes_too_early_is_refused_with_its_line(write):
    filler = "more words of text\n" * 20_000
    texts, why = refused(write("log.csv", f'query\nfirst\n"open {filler}'))
    assert texts[0] == "first"
    assert why[0][0] == 3
    assert why[0][1].startswith("A quotation mark opens here and never closes. Close it, or double it")
    assert why[0][1].endswith("Lines up to 20002 are lost.")
    texts, why = refused(write("log.csv", 'query,n\nfirst one,1\n"so" it goes,2\n"a ""b"" c",3\n'))
    assert texts == ["first one", 'a "b" c']
    assert [line for line, _ in why] == [3]
    assert why[0][1].startswith(
        "A quoted cell goes on after its closing mark. Quotation marks inside a cell are"
    )
    long = "word " * 50_000
    records, refusals, _ = read(write("log.csv", f'query,passage\nfirst one,"{long}"\n'))
    assert (len(records[0].passages[0].text), refusals.total) == (250_000, 0)
    _, why = refused(write("log.csv", f'query,passage\nfirst one,"{"word " * 300_000}"\n'))
    assert why[0] == (2, "A cell has more than 1,048,576 characters, or a quotation mark never closes.")


def test_cells_that_are_missing_at_the_end_are_empty_counted_and_told(write):
    path = write(
        "log.csv", 'query,count,id,note\nfirst one,1\n"second, two",2,b\n\nthird three,3,c,x\nfourth\n'
    )
    records, refusals, reader = read(path)
    assert [(each.text, each.id) for each in records] == [
        ("first one", ""), ("second, two", "b"), ("third three", "c"), ("fourth", ""),
    ]  # fmt: skip
    assert (refusals.total, reader.short_rows) == (0, 3)
    assert hints_of(reader, {}, refusals) == ["3 rows end before the head does: the missing cells are empty."]
    assert set(sample(path)[0]) == {each.text for each in records}


def test_marks_that_a_spreadsheet_put_around_cells_of_tsv_are_said(write):
    content = 'id\tquery\n1\t"oslo, ""norway"""\n2\t"war and peace"\n3\tis "this, so"\n4\t"lima, peru"\n'
    path = write("log.tsv", content)
    records, refusals, reader = read(path)
    assert [each.text for each in records][:2] == ['"oslo, ""norway"""', '"war and peace"']
    (hint,) = hints_of(reader, {}, refusals)
    assert hint.startswith("Texts between quotation marks, with a comma or doubled marks inside: 2. In TSV")
    records, refusals, reader = read(path, format="csv")
    assert [each.text for each in records][:2] == ['oslo, "norway"', "war and peace"]
    assert hints_of(reader, {}, refusals) == []


def test_an_id_of_another_query_is_refused_and_names_the_other(write):
    table = "id,query\n1,one here\n2,two here\n1,three here\n2,Two  here\n"
    lines = [
        {"query": text, "id": key}
        for key, text in (("1", "one here"), ("2", "two here"), ("1", "three here"))
    ]
    for path, line, first in ((write("log.csv", table), 4, 2), (write("log.jsonl", lines), 3, 1)):
        found, report = sample(path)
        assert sorted(found) == ["one here", "two here"]
        (refusal,) = report["refusals"]
        assert (refusal["line"], plain(refusal["reason"])) == (
            line,
            f"The id “1” is that of another query, in line {first}: “one here” there, “three here” here.",
        )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("log.csv", "query,Text\nwho is he,\n,where is oslo\n,\n"),
        ("log.jsonl", '{"query": "who is he"}\n{"query": "", "Text": "where is oslo"}\n{"query": " "}\n'),
    ],
)
def test_a_query_in_another_column_with_its_name_is_said(write, name, content):
    texts, why = refused(write(name, content))
    line = 3 if name == "log.csv" else 2
    assert texts == ["who is he"]
    assert why == [
        (
            line,
            "The query has no text. The column “\u2068Text\u2069” has one: write it into one column with "
            "the others.",
        ),
        (line + 1, "The query has no text."),
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("log.csv", "query,Question,n\nq17,where is oslo,2\n"),
        ("log.jsonl", '{"query": "q17", "Question": "where is oslo"}\n'),
    ],
)
def test_two_columns_with_a_name_for_the_query_are_asked_about(write, name, content):
    path = write(name, content)
    with pytest.raises(UnmappedError, match=r"the query may be in any of 'query', 'Question'. Choose one"):
        read(path)
    assert refused(path, columns={"text": "Question"})[0] == ["where is oslo"]
    assert refused(path, columns={"text": "Question", "id": "query"})[0] == ["where is oslo"]
    assert refused(path, columns={"id": "query"})[0] == ["where is oslo"]


def test_lines_that_are_no_json_object_with_each_member_once_are_refused(write):
    texts, why = refused(
        write("log.jsonl", '{"query": "one"}\n{"query": \n[1]\n{"query": 7}\n{"query": NaN}\n')
    )
    assert texts == ["one"]
    assert [line for line, _ in why] == [2, 3, 4, 5]
    assert why[1][1] == "The line is JSON, but no object."
    content = '{"query": "who is he", "query": "where is oslo"}\n{"query": "first one"}\n'
    texts, why = refused(write("log.jsonl", content))
    assert texts == ["first one"]
    assert why == [(1, "The member 'query' is there twice. Keep one of the two.")]
    turns = [{"text": "one"}, {"text": "two"}]
    path = write(
        "log.jsonl",
        [{"query": "one two"}, {"id": "c" * 199, "turns": turns}, {"query": "x", "id": "i" * 201}],
    )
    texts, why = refused(path)
    assert (texts, [line for line, _ in why]) == (["one two"], [2, 3])


@pytest.mark.parametrize(
    "content",
    [
        '[{"query": "first one"}, {"query": "who is he", "query": "where is oslo"}]',
        '{"a": {"query": "first one"},\n "b": {"query": "who is he", "query": "where is oslo"}}',
    ],
)
def test_a_member_that_is_there_twice_refuses_a_document_with_its_place(write, content):
    at = content.index('{"query": "who') + 1
    with pytest.raises(FileRefusedError, match="twice") as refusal:
        refused(write("log.json", content))
    assert str(refusal.value) == (
        f"log.json, character {at}: the value that begins here has the member 'query' twice. "
        "Keep one of the two."
    )


def test_damaged_gzip_and_a_bomb_of_it_are_refused(write):
    bomb = gzip.compress(b"query,count\n" + b"a" * 100_000_000)
    with pytest.raises(FileRefusedError, match=r"unpacks to more than \d+ MiB from .* bytes"):
        read(write("log.csv.gz", bomb))
    whole = gzip.compress(b"query\n" + bytes(range(65, 91)) * 5000)
    with pytest.raises(FileRefusedError, match="damaged: its gzip data cannot be unpacked"):
        read(write("log.csv.gz", whole[: len(whole) // 2]))


@pytest.mark.long
def test_an_ordinary_log_packs_well_and_is_no_bomb(write):
    path = write("log.csv", "query\n" + "a usual query\n" * 100_000, packed=True)
    assert len(read(path)[0]) == 100_000


@pytest.mark.parametrize("content", [b"", b"\n\n\n", gzip.compress(b"", mtime=0)])
def test_an_empty_file_is_refused(write, content):
    with pytest.raises(FileRefusedError, match=r"empty|no line that can be read"):
        read(write("log.csv", content))


@pytest.mark.parametrize(
    ("members", "given", "hinted"),
    [
        ({"query": "and Rome?", "context": ["where is Paris?"]}, {}, True),
        ({"query": "and Rome?", "context": ["where is Paris?"]}, {"context": "context"}, False),
        ({"query": "and Rome?", "context": "Rome is a town."}, {"context": ""}, False),
        ({"query": "and Rome?", "history": ["where is Paris?"], "context": "Rome is a town."}, {}, False),
        ({"query": "and Rome?"}, {}, False),
    ],
)
def test_a_context_that_is_not_read_is_said(write, members, given, hinted):
    records, refusals, reader = read(write("log.jsonl", [members]), columns=given)
    hints = hints_of(reader, given, refusals)
    assert [" is not read, because" in hint for hint in hints] == [True] * hinted
    if hinted:
        assert "--column context=context" in hints[0]
        assert records[0].extra == {"columns": {"context": ["where is Paris?"]}}
