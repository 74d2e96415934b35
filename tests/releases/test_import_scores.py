"""`manage.py import-scores`: tables of human scores become read-only projects."""

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command

from annotation.importing.records import plain_digest, query_digest
from annotation.models import CuratedPassage, Query, QuerySource
from core.projects.models import Event, Membership, Project
from judgments.models import CandidateSource, ImportedScore, System
from releases.manifest import verify
from releases.models import PrivacyFinding, Release
from releases.storage import fetched_folder
from tests.cases import apart
from tests.workbooks import write_workbook

pytestmark = pytest.mark.django_db
TWO_SYSTEMS = [
    ["question", "answer", "reference1", "scores"],
    ["boiling point of water", "100 degrees", "100 °C at sea level", "4.6"],
    ["capital of italy", "Rome, of course", "Rome", "5"],
    ["boiling point of water", "it is hot", "100 °C at sea level", "1.25"],
    ["capital of italy", "Milan", "Rome", "1"],
]


def write(path: Path, rows: list[list[str]], delimiter: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return path


def lines(path: Path, *objects: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in objects), encoding="utf-8")
    return path


def run(path: Path, *options: str, release: bool = False) -> str:
    out = io.StringIO()
    call_command("import-scores", str(path), *options, stdout=out, no_release=not release)
    return out.getvalue()


def refused(path: Path, *options: str) -> str:
    """The words of a refusal, after which nothing is there."""
    before = Project.objects.count()
    with pytest.raises(CommandError) as error:
        run(path, *options)
    assert Project.objects.count() == before
    assert not Query.objects.filter(project__read_only=False).exists()
    return str(error.value)


def scores() -> list[tuple[str, str, str, float]]:
    rows = ImportedScore.objects.order_by("candidate__line", "candidate__system")
    return list(
        rows.values_list("candidate__query__text", "candidate__system__name", "candidate__text", "mean")
    )


def test_the_second_row_about_a_question_is_the_second_systems(tmp_path):
    run(write(tmp_path / "scores.csv", TWO_SYSTEMS))
    assert scores() == [
        ("boiling point of water", "system-1", "100 degrees", 4.6),
        ("capital of italy", "system-1", "Rome, of course", 5.0),
        ("boiling point of water", "system-2", "it is hot", 1.25),
        ("capital of italy", "system-2", "Milan", 1.0),
    ]
    query = Query.objects.get(text="capital of italy")
    assert (query.references, query.status) == (["Rome"], "answered")
    again = write(tmp_path / "copy.csv", TWO_SYSTEMS)
    assert "scores.csv is in the project scores already; nothing changed." in run(again)
    assert (Project.objects.count(), ImportedScore.objects.count()) == (1, 4)
    other = write(tmp_path / "scores.csv", TWO_SYSTEMS[:3])
    assert refused(other) == "There is already a project 'scores'. Name another one: --project NAME."
    run(other, "--project", "other")
    assert Project.objects.count() == 2


def test_typographic_marks_make_no_other_query(tmp_path):
    head = ["query_id", "question", "system", "answer", "score"]
    for name, key in (("ids", "q1"), ("texts", "")):
        rows = [[key, "What\u2019s new?", "a", "x", "3"], [key, "what's new?", "b", "y", "4"]]
        run(write(tmp_path / f"{name}.csv", [head, *rows]))
        assert [*Query.objects.filter(project__slug=name).values_list("text", flat=True)] == [rows[0][1]]
    query = Query.objects.get(project__slug="texts")
    assert query.digest == query_digest("What\u2019s new?")
    assert query.plain_digest == plain_digest("What\u2019s new?") == query_digest("what's new?")


def test_a_json_object_of_records_by_their_ids(tmp_path):
    path = tmp_path / "scores.json"
    rows = {"0": {"question": "capital of italy", "answer": "Rome", "score": 5, "system": "a"}}
    path.write_text(json.dumps(rows, indent=1))
    read_as = json.loads(run(path, "--json"))["read_as"]
    assert (read_as["left_out"], read_as["rows"]["used"]) == (["id"], 1)
    path.write_text(json.dumps({"data": [*rows.values()]}))
    assert "holds a list of records in its member 'data'" in refused(path)


