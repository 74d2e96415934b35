"""Files of systems' answers become candidates, once, and every line that does not says why."""

import json
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import transaction

from annotation.services.importing import ImportRefusedError
from core.projects.models import Event
from judgments.answer_files import system_columns
from judgments.models import Candidate, CandidateSource, System
from judgments.services.imports import Options, import_candidates, preview
from tests.cases import apart
from tests.judgments.candidates_world import make_candidate, make_project, make_query, make_system, write
from tests.workbooks import write_workbook

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project("reading")


@pytest.fixture
def oak(project):
    return make_query(project, "How old is oak", "It is old.", key="q1")


@pytest.fixture
def rome(project):
    return make_query(project, "Capital of Italy", key="q2", yes_no=True)


@pytest.fixture
def run(project, tmp_path):
    """Import a file with this content and give back its report."""

    def do(content, name="answers.jsonl", *, dry_run=False, **options):
        path = write(tmp_path, name, content)
        return import_candidates(project=project, path=path, options=Options(**options), dry_run=dry_run)

    return do


def became(report):
    return {rule: each["count"] for rule, each in report["rules"].items() if each["count"]}


def refusals(report):
    return [(each["line"], each["field"], each["reason"]) for each in report["refusals"]]


def stored(**wanted):
    rows = Candidate.objects.filter(**wanted).order_by("pk")
    return [(row.system.name, row.query.key, row.text) for row in rows.select_related("system", "query")]


# Formats


def test_jsonl_names_queries_by_id_or_text_and_systems_by_a_member(run, oak, rome):
    report = run([
        {"query_id": "q1", "system": "one", "answer": "Very old."},
        {"query": "capital  of ITALY", "system": "one", "answer": " Rome. "},
        {"id": "q1", "system": "two", "answer": "Young."},
        {"query": "q2", "system": "two", "answer": "Milan."},
    ])  # fmt: skip
    assert became(report) == {"new": 4}
    assert stored() == [
        ("one", "q1", "Very old."), ("one", "q2", "Rome."), ("two", "q1", "Young."), ("two", "q2", "Milan."),
    ]  # fmt: skip
    assert list(Candidate.objects.order_by("pk").values_list("line", flat=True)) == [1, 2, 3, 4]


def test_an_answer_whose_id_is_right_is_not_refused_for_typographic_marks(run, project):
    make_query(project, "What\u2019s \u201cold\u201d \u2013 oak?", key="q7")
    rows = [
        {"query_id": "q7", "query": 'what\'s "old" - oak?', "system": "one", "answer": "Old."},
        {"query_id": "q7", "query": "What's new", "system": "two", "answer": "Old."},
    ]
    assert became(run(rows)) == {"new": 1, "refused": 1}


def test_an_answer_finds_its_query_by_a_text_with_other_typographic_marks(run, project):
    make_query(project, "What\u2019s \u201cold\u201d \u2013 oak?", key="q7")
    make_query(project, "why", key="q8", context=[{"text": "It\u2019s old"}])
    rows = [
        {"query": 'what\'s "old" - oak?', "system": "one", "answer": "Old."},
        {"query": "What\u2019s \u201cold\u201d \u2013 oak?", "system": "two", "answer": "Old."},
        {"query": "Why", "history": ["it's old"], "system": "one", "answer": "Time."},
        {"query": "What's new", "system": "two", "answer": "Old."},
    ]
    report = run(rows, strict=False)
    assert (became(report), report["other_spelling"]) == ({"new": 3, "unknown": 1}, 2)
    assert stored() == [("one", "q7", "Old."), ("two", "q7", "Old."), ("one", "q8", "Time.")]
    assert became(run(rows[:3])) == {"unchanged": 3}


def test_of_two_spellings_that_a_project_has_an_answer_means_its_own_else_the_oldest(run, project):
    for key, text in (("q7", "What\u2019s old?"), ("q8", "What's old?")):
        make_query(project, text, key=key)
    texts = ("What's old?", "What\u2018s old?", "What\u2019s old?")
    run([{"query": text, "system": str(at), "answer": "Oak."} for at, text in enumerate(texts)])
    assert [(system, key) for system, key, _ in stored()] == [("0", "q8"), ("1", "q7"), ("2", "q7")]


