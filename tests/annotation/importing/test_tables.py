"""CSV and TSV."""

import pytest

from core.files.refusals import FileRefusedError, RowCounts
from tests.annotation.importing.conftest import read, sample


def texts(path, **options):
    return [each.text for each in read(path, **options)[0]]


def test_usual_names_of_columns_are_known_and_others_are_mapped(write):
    path = write("log.csv", "QID,Question,Freq\n7,who wrote faust,12\n")
    (record,), _, reader = read(path)
    assert (record.id, record.text, record.count, record.line) == ("7", "who wrote faust", 12, 2)
    assert reader.description == "CSV, comma-separated, with a header"
    path = write("log.csv", "Suche;Anzahl\nwetter berlin;3\n")
    (record,), _, _ = read(path, columns={"text": "Suche", "count": "Anzahl"})
    assert (record.text, record.count) == ("wetter berlin", 3)
    path = write("log.tsv", "a\tb\tweather tomorrow\n")
    assert texts(path, columns={"text": "3"}, header=False) == ["weather tomorrow"]
    with pytest.raises(FileRefusedError, match="There is no column 'Frage'; the file has: 'query'"):
        read(write("log.csv", "query\nc\n"), columns={"text": "Frage"})
    with pytest.raises(
        FileRefusedError, match=r"line 1: no column holds the query; the columns are 'a', 'b'"
    ):
        read(write("log.csv", "a,b\nc,d\n"))


def test_a_table_without_header_is_an_id_and_a_query_as_in_ms_marco_or_a_list(write):
    path = write("queries.tsv", '121352\tdefine "extreme"\n634306\twhat does chattel mean\n')
    records, _, reader = read(path)
    assert [(each.id, each.text) for each in records] == [
        ("121352", 'define "extreme"'),
        ("634306", "what does chattel mean"),
    ]
    assert not reader.header
    assert texts(write("log.txt", "first one here\n\nsecond one here\n")) == [
        "first one here",
        "second one here",
    ]


def test_a_row_of_names_is_chosen_and_nothing_above_it_is_read(write):
    for content in (
        'Log of the "lab\n\nNr,Frage,query\n1,x,who is he\n',
        'Log, of, May, 2026\nsecond\nNr,Frage,query\n1,x,"who is he"\n',
    ):
        (record,), refusals, reader = read(write("log.csv", content), header_row=3)
        assert (record.text, record.line, refusals.total) == ("who is he", 4, 0)
        assert reader.reading(RowCounts(0)).header_row == 3
    for content, options, words in (
        (
            "a\n\nquery\nx y\n",
            {"header_row": 2},
            "row 2 is empty, .* The next row that holds something is 3",
        ),
        ("a\nquery\nx y\n", {"header_row": 9}, "no line that can be read from line 9 on"),
        ("a\nquery\nx y\n", {"header_row": 2, "header": False}, "Say one of both"),
        ('{"query": "x y"}\n', {"header_row": 2}, "JSONL, one object a line, so no row names its columns"),
    ):
        with pytest.raises(FileRefusedError, match=words):
            read(write("log.csv", content), **options)


@pytest.mark.parametrize("said", ["sep=;", '"sep=;"', "SEP=; "])
def test_a_line_of_excel_that_names_the_separator_is_no_row(write, said):
    path = write("log.csv", f'{said}\nquery;count\n"oslo, norway";3\nwho is he;1\n')
    records, refusals, reader = read(path)
    assert [(each.text, each.count, each.line) for each in records] == [
        ("oslo, norway", 3, 3),
        ("who is he", 1, 4),
    ]
    reading = reader.reading(RowCounts(2, used=2))
    assert (refusals.total, reading.separator, reading.header_row) == (0, ";", 2)
    assert texts(write("other.csv", "sep=:\nquery:count\nwho is he:1\n")) == ["who is he"]


def test_quoted_fields_may_hold_separators_quotes_and_newlines(write):
    path = write("log.csv", 'query,n\n"a, b",1\n"say ""hi""",2\n"two\nlines",3\nlast,4\n')
    records, refusals, _ = read(path)
    assert [(each.text, each.line) for each in records] == [
        ("a, b", 2),
        ('say "hi"', 3),
        ("two\nlines", 4),
        ("last", 6),
    ]
    assert refusals.total == 0