def test_a_sheet_and_a_row_of_names_are_chosen(tmp_path):
    sheet = [["Scores of May"], [], *TWO_SYSTEMS]
    path = write_workbook(tmp_path / "scores.xlsx", {"About": [["text"]], "May": sheet})
    options = ("--sheet", "May", "--header-row", "3")
    read_as = json.loads(run(path, *options, "--json"))["read_as"]
    assert (read_as["sheet"], read_as["header_row"], read_as["rows"]["used"]) == ("May", 3, 4)
    assert "already; nothing changed" in run(path, *options)


def test_the_report_says_how_the_file_was_read_and_that_the_licence_is_not_known(tmp_path):
    path = write(tmp_path / "scores.csv", TWO_SYSTEMS, ";")
    read_as = json.loads(run(path, "--json"))["read_as"]
    assert read_as == CandidateSource.objects.get().report["read_as"] == {
        "encoding": "utf-8",
        "separator": ";",
        "sheet": None,
        "header_row": 1,
        "columns": {
            "query": ["question"],
            "answer": ["answer"],
            "score": ["scores"],
            "references": ["reference1"],
        },
        "left_out": [],
        "rows": {"read": 4, "used": 4, "merged": 0, "repeats": 0, "refused": 0},
    }  # fmt: skip
    said = run(write(tmp_path / "Scores of 2026.csv", TWO_SYSTEMS))
    assert "answer from answer; score from scores; query from question; references from reference1" in said
    assert "The read-only project scores-of-2026 has 2 queries and 4 scored answers:" in said
    assert "  system-2: 2" in said
    assert "No licence is stated" in said


def test_the_project_is_read_only_and_says_where_its_scores_come_from(tmp_path):
    get_user_model().objects.create_user("ada")
    run(
        write(tmp_path / "scores.csv", TWO_SYSTEMS),
        *("--project", "kitchen", "--title", "Kitchen questions", "--licence", "CC-BY-4.0"),
        *("--language", "en-GB", "--owner", "ada"),
    )
    project = Project.objects.get()
    assert (project.slug, project.title, project.licence) == ("kitchen", "Kitchen questions", "CC-BY-4.0")
    assert (project.language, project.read_only) == ("en-GB", True)
    assert Membership.objects.get().role == "owner"
    source = CandidateSource.objects.get()
    assert (source.name, source.format, len(source.sha256)) == ("scores.csv", "scores", 64)
    assert QuerySource.objects.get().state == "ready"
    event = Event.objects.get(action="scores.imported")
    assert event.details == {"queries": 2, "answers": 4, "systems": {"system-1": 2, "system-2": 2}}


def test_the_same_file_read_in_another_way_needs_another_project(tmp_path):
    file = write(tmp_path / "scores.csv", TWO_SYSTEMS)
    run(file, "--project", "one")
    said = refused(file, "--project", "one", "--scale", "0-5")
    assert "has this file already, read in another way" in said


def test_systems_without_a_column_get_the_names_that_are_given(tmp_path):
    said = refused(write(tmp_path / "s.csv", TWO_SYSTEMS), "--system-names", "first")
    assert said.splitlines()[0] == (
        "s.csv, line 4, query (column 'question'): This is answer 2 to the query; systems that are named: 1. "
        "Name as many systems as a query has rows, or map the column that holds the system."
    )
    file = write(tmp_path / "s.csv", [["query", "answer", "score", "model"], ["a", "b", "3", "X"]])
    assert "names its systems in the column 'model'" in refused(file, "--system-names", "Y")
    run(write(tmp_path / "s.csv", TWO_SYSTEMS), "--system-names", "first", "second")
    assert list(System.objects.order_by("pk").values_list("name", flat=True)) == ["first", "second"]


def test_a_row_that_only_brings_another_reference_is_no_further_system(tmp_path):
    file = write(
        tmp_path / "s.csv",
        [
            ["question", "answer", "reference", "score"],
            ["capital of italy", "Rome", "Roma", "5"],
            ["capital of italy", "Rome", "the city of Rome", "5"],
            ["capital of italy", "Milan", "Roma", "1"],
        ],
    )
    assert "1 rows only added references to earlier ones." in run(file)
    assert Query.objects.get().references == ["Roma", "the city of Rome"]
    assert [name for _, name, _, _ in scores()] == ["system-1", "system-2"]
    row = ["capital of italy", "Rome", "Roma", "5"]
    run(write(tmp_path / "t.csv", [["question", "answer", "reference", "score"], row, row]))
    assert ImportedScore.objects.filter(candidate__query__project__slug="t").count() == 2