def test_a_table_with_a_column_per_system_is_imported_at_once(run, oak, rome):
    table = 'qid,query,BM25,"GPT, 4",label\nq1,How old is oak,Old.,Very old.,yes\nq2,,Rome,,no\nq9,,a,b,no\n'
    report = run(table, "wide.csv", systems_from=system_columns('BM25, "GPT, 4"'))
    assert stored() == [
        ("BM25", "q1", "Old."), ("GPT, 4", "q1", "Very old."), ("BM25", "q2", "Rome"), ("GPT, 4", "q2", ""),
    ]  # fmt: skip
    assert became(report) == {"new": 3, "empty": 1, "unknown": 2}
    assert report["counts"] == {"rows_read": 6, "used": 4, "merged": 0, "repeats": 0, "refused": 2}
    assert report["hints"] == ["Rows of the file: 3, each with an answer of 2 systems."]
    assert (report["lines_read"], report["read_as"]["columns"], report["read_as"]["left_out"]) == (
        3,
        {"query_id": ["qid"], "query": ["query"], "text": ["BM25", "GPT, 4"]},
        ["label"],
    )
    objects = [{"qid": "q1", "a": "Old.", "b": "Young."}, {"qid": "q2", "a": "Rome"}]
    assert became(run(objects, systems_from=["a", "b"])) == {"new": 3, "empty": 1}
    for options, words in (
        ({"systems_from": ["BM26"]}, "There is no column 'BM26'"),
        ({"systems_from": ["BM25", "BM25"]}, "is named twice"),
        ({"systems_from": ["BM25"], "system": "one"}, "Name one of both"),
        ({"systems_from": ["BM25"], "columns": {"opinion": "label"}}, "Choose one of both"),
    ):
        with pytest.raises(ImportRefusedError, match=words):
            run(table, "wide.csv", **options)


def test_a_sheet_and_a_row_of_names_are_chosen(project, oak, tmp_path):
    rows = {2: ["Answers of May"], 4: ["query_id", "system", "answer"], 5: ["q1", "one", "Old."]}
    path = write_workbook(tmp_path / "answers.xlsx", {"About": [["text"]], "May": rows})
    call_command("import-candidates", "reading", path, sheet="May", header_row=4, stdout=StringIO())
    read_as = CandidateSource.objects.get().report["read_as"]
    assert (read_as["sheet"], read_as["header_row"], read_as["encoding"]) == ("May", 4, None)
    assert stored() == [("one", "q1", "Old.")]


def test_the_report_says_how_the_file_was_read(run, oak, rome):
    text = "question_id\tmodel\tprediction\tseconds\nq1\tone\tOld.\t3\nq2\tone\tRome\t4\nq9\tone\tNo\t5\n"
    report = run(text, "answers.tsv")
    assert report["read_as"] == CandidateSource.objects.get().report["read_as"] == {
        "encoding": "utf-8",
        "separator": "\t",
        "sheet": None,
        "header_row": 1,
        "columns": {"query_id": ["question_id"], "system": ["model"], "text": ["prediction"]},
        "left_out": ["seconds"],
        "rows": {"read": 3, "used": 2, "merged": 0, "repeats": 0, "refused": 1},
    }  # fmt: skip


def test_csv_with_quoted_answers_plain_or_packed(run, oak):
    for name, expected in (("a.csv", "new"), ("a.csv.gz", "unchanged"), ("a.txt", "unchanged")):
        report = run('query_id,system,answer\nq1,one,"Old, very\nold."\n', name)
        assert (became(report), report["format"]) == ({expected: 1}, "csv")
        assert stored() == [("one", "q1", "Old, very\nold.")]


def test_tsv_without_a_system_column_takes_the_option(run, oak, rome):
    report = run('question\tanswer\nhow old is oak\tOld.\ncapital of italy\t"Rome"\n', "a.tsv", system="one")
    assert report["format_words"] == "TSV, tab-separated, with a header"
    assert stored() == [("one", "q1", "Old."), ("one", "q2", '"Rome"')]