def test_all_newlines_encodings_and_packings_are_understood(write):
    for newline in ("\n", "\r\n", "\r"):
        path = write("log.csv", newline.join(["query,count", "one two,1", "three four,2"]))
        assert [(each.text, each.line) for each in read(path)[0]] == [("one two", 2), ("three four", 3)]
    path = write("log.csv", "query\r\none\rtwo\nthree\r\n")
    assert [(each.text, each.line) for each in read(path)[0]] == [("one", 2), ("two", 3), ("three", 4)]
    assert texts(write("log.csv", "\ufeffquery,count\nword one,1\n")) == ["word one"]
    assert texts(write("log.csv", "query,count\nفأس,1\n".encode("utf-16"))) == ["فأس"]
    assert texts(write("log.csv", "query,count\nword one,1\n", packed=True)) == ["word one"]


def test_conversations_give_their_earlier_turns_and_turns_out_of_place_are_refused(write):
    path = write("log.csv", "conversation,turn,query\na,1,what is rust\na,2,how to stop it\nb,1,who is he\n")
    records, _, _ = read(path)
    assert [each.context for each in records] == [[], ["what is rust"], []]
    path = write("log.csv", "conversation,turn,query\na,2,how to stop it\nb,1,one\nb,1,two\n")
    records, refusals, _ = read(path)
    assert [each.text for each in records] == ["one"]
    assert [each.line for each in refusals.listed] == [2, 4]
    assert "comes without the turns before it" in refusals.listed[0].reason


def test_lists_may_be_json_in_a_column_or_as_python_prints_them(write):
    path = write(
        "log.csv",
        "query\tpassages\tanswers\ttype\n"
        'who\t[{"text": "He did.", "url": "https://a.org/1", "selected": true}, "She did."]'
        '\t["he"]\tperson\n',
    )
    (record,), _, _ = read(path)
    assert [(each.text, each.url, each.selected) for each in record.passages] == [
        ("He did.", "https://a.org/1", True),
        ("She did.", "", False),
    ]
    assert (record.references, record.type) == (["he"], "PERSON")
    path = write("log.csv", f'query,references\nq one,"[""it\'s"", {"b"!r}]"\nq two,[laughs]\n')
    records, refusals, _ = read(path)
    assert [each.references for each in records] == [["it's", "b"], ["[laughs]"]]
    assert refusals.total == 0


def test_other_columns_are_kept_by_name_or_place(write):
    (record,), _, _ = read(write("log.csv", "query,market\nwho is he,en-GB\n"))
    assert record.extra == {"columns": {"market": "en-GB"}}
    records, refusals, reader = read(write("log.csv", "query,,count,,\nq one,a,2,,\nq two,,1,b,c\n"))
    assert [(each.text, each.count) for each in records] == [("q one", 2), ("q two", 1)]
    assert [each.extra["columns"] for each in records] == [
        {"column 2": "a"},
        {"column 4": "b", "column 5": "c"},
    ]
    assert reader.reading(RowCounts(2, used=2)).left_out == ["column 2", "column 4", "column 5"]
    assert refusals.total == 0


def test_counts_of_the_same_query_are_summed_whatever_its_case_unless_turns_differ(write):
    path = write("log.csv", "query,count\nWho  is he,2\nwho is he ,3\nWHO IS HE,1\nCafé,1\nCafe\u0301,1\n")
    found, report = sample(path)
    assert {text: drawn.count for text, (drawn, _) in found.items()} == {"who is he": 6, "Café": 2}
    assert (report["records"], report["duplicates"], report["distinct"]) == (5, 3, 2)
    path = write(
        "log.csv", "conversation,turn,query\na,1,rust\na,2,why\nb,1,gold\nb,2,why\nc,1,RUST\nc,2,Why\n"
    )
    _, report = sample(path)
    assert (report["distinct"], report["duplicates"]) == (4, 2)