def test_a_tsv_on_another_scale_with_single_ratings_in_columns(tmp_path):
    file = write(
        tmp_path / "s.tsv",
        [
            ["Query", "Response", "Model", "Rating 1", "Rating 2", "Rating 3"],
            ["capital of italy", "Rome", "X", "90", "100", ""],
            ["capital of italy", "Milan", "Y", "0", "5", "10"],
        ],
        delimiter="\t",
    )
    run(file, "--scale", "0-100")
    found = ImportedScore.objects.order_by("pk").values_list(
        "mean", "n", "ratings", "scale_low", "scale_high"
    )
    assert list(found) == [(95.0, 2, [90.0, 100.0], 0.0, 100.0), (5.0, 3, [0.0, 5.0, 10.0], 0.0, 100.0)]


def test_jsonl_with_lists_of_ratings_references_and_passages(tmp_path):
    file = lines(
        tmp_path / "s.jsonl",
        {
            "question_id": 17,
            "question": "capital of italy",
            "candidate": "Rome",
            "system": "human",
            "references": ["Rome", "Roma"],
            "context": "Rome is the capital of Italy.",
            "scores": [0.5, 1, 1],
        },
    )
    run(file, "--scale", "0-1")
    query = Query.objects.get()
    assert (query.key, query.references) == ("17", ["Rome", "Roma"])
    score = ImportedScore.objects.get()
    assert (round(score.mean, 4), score.n, score.ratings) == (0.8333, 3, [0.5, 1.0, 1.0])
    assert System.objects.get().kind == "human"
    assert CuratedPassage.objects.get().candidate.text == "Rome is the capital of Italy."


def test_the_same_question_about_two_passages_or_after_other_turns_is_two_queries(tmp_path):
    common = {"question": "who is it?", "answer": "Ada", "model": "X", "score": 5}
    run(lines(tmp_path / "s.jsonl", *(common | {"passage": text} for text in ("Ada sings.", "Bob sings."))))
    assert Query.objects.count() == 2
    turns = ("capital of italy", "food of italy")
    run(lines(tmp_path / "t.jsonl", *(common | {"history": [text]} for text in turns)))
    contexts = Query.objects.filter(project__slug="t").order_by("pk").values_list("context", flat=True)
    assert list(contexts) == [[{"text": text}] for text in turns]


def test_columns_are_mapped_by_their_names_or_numbers(tmp_path):
    file = tmp_path / "s.csv.gz"
    file.write_bytes(gzip.compress(b"capital of italy;X;Rome;5\n"))
    run(
        file,
        *("--no-header", "--column", "query=1", "--column", "system=2"),
        *("--column", "answer=3", "--column", "score=4"),
    )
    assert scores() == [("capital of italy", "X", "Rome", 5.0)]
    assert Project.objects.get().slug == "s"
    head = ["frage", "antwort", "gold A", "gold B", "note"]
    file = write(tmp_path / "t.csv", [head, ["wo?", "dort", "hier", "da", "2"]])
    run(
        file,
        *("--column", "query=frage", "--column", "answer=antwort", "--column", "score=note"),
        *("--column", "references=gold A", "--column", "references=gold B"),
    )
    assert Query.objects.get(project__slug="t").references == ["hier", "da"]


def test_a_bad_row_refuses_the_file_with_line_field_and_remedy(tmp_path):
    head = ["question", "answer", "score"]
    for row, words in (
        (
            ["", "Rome", "5"],
            "line 2, query (column 'question'): The query is empty. Give the query's text in",
        ),
        (["capital", "", "5"], "line 2, answer: The answer is empty. Leave the row out"),
        (["capital", "Rome", ""], "line 2, score: The row has no score. Leave the row out"),
        (["capital", "Rome", "good"], "line 2, score: The score “\u2068good\u2069” is no number."),
        (["capital", "Rome", "4,500"], "The score is ambiguous: 4,500 may be 4.500 or 4500"),
        (["capital", "Rome", "nan"], "is no number."),
        (
            ["capital", "Rome", "73"],
            "line 2, score: The score 73 is not on the scale from 1 to 5. If the scale is another, say so: "
            "--scale LOW-HIGH.",
        ),
        (["capital", "Rome", "5", "more"], "line 2: The line has 4 columns instead of 3."),
    ):
        why = refused(write(tmp_path / "s.csv", [head, row, ["ok", "ok", "3"]]))
        assert words in why
        assert why.endswith("Nothing was imported.")
    why = refused(write(tmp_path / "s.csv", [head, *[["q", "a", "9"]] * 12]))
    assert why.count("is not on the scale") == 10
    assert "… and 2 more." in why