def test_columns_are_mapped_by_hand_or_by_number_where_there_is_no_header(run, oak):
    report = run(
        "id;frage;antwort\n7;How old is oak;Alt.\n", "a.csv", system="one",
        columns={"query_id": "", "query": "frage", "text": "antwort"},
    )  # fmt: skip
    assert became(report) == {"new": 1}
    run("q1,two,Old.\n", "a.csv", header=False, columns={"query_id": "1", "system": "2", "text": "3"})
    assert stored(system__name="two") == [("two", "q1", "Old.")]


def test_a_json_list_counts_records(run, oak):
    report = run(json.dumps([{"query_id": "q1", "system": "one", "answer": "Old."}, 7]), "a.json")
    assert became(report) == {"new": 1, "refused": 1}
    assert report["unit"] == "record"


def test_a_json_object_holds_records_by_the_ids_of_queries(run, oak, rome):
    report = run(
        json.dumps({"q1": {"system": "a", "answer": "Old."}, "q2": {"system": "a", "answer": "Rome"}})
    )
    assert (report["format"], report["unit"], became(report)) == ("json", "record", {"new": 2})
    assert stored() == [("a", "q1", "Old."), ("a", "q2", "Rome")]
    for document, words in (
        ({"query_id": {"0": "q1"}, "answer": {"0": "Old."}}, "object of columns, as pandas writes a table"),
        ({"data": [{"query_id": "q1", "answer": "Old."}]}, "holds a list of records in its member 'data'"),
    ):
        with pytest.raises(ImportRefusedError, match=words):
            run(json.dumps(document), system="b")


def test_an_answer_is_read_from_a_further_column_where_its_own_is_empty(run, oak, rome):
    table = "query_id,system,answer,prediction\nq1,a,Old.,\nq2,a,,Rome\n"
    report = run(table, "answers.csv")
    assert stored() == [("a", "q1", "Old."), ("a", "q2", "Rome")]
    assert report["read_as"]["columns"]["text"] == ["answer", "prediction"]
    said = (
        "Rows without an answer in 'answer', whose answer was read from 'prediction': 1, the first in line 3."
    )
    assert report["hints"] == [said]

    chosen = run(table.replace(",a,", ",b,"), "answers.csv", columns={"text": "answer"})
    assert became(chosen) == {"new": 1, "empty": 1}
    assert chosen["hints"][0].startswith(
        "Rows without an answer in 'answer', with a text in 'prediction': 1, the"
    )
    assert chosen["read_as"]["left_out"] == ["prediction"]

    both = run("query_id,system,answer,output\nq1,c,Old.,x\nq2,c,,Rome\n", "answers.csv")
    assert [line for line, *_ in refusals(both)] == [3]
    assert both["read_as"]["columns"]["text"] == ["answer", "output"] or both["read_as"]["left_out"] == [
        "output"
    ]


def test_dureader_results_give_their_first_answer_with_its_label_and_entities(run, oak, rome):
    lines = [
        {"question_id": "q2", "question_type": "YES_NO", "answers": ["Yes, Rome is.", "No."],
         "yesno_answers": ["Yes", "No"], "entity_answers": [["Rome"], []]},
        {"query_id": "q1", "query_type": "ENTITY", "answers": [], "yesno_answers": [], "entities": [[]]},
    ]  # fmt: skip
    with pytest.raises(ImportRefusedError, match="do not name their system"):
        run(lines)
    report = run(lines, system="bidaf")
    assert (report["format"], report["further"], became(report)) == ("dureader", 1, {"new": 1, "empty": 1})
    row = Candidate.objects.get(query=rome)
    assert (row.text, row.opinion) == ("Yes, Rome is.", "Yes")
    assert row.entities == [{"start": 5, "end": 9, "text": "Rome"}]
    assert Candidate.objects.get(query=oak).aside == "empty"


def test_a_query_in_a_conversation_is_found_by_its_turns_or_its_id(run, project, oak):
    make_query(project, "how old is it", key="q3", context=[{"text": "what is oak"}])
    turns = {"query": "How old is it", "context_turns": ["What is oak"], "system": "one", "answer": "Old."}
    report = run([turns, {**turns, "context_turns": [], "system": "two"}])
    assert stored() == [("one", "q3", "Old.")]
    assert [each["field"] for each in report["refusals"]] == ["query"]


