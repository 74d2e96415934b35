"""Tables with a row per passage: one query keeps all of them, and every row is accounted for."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.importing import formats
from annotation.importing.detect import open_reader
from annotation.importing.run import fetch, survey
from annotation.importing.selection import Design, Screen
from annotation.models import Query, QuerySource
from annotation.services.importing import ImportRefusedError, Options, import_queries
from core.files.text_source import TextSource
from core.projects.services import create_project
from tests.annotation.importing.conftest import read, sample
from tests.scale import limit_cases

LONG = (
    "query_id,query,passage_id,passage,reference\n"
    "1,who wrote faust,d1,Goethe wrote it.,Goethe\n"
    "2,what is rust,d7,An oxide.,\n"
    "1,who wrote faust,d2,He began in 1772.,Goethe\n"
    "1,Who wrote Faust,d3,It has two parts.,Johann Wolfgang von Goethe\n"
    "1,who wrote faust,d1,Goethe wrote it.,Goethe\n"
)


@pytest.fixture
def project(db):
    return create_project(slug="answers", title="Answers")


def parts_of(report):
    return {name: report["counts"][name] for name in ("used", "merged", "repeats", "refused")}


def holds(report) -> bool:
    counts = dict(report["counts"])
    return counts.pop("rows_read") == sum(counts.values())


def test_every_passage_and_reference_of_a_query_is_kept_in_the_order_of_the_file(write):
    found, report = sample(write("long.csv", LONG))
    drawn, query = found["who wrote faust"]
    assert [(each.key, each.text) for each in query.passages] == [
        ("d1", "Goethe wrote it."),
        ("d2", "He began in 1772."),
        ("d3", "It has two parts."),
    ]
    assert query.references == ["Goethe", "Johann Wolfgang von Goethe"]
    assert drawn.count == 1
    assert report["counts"] == {"rows_read": 5, "used": 2, "merged": 2, "repeats": 1, "refused": 0}


def test_rows_without_an_id_and_objects_of_one_query_merge_too(write):
    found, report = sample(write("long.csv", "query,passage\nwho is he,One.\nWHO  is he,Two.\n"))
    assert [each.text for each in found["who is he"][1].passages] == ["One.", "Two."]
    assert parts_of(report) == {"used": 1, "merged": 1, "repeats": 0, "refused": 0}
    rows = [
        {"id": "a", "query": "who is he", "passages": ["One.", "Two."]},
        {"id": "a", "query": "who is he", "passages": ["Two.", "Three."], "answers": ["He."]},
        {"id": "a", "query": "who is he", "passages": ["Three.", "One."]},
    ]
    found, report = sample(write("long.jsonl", rows))
    query = found["who is he"][1]
    assert ([each.text for each in query.passages], query.references) == (["One.", "Two.", "Three."], ["He."])
    assert parts_of(report) == {"used": 1, "merged": 1, "repeats": 1, "refused": 0}
    path = write("long.csv", "query,id,type,extra\nwho is he,,,\nwho is he,7,PERSON,x\n")
    found, report = sample(path)
    query = found["who is he"][1]
    assert (query.id, query.type, query.extra["columns"]) == ("7", "PERSON", {"extra": "x"})
    assert parts_of(report) == {"used": 1, "merged": 1, "repeats": 0, "refused": 0}


def test_the_most_frequent_spelling_of_a_query_is_shown(write):
    rows = [
        "WHAT\u2019S NEW,1,",
        "what's new,2,p",
        "What's new,1,",
        "what's new,1,q",
        "How Old,2,",
        "how old,2,",
    ]
    table = "query,count,passages\n" + "\n".join(rows)
    found, report = sample(write("log.csv", table))
    assert list(found) == ["what's new", "How Old"]
    assert [each.text for each in found["what's new"][1].passages] == ["p", "q"]
    assert (report["counts"]["merged"], report["counts"]["repeats"]) == (2, 2)

    lines = write("log.txt", "query\nOLD\nyoung\nold\nold\nYOUNG\n")
    found, report = sample(lines)
    assert [(text, drawn.count) for text, (drawn, _) in found.items()] == [("old", 3), ("young", 2)]
    assert (report["counts"]["used"], report["counts"]["repeats"]) == (2, 3)


def test_rows_come_together_from_all_over_a_file_that_is_read_in_small_pieces(write, monkeypatch):
    monkeypatch.setattr(formats, "BATCH", 40)
    monkeypatch.setattr("core.files.text_source.BLOCK", 512)
    rows = [f'q{query},"question, {query}",p{query}-{passage},Text {passage}\n'
            for passage in range(5) for query in range(60)]  # fmt: skip
    found, report = sample(write("long.csv", "id,query,passage_id,passage\n" + "".join(rows)))
    assert all(
        [each.key for each in query.passages] == [f"p{query.id[1:]}-{number}" for number in range(5)]
        for _, query in found.values()
    )
    assert parts_of(report) == {"used": 60, "merged": 240, "repeats": 0, "refused": 0}


def test_a_turn_with_several_lines_is_one_query_wherever_they_are(write):
    path = write(
        "long.csv",
        "conversation,turn,query,passage\na,1,what is rust,p1\na,1,what is rust,p2\na,2,how to stop it,p3\n"
        "b,1,who is he,p4\na,2,how to stop it,p5\na,1,another text,p6\n",
    )
    found, report = sample(path)
    assert {text: [each.text for each in query.passages] for text, (_, query) in found.items()} == {
        "what is rust": ["p1", "p2"],
        "how to stop it": ["p3", "p5"],
        "who is he": ["p4"],
    }
    assert found["how to stop it"][1].context == ["what is rust"]
    (refusal,) = report["refusals"]
    assert "has another text in line 2" in refusal["reason"]
    assert parts_of(report) == {"used": 3, "merged": 2, "repeats": 0, "refused": 1}
    path = write("long.csv", "conversation,query,passage\na,what is rust,p1\na,what is rust,p2\na,why,p3\n")
    records, _, _ = read(path)
    assert [(each.turn, each.context) for each in records] == [(1, []), (1, []), (2, ["what is rust"])]
    records, _, _ = read(write("log.csv", "conversation,query\na,why\na,why\n"))
    assert [each.turn for each in records] == [1, 2]


def test_fields_that_contradict_each_other_are_reported_with_query_lines_and_values(write):
    path = write(
        "long.csv",
        "id,query,passage,count,source\n1,who is he,One.,3,web\n2,who is he,Two.,4,book\n"
        "3,who is he,One.,3,web\n2,what is it,Three.,1,web\n",
    )
    _, report = sample(path)
    found = {each["field"]: each for each in report["contradictions"]}
    assert {name: (each["lines"], each["queries"], each["outcome"]) for name, each in found.items()} == {
        "id": (2, 1, "first kept"),
        "text": (1, 1, "line refused"),
        "count": (1, 1, "first kept"),
        "source": (1, 1, "first kept"),
    }
    assert found["id"]["examples"][0] == {
        "query": "who is he", "line": 3, "value": "2", "first_line": 2, "kept": "1",
    }  # fmt: skip
    assert found["count"]["examples"][0]["value"] == "4"
    assert found["source"]["column"] is True


def test_a_passage_that_is_selected_in_one_row_only_is_reported(write):
    path = write(
        "long.csv", "query,passage,is_selected\nwho is he,One.,1\nwho is he,One.,0\nwho is he,Two.,1\n"
    )
    found, report = sample(path)
    assert [(each.text, each.selected) for each in found["who is he"][1].passages] == [
        ("One.", True),
        ("Two.", True),
    ]
    assert [(each["field"], each["lines"]) for each in report["contradictions"]] == [("selected", 1)]
    assert parts_of(report) == {"used": 1, "merged": 1, "repeats": 1, "refused": 0}


def test_a_thousand_passages_are_the_most_and_a_further_line_is_refused(write):
    rows = "".join(f"who is he,Text {number}.\n" for number in range(1002))
    found, report = sample(write("long.csv", "query,passage\n" + rows))
    assert len(found["who is he"][1].passages) == 1000
    assert parts_of(report) == {"used": 1, "merged": 999, "repeats": 0, "refused": 2}
    assert [each["line"] for each in report["refusals"]] == [1002, 1003]


def test_a_sample_takes_all_rows_of_what_was_drawn(write):
    rows = [f"question {query},Text {passage} of {query}.\n" for passage in range(4) for query in range(50)]
    path = write("long.csv", "query,passage\n" + "".join(rows))
    found, report = sample(path, Design(by="uniform", size=7, seed=2))
    assert {len(query.passages) for _, query in found.values()} == {4}
    assert (len(found), report["counts"]["rows_read"], holds(report)) == (7, 200, True)


def test_a_second_import_adds_nothing_and_a_further_passage_is_refused(project, write):
    path = write("long.csv", LONG)
    first = import_queries(project=project, path=path)
    assert parts_of(first) == {"used": 2, "merged": 2, "repeats": 1, "refused": 0}
    assert Query.objects.get(key="1").candidates.count() == 3
    again = import_queries(project=project, path=path)
    assert parts_of(again) == {"used": 0, "merged": 0, "repeats": 5, "refused": 0}
    said = StringIO()
    call_command("import-queries", "answers", str(path), "--json", "--dry-run", stdout=said)
    assert json.loads(said.getvalue())["counts"]["rows_read"] == 5
    said = StringIO()
    call_command("import-queries", "answers", str(path), stdout=said)
    assert "Nothing was added: the project has all 2 queries already." in said.getvalue()
    assert "5 rows read = 0 used + 0 merged + 5 identical repeats + 0 refused." in said.getvalue()
    report = import_queries(
        project=project, path=write("b.csv", "query_id,query,passage\n1,who wrote faust,It has two parts.\n"
                                             "1,who wrote faust,Something new.\n")
    )  # fmt: skip
    assert parts_of(report) == {"used": 0, "merged": 0, "repeats": 1, "refused": 1}
    (refusal,) = report["refusals"]
    assert refusal["line"] == 3
    assert "1 passage of this line were not added" in refusal["reason"]


def test_all_rows_of_a_query_whose_id_is_taken_are_refused(project, write):
    import_queries(project=project, path=write("a.csv", "id,query\n1,who is she\n"))
    report = import_queries(project=project, path=write("b.csv", LONG))
    assert parts_of(report) == {"used": 1, "merged": 0, "repeats": 1, "refused": 3}
    assert [each["line"] for each in report["refusals"]] == [2, 4, 5]
    with pytest.raises(ImportRefusedError, match=r"b.csv, line 3: The id .* is that of another query"):
        import_queries(
            project=project,
            path=write("b.csv", "id,query\n1,who is he\n1,who is she\n"),
            options=Options(strict=True),
        )
    assert QuerySource.objects.count() == 2


CELLS = st.sampled_from(["", "a", "b", " A ", "mail@a.org", "PERSON", "7", '"', "x\0y", "NUMERIC", "ü"])
ROWS = st.lists(st.lists(CELLS, min_size=4, max_size=6), max_size=25)


@pytest.mark.long
@settings(max_examples=limit_cases(60), deadline=None)
@given(rows=ROWS, size=st.integers(1, 4))
def test_the_sum_holds_for_any_table(tmp_path_factory, rows, size):
    room = tmp_path_factory.mktemp("sum")
    path = room / "messy.csv"
    path.write_text("id,query,type,passage,reference\n" + "".join(",".join(row) + "\n" for row in rows))
    room = room / "room"
    room.mkdir()
    found = survey(
        open_reader(TextSource(path), room),
        screen=Screen(without=["short"]),
        design=Design(by="uniform", size=size),
        room=room,
    )
    list(fetch(found))
    counts = found.counts()
    assert counts.rows_read == counts.used + counts.merged + counts.repeats + counts.refused