def test_cells_that_are_missing_at_the_end_are_empty_counted_and_told(tmp_path):
    path = write(tmp_path / "s.csv", [["question", "answer", "score", "note"], ["capital", "Rome", "5"]])
    assert "1 row ends before the head does: the missing cells are empty." in run(path)
    assert scores() == [("capital", "system-1", "Rome", 5.0)]


def test_what_contradicts_itself_is_refused(tmp_path):
    header = ["question", "model", "answer", "score"]
    two = write(tmp_path / "s.csv", [header, ["q", "X", "a", "3"], ["q", "X", "b", "3"]])
    assert (
        "line 3, answer: The system “\u2068X\u2069” has another answer to this query in line 2."
        in refused(two)
    )
    two = write(tmp_path / "s.csv", [header, ["q", "X", "a", "3"], ["q", "X", "a", "4"]])
    assert "Write all ratings of an answer into one row" in refused(two)
    header = ["question_id", "question", "model", "answer", "score"]
    file = write(tmp_path / "s.csv", [header, ["1", "one", "X", "a", "3"], ["1", "two", "Y", "b", "3"]])
    assert "The id “\u20681\u2069” is another query's in line 2" in refused(file)
    file = lines(tmp_path / "s.jsonl", {"question": "q", "answer": "a", "n": 3, "ratings": [1, 2]})
    assert "The row says 3 ratings and has 2." in refused(file)
    file = lines(tmp_path / "s.jsonl", {"question": "q\u0000", "answer": "a", "score": 3})
    assert "s.jsonl, line 1: It holds a NUL character; text has none." in refused(file)
    rating = {"worker": "w1", "score": 4}
    path = lines(tmp_path / "scores.jsonl", {"question": "capital", "answer": "Rome", "ratings": [rating]})
    assert "A rating has the members 'worker', 'score', and only numbers are taken." in refused(path)


def test_two_columns_that_may_hold_the_human_score_are_asked_about(tmp_path):
    head = ["question", "answer", "reference1", "score", "rating"]
    rows = [head, ["capital", "Rome", "Rome", "2.5", "5"], ["river", "Po", "Po", "1.5", "1"]]
    path = write(tmp_path / "scores.csv", rows)
    words = refused(path)
    assert words.endswith("may be in any of 'score', 'rating'. Say which column does: --column score=rating.")
    run(path, "--column", "score=rating")
    assert sorted(ImportedScore.objects.values_list("mean", flat=True)) == [1.0, 5.0]


def test_a_column_of_people_by_its_name_is_the_human_score(tmp_path, subtests):
    for column in ["scores", "correctness"]:
        with apart(subtests, column=column):
            head = ["question", "answer", "reference1", column, "human score"]
            run(write(tmp_path / "scores.csv", [head, ["capital", "Rome", "Rome", "2.5", "5"]]))
            assert ImportedScore.objects.get().mean == 5


def test_a_score_that_is_not_the_mean_of_the_ratings_beside_it_is_said(tmp_path):
    head = ["question", "answer", "score", "rating1", "rating2"]
    path = write(
        tmp_path / "scores.csv",
        [head, ["capital", "Rome", "4.5", "5", "4"], ["river", "Po", "1.5", "5", "4"]],
    )
    said = " ".join(run(path).split())
    assert "Rows whose score is not the mean of the single ratings beside it: 1, the first in line 3." in said
    run(path, "--column", "score=", "--project", "again")
    assert ImportedScore.objects.latest("pk").mean == 4.5


def test_ratings_with_nothing_but_commas_between_them_are_refused(tmp_path):
    """Beside 4,4,5 a cell 3,4 would be three and four tenths."""
    head = ["question", "answer", "ratings"]
    path = write(tmp_path / "scores.csv", [head, ["capital", "Rome", "3,4"], ["river", "Po", "4,4,5"]])
    assert "line 3, ratings: “\u20684,4,5\u2069” is no number. Write several" in refused(path)
    run(write(tmp_path / "scores.csv", [head, ["capital", "Rome", "[3,4]"], ["river", "Po", "4, 4, 5"]]))
    assert [each.ratings for each in ImportedScore.objects.order_by("pk")] == [[3, 4], [4, 4, 5]]