def test_people_in_a_file_are_the_system_human(run, oak):
    run([{"query_id": "q1", "system": "Human", "answer": "Old."}])
    assert System.objects.values_list("name", "kind").get() == ("human", "human")


# Labels


def test_opinions_are_taken_in_any_case(run, oak):
    words = {"yes": "Yes", "NO": "No", "Depends": "Depends", "": "", None: "", "No_Opinion": ""}
    rows = [{"query_id": "q1", "system": f"{word}.", "answer": "Old.", "opinion": word} for word in words]
    run(rows)
    found = dict(Candidate.objects.values_list("system__name", "opinion"))
    assert found == {f"{word}.": opinion for word, opinion in words.items()}


def test_entities_are_strings_or_spans_of_the_answer_as_the_file_has_it(run, oak):
    cases = (
        (["Rome", "Rome"], [(4, 8), (13, 17)]),
        ([{"start": 6, "end": 10, "text": "Rome"}], [(4, 8)]),
        ([{"start": 15, "end": 19}], [(13, 17)]),
        ('["Rome"]', [(4, 8)]),
        ("Rome", [(4, 8)]),
    )
    text = "  Old Rome and Rome\n"
    run([
        {"query_id": "q1", "system": f"s{at}", "answer": text, "entities": entities}
        for at, (entities, _) in enumerate(cases)
    ])  # fmt: skip
    for at, (_, spans) in enumerate(cases):
        row = Candidate.objects.get(system__name=f"s{at}")
        assert row.text == "Old Rome and Rome"
        assert row.entities == [{"start": start, "end": end, "text": "Rome"} for start, end in spans]


# What is set aside


def test_copies_of_a_reference_and_empty_answers_are_set_aside(run, oak):
    expected = {
        "exact": ["It is old.", "it IS old", "It  is old .", "it is old?!"],
        "": ["It is very old.", "Old is it.", "It, is old.", "The it is old."],
        "empty": ["", "   ", None],
    }
    for aside, answers in expected.items():
        rows = [
            {"query_id": "q1", "system": f"{aside}{at}", "answer": each} for at, each in enumerate(answers)
        ]
        assert became(run(rows)) == {aside or "new": len(answers)}
        assert Candidate.objects.filter(aside=aside).count() == len(answers)
    assert set(Candidate.objects.filter(aside="empty").values_list("text", flat=True)) == {""}
    report = run([{"query_id": "q1", "system": "kept", "answer": "It is old"}], keep_exact=True)
    assert became(report) == {"kept": 1}
    assert Candidate.objects.filter(kept=True).values_list("aside", "system__name").get() == ("", "kept")


def test_the_report_counts_what_cannot_be_compared_or_judged(run, project, rome):
    make_query(project, "gone", "x", key="q9", status="withdrawn")
    report = run([{"query_id": key, "system": "one", "answer": "A."} for key in ("q2", "q9")])
    assert (report["without_reference"], report["query_out"]) == (1, 1)


# Once and again


def test_the_same_file_again_changes_nothing(run, oak, rome):
    lines = [
        {"query_id": "q1", "system": "one", "answer": "It is old.", "opinion": "yes", "entities": ["old"]},
        {"query_id": "q2", "system": "one", "answer": ""},
    ]
    run(lines)
    before = list(Candidate.objects.values())
    report = run(lines)
    assert (became(report), report["source"], report["stored"]) == ({"unchanged": 2}, None, 0)
    assert list(Candidate.objects.values()) == before
    assert CandidateSource.objects.count() == Event.objects.filter(action="candidates.imported").count() == 1


def test_a_line_that_is_repeated_is_counted_and_another_answer_refused_with_the_line_of_the_first(run, oak):
    line = {"query_id": "q1", "system": "one", "answer": "Old."}
    report = run([line, {**line, "answer": " Old."}, {**line, "answer": "Young."}])
    assert became(report) == {"new": 1, "repeated": 1, "conflict": 1}
    ((number, field, reason),) = refusals(report)
    assert (number, field) == (3, "text")
    assert reason.endswith("has another answer to this query, in line 1.")
    assert "another name" in report["refusals"][0]["remedy"]
    assert stored() == [("one", "q1", "Old.")]
    ((_, _, reason),) = refusals(run([{**line, "opinion": "no"}]))
    assert "the same answer with another label" in reason


def test_another_answer_than_that_of_an_earlier_file_is_refused(run, oak, rome):
    line = {"query_id": "q1", "system": "one", "answer": "Old."}
    run([{"query_id": "q2", "system": "one", "answer": "Rome."}, line], "first.jsonl")
    report = run([{**line, "answer": "Young."}, {**line, "opinion": "no"}], "second.jsonl")
    assert next(reason for *_, reason in refusals(report)).endswith("in line 2 of first.jsonl.")
    assert became(report) == {"conflict": 2}
    assert stored(query=oak) == [("one", "q1", "Old.")]


def test_what_a_researcher_took_out_stays_out(run, project, oak):
    make_candidate(make_system(project, "one"), oak, "Old.", aside="withdrawn")
    assert became(run([{"query_id": "q1", "system": "one", "answer": "Old."}])) == {"unchanged": 1}
    assert Candidate.objects.get().aside == "withdrawn"


# Refusals


def test_a_bad_line_says_which_field_is_wrong_and_what_to_do(run, oak, rome, tmp_path, subtests):
    for line, field, words in [
        ({"query_id": "q7"}, "query_id", "no query with the id"),
        ({"query_id": None, "query": "who is Rex"}, "query", "neither as id nor as text"),
        ({"query_id": None}, "query", "names no query"),
        ({"query_id": True}, "query_id", "neither text nor a number"),
        ({"query_id": "q1", "query": "Capital of Italy"}, "query_id", "is another than"),
        ({"system": ""}, "system", "does not name its system"),
        ({"system": ["one"]}, "system", "no text"),
        ({"system": "x" * 101}, "system", "101 characters"),
        ({"answer": {"text": "Old."}}, "text", "no text"),
        ({"answer": "x" * 20_001}, "text", "20,001 characters"),
        ({"answer": "a\0b"}, "line", "NUL"),
        ({"answer": "\ud800"}, "line", "cannot be stored"),
        ({"opinion": "maybe"}, "opinion", "none of yes, no, depends"),
        ({"opinion": True}, "opinion", "none of yes, no, depends"),
        ({"entities": ["Rome"]}, "entities", "does not occur in the answer"),
        ({"entities": ["Old", "Old"]}, "entities", "once more"),
        ({"entities": [{"start": 0, "end": 99}]}, "entities", "no part of the answer"),
        ({"entities": [{"start": 0, "end": 3, "text": "Rome"}]}, "entities", "the answer has"),
        ({"entities": [{"start": -1, "end": 3}]}, "entities", "no part of the answer"),
        ({"entities": 7}, "entities", "no list"),
        ({"entities": "[broken"}, "entities", "begin like JSON"),
        ({"entities": ["Old"] * 201}, "entities", "201 entities"),
        ({"context_turns": [7]}, "context", "no list of texts"),
    ]:
        with apart(subtests, line=line, field=field, words=words):
            good = {"query_id": "q2", "system": "one", "answer": "Rome."}
            bad = {"query_id": "q1", "system": "one", "answer": "Old.", **line}
            content = "".join(json.dumps(each) + "\n" for each in (good, bad))
            report = run(content)
            ((number, named, reason),) = refusals(report)
            assert (number, named) == (2, field)
            assert words in reason
            assert report["refusals"][0]["remedy"]
            assert stored() == [("one", "q2", "Rome.")]


def test_lines_that_cannot_be_read_are_refused_one_by_one(run, oak):
    good = json.dumps({"query_id": "q1", "system": "one", "answer": "Old."}).encode()
    report = run(b"\n".join([good, b"{broken", b"[1]", b'{"query_id": "\xff"}', b"", good]))
    assert [each["line"] for each in report["refusals"]] == [2, 3, 4]
    assert became(report) == {"new": 1, "refused": 3, "repeated": 1}
    assert report["records"] == 5