def test_a_file_that_is_not_there_or_empty_is_refused(tmp_path):
    assert "nothing.csv" in refused(tmp_path / "nothing.csv")
    for scale in ("5", "5-1", "one-five"):
        assert "scale" in refused(write(tmp_path / "s.csv", TWO_SYSTEMS), "--scale", scale)
    (tmp_path / "empty.csv").touch()
    assert "empty.csv is empty." in refused(tmp_path / "empty.csv")
    only_header = write(tmp_path / "s.csv", TWO_SYSTEMS[:1])
    assert refused(only_header) == "s.csv has no row with an answer and its score."
    assert (
        refused(write(tmp_path / "s.csv", TWO_SYSTEMS), "--owner", "bob") == "There is no user named 'bob'."
    )
    said = refused(write(tmp_path / "s.csv", [["question", "answer", "note"], ["q", "a", "3"]]))
    assert said == (
        "Nothing holds the human score. s.csv has 'question', 'answer', 'note'. Say which column does: "
        "--column score=COLUMN, or --column ratings=COLUMN for single ratings."
    )


def test_the_project_gets_a_release_that_is_marked_imported(tmp_path):
    said = run(write(tmp_path / "scores.csv", TWO_SYSTEMS), release=True)
    again = run(tmp_path / "scores.csv", release=True)
    assert again.splitlines()[-1] == said.splitlines()[-1], "the release that is there"
    release = Release.objects.get()
    assert (release.version, release.state, release.imported) == ("1.0.0", "ready", True)
    assert f"digest of manifest.json: {release.digest}" in said
    with fetched_folder(release) as folder:
        assert verify(folder).problems == []
        assert "> **IMPORTED.**" in (folder / "README.md").read_text(encoding="utf-8")
        found = list(map(json.loads, (folder / "jsonl/scores-train.jsonl").read_text().splitlines()))
        assert [(each["system"], each["mean"]) for each in found] == [
            ("system-1", 4.6),
            ("system-2", 1.25),
            ("system-1", 5.0),
            ("system-2", 1.0),
        ]
        answers = json.loads((folder / "jsonl/references-train.jsonl").read_text().splitlines()[1])["answers"]
        assert [each["text"] for each in answers] == ["Rome"]
        assert (folder / "mt-metrics-eval/human-scores/en-en.imported.sys.score").read_text() == (
            "system-1\t4.8\nsystem-2\t1.125\n"
        )


def test_single_ratings_are_in_the_release_also_fractions(tmp_path):
    file = lines(tmp_path / "s.jsonl", {"question": "q", "answer": "a", "ratings": [0.25, 1, 1]})
    run(file, "--scale", "0-1", release=True)
    with fetched_folder(Release.objects.get()) as folder:
        found = json.loads((folder / "jsonl/scores-train.jsonl").read_text())
    assert (found["n_raw"], found["mean"], found["median"]) == (3, 0.75, 1.0)
    assert [each["score"] for each in found["kept"]] == [0.25, 1, 1]


def test_what_may_tell_who_somebody_is_can_wait_for_a_person_before_the_release(tmp_path):
    file = write(tmp_path / "scores.csv", [*TWO_SYSTEMS, ["who?", "write to ada@example.org", "Ada", "3"]])
    with pytest.raises(CommandError, match=r"privacy check has one finding .* The scores are imported"):
        run(file, "--stop-at-findings", release=True)
    assert (Project.objects.count(), Release.objects.count()) == (1, 0)
    run(file, "--accept-findings", "an example", release=True)
    assert PrivacyFinding.objects.get().reason == "an example"
    assert Release.objects.get().state == "ready"


def test_what_the_file_has_already_is_accepted_for_that_reason(tmp_path):
    file = write(tmp_path / "scores.csv", [*TWO_SYSTEMS, ["who?", "write to ada@example.org", "Ada", "3"]])
    assert "Accepted what the privacy check found: 1 that the file has already" in run(file, release=True)
    assert PrivacyFinding.objects.get().reason == "It is in scores.csv, which was made elsewhere."
    assert Release.objects.get().state == "ready"


def test_the_example_is_imported():
    example = Path(__file__).parents[2] / "examples/scores.csv"
    said = run(example)
    assert "2 queries and 4 scored answers" in said
    score = ImportedScore.objects.get(candidate__line=2)
    assert (round(score.mean, 3), score.n, score.ratings) == (4.667, 3, [5.0, 5.0, 4.0])
    assert Query.objects.first().references == [
        "Three to four days in the fridge.",
        "It keeps four days if it is cold.",
    ]