def test_cells_that_are_missing_at_the_end_are_empty_and_too_many_refused(run, oak, rome):
    report = run("query_id,system,answer,note\nq1,one,Old\nq2,one\n", "a.csv")
    assert became(report) == {"new": 1, "empty": 1}
    assert report["hints"] == ["2 rows end before the head does: the missing cells are empty."]
    report = run("query_id,system,answer\nq1,one,Old, very old\n", "a.csv")
    assert refusals(report) == [
        (2, "line", "The line has 4 columns instead of 3. Quote a text that has the separator in it.")
    ]


def test_strict_refuses_the_file_at_the_first_bad_line_and_changes_nothing(run, oak):
    lines = [
        {"query_id": "q1", "system": "one", "answer": "Old."},
        {"query_id": "q1", "system": "two", "answer": "Old.", "opinion": "perhaps"},
    ]
    with pytest.raises(ImportRefusedError) as caught:
        run(lines, strict=True)
    assert str(caught.value).startswith("answers.jsonl, line 2, opinion: The opinion ")
    assert str(caught.value).endswith("Write one of these, or nothing. Nothing was imported.")
    assert not Candidate.objects.exists() and not System.objects.exists()


def test_a_dry_run_reports_the_same_and_stores_nothing(run, oak, rome):
    lines = [
        {"query_id": "q1", "system": "one", "answer": "It is old."},
        {"query_id": "q1", "system": "one", "answer": "Young."},
        {"query_id": "q2", "system": "one", "answer": "Rome."},
    ]
    dry = run(lines, dry_run=True)
    assert (
        not Candidate.objects.exists()
        and not System.objects.exists()
        and not Event.objects.filter(action="candidates.imported").exists()
    )
    wet = run(lines)
    assert dry["rules"] == wet["rules"] and dry["refusals"] == wet["refusals"]
    assert became(wet) == {"exact": 1, "new": 1, "conflict": 1}


def test_a_file_that_cannot_be_read_says_what_is_missing(run, oak, subtests):
    table = "query_id,answer\nq1,Old.\n"
    for content, words, options in (
        ("", "is empty", {}),
        ("\n \n", "no line that can be read", {}),
        ("{broken\n", "no object", {}),
        (table, "Nothing names the system", {}),
        ("query_id,system\nq1,one\n", "Nothing holds the answer", {}),
        ("system,answer\none,Old.\n", "Nothing names the query", {}),
        ("answer,answer\n1,2\n", "two columns have one name", {}),
        (table, "no field 'texts'", {"system": "x", "columns": {"texts": "answer"}}),
        (table, "no column 'reply'", {"system": "x", "columns": {"text": "reply"}}),
    ):
        with subtests.test(words=words), pytest.raises(ImportRefusedError, match=words):
            run(content, "a.csv", **options)


def test_a_column_of_answers_taken_for_systems_is_noticed(run, oak, monkeypatch):
    monkeypatch.setattr("judgments.services.imports.MOST_SYSTEMS", 3)
    lines = [{"query_id": "q1", "system": f"s{number}", "answer": "A."} for number in range(4)]
    with pytest.raises(ImportRefusedError, match="names more than 3 systems"):
        run(lines)


def test_the_size_of_batches_changes_nothing(project, oak, rome, tmp_path, monkeypatch):
    lines = [
        {"query_id": f"q{number % 3}", "system": f"s{number % 4}", "answer": f"A {number % 7}."}
        for number in range(40)
    ]
    path = write(tmp_path, "a.jsonl", lines)
    whole = import_candidates(project=project, path=path, dry_run=True)
    monkeypatch.setattr("judgments.services.imports.ROWS_AT_ONCE", 3)
    monkeypatch.setattr("judgments.services.imports._MOST", 2)
    monkeypatch.setattr("judgments.services.imports._CANDIDATES_AT_ONCE", 2)
    small = import_candidates(project=project, path=path)
    assert small["rules"] == whole["rules"]
    assert Candidate.objects.count() == whole["stored"]


def test_other_projects_and_unfinished_imports_lend_no_queries(run, project, oak):
    make_query(make_project(), "theirs", key="q7")
    oak.source.state = "importing"
    oak.source.save()
    report = run([{"query_id": key, "system": "one", "answer": "A."} for key in ("q1", "q7")])
    assert became(report) == {"unknown": 2}


# A look before, and the command


def test_a_preview_shows_rows_columns_and_what_is_refused(tmp_path, oak):
    path = write(tmp_path, "a.csv", "query_id,system,answer,opinion\nq1,one,Old.,\nq1,two,Old.,maybe\n")
    seen = preview(path)
    assert seen.columns == ["query_id", "system", "answer", "opinion"]
    assert seen.mapping == {
        "query_id": "query_id",
        "system": "system",
        "text": "answer",
        "opinion": "opinion",
    }
    assert [(row.line, row.system, row.text) for row in seen.rows] == [(2, "one", "Old.")]
    assert seen.refusals[0][0] == 3


def test_the_command_prints_counts_and_refusals(project, oak, tmp_path, capsys):
    User.objects.create_user("ada")
    path = write(tmp_path, "a.jsonl", [
        {"query_id": "q1", "system": "one", "answer": "It is old"},
        {"query_id": "q1", "system": "two", "answer": "Old."},
        {"query_id": "q8", "system": "two", "answer": "Old."},
    ])  # fmt: skip
    report = tmp_path / "report.json"
    call_command("import-candidates", "reading", str(path), "--report", str(report), "--as", "ada")
    said = capsys.readouterr().out
    assert "new, set aside: the same as a reference" in said
    assert "one: 1 exact" in said and "two: 1 new, 1 unknown" in said
    assert "a.jsonl, line 3, query_id: The project has no query with the id" in said
    assert json.loads(report.read_text())["stored"] == 2
    assert Event.objects.get(action="candidates.imported").actor.username == "ada"


def test_the_command_says_what_is_wrong_with_its_arguments(project, tmp_path, subtests):
    path = write(tmp_path, "a.csv", "query,answer\nhow old is oak,Old.\n")
    for arguments, words in (
        (["nowhere", "x"], "no project"),
        (["reading"], "Name a file"),
        (["reading", "x", "--human"], "Name a file"),
        (["reading", "missing.jsonl"], "cannot be read"),
        (["reading", "x", "--column", "text"], "not of the form"),
        (["reading", "x", "--as", "nobody"], "no user"),
        (["reading", str(path)], r"Give its name, .* \(--system NAME, --column FIELD=COLUMN, "),
    ):
        with subtests.test(arguments=arguments), pytest.raises(CommandError, match=words):
            call_command("import-candidates", *arguments)


def test_the_example_file_can_be_imported(project):
    make_query(project, "does rice keep", key="181574")
    make_query(project, "what is the capital of italy", "Rome, since 1871.")
    make_query(project, "how long does a cold last")
    call_command("import-candidates", "reading", "examples/candidates.jsonl")
    asides = list(Candidate.objects.order_by("pk").values_list("aside", flat=True))
    assert asides == ["", "", "", "exact", "empty"]


def test_an_import_that_another_one_overtakes_stores_nothing(project, oak, rome, tmp_path):
    lines = [{"query_id": key, "system": "one", "answer": "A."} for key in ("q2", "q1")]

    def overtaken(store):
        make_candidate(make_system(project, "one"), oak, "Another.")
        with transaction.atomic():
            return store()

    with pytest.raises(ImportRefusedError, match=r"another import .* Import it again"):
        import_candidates(project=project, path=write(tmp_path, "a.jsonl", lines), commit=overtaken)
    assert stored() == [("one", "q1", "Another.")]
    assert not CandidateSource.objects.exists()


def test_an_encoding_that_nobody_named_is_guessed_and_said(project, oak, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("query_id,system,answer\nq1,one,Très vieux à Genève\n".encode("cp1252"))
    report = import_candidates(project=project, path=path)
    assert stored() == [("one", "q1", "Très vieux à Genève")]
    assert report["encoding"] == "cp1252"
    assert report["encoding_words"].startswith("Windows-1252 (Western Europe), a guess")
