"""How files go into a corpus: split, without repetitions, bit by bit; and what is deleted again."""

import json
import tracemalloc

import pytest
from django.core.management import CommandError

from core.projects.models import Event
from retrieval.errors import FileRefusedError
from retrieval.models import Corpus, Index, Passage
from retrieval.passage_files import open_passages
from retrieval.sentences import WindowOptions
from retrieval.services import corpora, repeats
from retrieval.services.corpora import AdditionOptions, add_file, add_passages
from retrieval.services.indexing import build_index
from tests.retrieval.test_commands import run
from tests.retrieval.world import make_corpus, make_project, search, write
from tests.workbooks import write_workbook

pytestmark = pytest.mark.django_db

LONG = "Oaks grow slowly. They live long. Acorns fall. Jays eat them. Some sprout."
OAKS = "The oak is a large tree that grows slowly and lives for many hundred years in the woods of the north."


def keys(corpus):
    return list(Passage.objects.filter(corpus=corpus).order_by("pk").values_list("key", flat=True))


def added(corpus, tmp_path, *passages, **options):
    return add_file(
        corpus=corpus, file=open_passages(write(tmp_path, *passages)), options=AdditionOptions(**options)
    )


@pytest.fixture
def corpus(tmp_path):
    return make_corpus(tmp_path, index=False)


def test_documents_become_passages_with_their_place_in_the_document_or_its_page(corpus, tmp_path):
    document = {"id": "oaks", "text": LONG, "title": "Oaks", "url": "https://example.org/oaks"}
    assert added(corpus, tmp_path, document, splitting=WindowOptions(3, 2)).passages == 2
    first, second = Passage.objects.filter(corpus=corpus).order_by("pk")
    assert (first.key, first.text) == ("oaks#1", "Oaks grow slowly. They live long. Acorns fall.")
    assert (second.key, second.text) == ("oaks#2", "Acorns fall. Jays eat them. Some sprout.")
    assert (second.page, second.title, second.url) == ("oaks", "Oaks", "https://example.org/oaks")
    assert LONG[second.start : second.end] == second.text
    part = {"id": "a", "text": "One is. Two is.", "group": "page", "start": 100, "end": 115}
    added(corpus, tmp_path, part, splitting=WindowOptions(1, 1))
    found = Passage.objects.filter(corpus=corpus, page="page").order_by("pk")
    assert list(found.values_list("page", "start", "end")) == [("page", 100, 107), ("page", 108, 115)]


@pytest.mark.long
def test_documents_may_be_longer_than_passages(corpus, tmp_path):
    text = "A sentence of some words. " * 20_000
    with pytest.raises(FileRefusedError, match="has 520,000 characters; 200,000 are kept"):
        added(corpus, tmp_path, text)
    assert added(corpus, tmp_path, text, splitting=WindowOptions(100, 100)).passages == 200


def test_ids_that_get_too_long_or_repeat_within_the_file_are_faults(corpus, tmp_path):
    with pytest.raises(FileRefusedError, match=r"line 1 \[id\]: with the number of its passage it has 201"):
        added(corpus, tmp_path, {"id": "a" * 199, "text": "One."}, splitting=WindowOptions(1, 1))
    with pytest.raises(FileRefusedError, match="the id 'a' is on line 1 already"):
        added(corpus, tmp_path, {"id": "a", "text": "x"}, {"id": "a", "text": "y"}, skip_known=True)
    with pytest.raises(FileRefusedError):
        added(corpus, tmp_path, OAKS, {"id": "p1", "text": "Another."}, repeats="skip", near=0.8)
    assert keys(corpus) == []


def test_repetitions_are_not_looked_for_unless_asked(corpus, tmp_path):
    assert added(corpus, tmp_path, "A cat.", "a CAT").repeats.total == 0
    assert set(Passage.objects.filter(corpus=corpus).values_list("digest", flat=True)) == {""}


def test_repetitions_are_told_and_stay(corpus, tmp_path):
    told = []
    file = open_passages(write(tmp_path, "A cat.", "A dog.", "a CAT", "a cat!"))
    options = AdditionOptions(repeats="report")
    found = add_file(corpus=corpus, file=file, options=options, report_repeat=told.append)
    assert (found.passages, found.repeats.counts) == (4, {"words": 2})
    assert [(each.line, each.key, each.of) for each in told] == [(3, "p3", "p1"), (4, "p4", "p1")]
    assert str(told[0]) == "p3 has the words of p1"


def test_repetitions_are_left_out(corpus, tmp_path):
    assert added(corpus, tmp_path, "A cat.", "A dog.", "a CAT", repeats="skip").passages == 2
    assert keys(corpus) == ["p1", "p2"]
    assert Event.objects.get(project=corpus.project, action="passages.added").details["repeats"] == {
        "words": 1
    }


def test_repetitions_of_earlier_batches_and_earlier_additions_are_found(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(corpora, "BATCH", 2)
    monkeypatch.setattr(repeats, "_AT_ONCE", 1)
    add_passages(
        corpus=corpus,
        file=open_passages(
            write(tmp_path, {"id": "old", "text": "A cat."}, {"id": "older", "text": "A fox."})
        ),
    )
    found = added(corpus, tmp_path, "A dog.", "One.", "a dog", "Two.", "a cat", repeats="skip")
    assert [(each.key, each.of) for each in found.repeats.examples] == [("p3", "p1"), ("p5", "old")]
    assert keys(corpus) == ["old", "older", "p1", "p2", "p4"]


def test_near_repetitions_are_left_out_too(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(corpora, "BATCH", 2)
    add_passages(corpus=corpus, file=open_passages(write(tmp_path, {"id": "old", "text": OAKS})))
    other = OAKS.replace("north", "south")
    found = added(
        corpus, tmp_path, "Something else.", other, {"id": "c", "text": OAKS[4:]}, repeats="skip", near=0.7
    )
    assert [(each.key, each.of, each.by) for each in found.repeats.examples] == [
        ("p2", "old", "text"),
        ("c", "old", "text"),
    ]
    assert str(found.repeats.examples[0]) == "p2 is nearly old (90% in common)"
    assert keys(corpus) == ["old", "p1"]


def test_regions_of_one_page_that_are_nearly_one_are_left_out(corpus, tmp_path):
    one = {"text": "x " * 50, "group": "page", "start": 0, "end": 100}
    two = {"text": "y " * 45, "group": "page", "start": 10, "end": 100}
    found = added(
        corpus, tmp_path, one, two, {**two, "group": "other", "text": "z " * 45}, repeats="skip", near=0.8
    )
    assert (found.passages, str(found.repeats.examples[0])) == (2, "p2 is the region of p1 (90% in common)")


def test_options_that_cannot_be_are_refused_in_words():
    for options, words in (
        ({"repeats": "drop"}, "one of keep, report, skip, not drop"),
        ({"near": 0.8}, "looked for only with report or skip"),
        ({"repeats": "skip", "near": 0.1}, r"0\.3 to 1 in common, not 0\.1"),
        ({"repeats": "skip", "near": float("nan")}, "not nan"),
    ):
        with pytest.raises(ValueError, match=words):
            AdditionOptions(**options)


@pytest.mark.long
@pytest.mark.parametrize("options", [{"repeats": "skip"}, {"repeats": "skip", "near": 0.8}], ids=str)
def test_memory_stays_small_when_repetitions_are_looked_for(corpus, tmp_path, monkeypatch, options):
    monkeypatch.setattr(corpora, "BATCH", 250)
    path = tmp_path / "many.jsonl"
    with path.open("w") as file:
        for number in range(2000):
            words = " ".join(str((number * place) % 9973) for place in range(1, 60))
            file.write(json.dumps({"id": number, "text": words}) + "\n")
    added = open_passages(write(tmp_path, "what is loaded once is loaded now"))
    add_file(corpus=corpus, file=added, options=AdditionOptions(**options))
    tracemalloc.start()
    try:
        assert (
            add_file(corpus=corpus, file=open_passages(path), options=AdditionOptions(**options)).passages
            == 2000
        )
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()


def test_what_the_corpus_has_can_be_left_out_of_a_file_that_has_grown(corpus, tmp_path):
    added(corpus, tmp_path, "One.", "Two.")
    found = added(corpus, tmp_path, "One, again.", "Two.", "Three.", skip_known=True)
    assert (found.passages, found.known) == (1, 2)
    assert keys(corpus) == ["p1", "p2", "p3"]


@pytest.fixture
def project():
    return make_project()


def test_the_command_splits_and_leaves_out_and_reports(project, tmp_path):
    path = write(tmp_path, {"id": "a", "text": LONG}, {"id": "b", "text": "Oaks grow slowly."})
    report = tmp_path / "repeats.jsonl"
    said = run(
        *("corpus", "add", project.slug, path, "--slug", "oaks", "--split", "1"),
        *("--duplicates", "skip", "--near-duplicates", "0.8", "--report", report),
    )
    assert said.splitlines()[:4] == [
        f"5 passages added to {project.slug}/oaks.",
        "Read as JSON Lines, UTF-8: 2 rows read = 1 used + 0 merged + 1 identical repeat + 0 refused.",
        "Repetitions of other passages, left out: 1 (1 word for word):",
        "  b#1 has the words of a#1",
    ]
    assert json.loads(report.read_text()) == {
        "line": 2,
        "key": "b#1",
        "of": "a#1",
        "by": "words",
        "share": 1.0,
    }


def test_the_command_tells_of_repetitions_by_itself(project, tmp_path):
    path = write(tmp_path, "A cat.", "a cat")
    said = run("corpus", "add", project.slug, path, "--slug", "cats")
    assert "Repetitions of other passages, added anyway" in said
    again = run("corpus", "add", project.slug, path, "--slug", "cats", "--skip-known", "--json")
    assert json.loads(again) == {
        "corpus": "cats",
        "read_as": "JSON Lines, UTF-8",
        "counts": {"rows_read": 2, "used": 0, "merged": 0, "repeats": 0, "refused": 2},
        "added": 0,
        "known": 2,
        "same_id": {"left_out": 0, "numbered": 0, "examples": []},
        "repeats": {},
        "examples": [],
        "left_out": False,
    }


REPEATED = [
    {"id": "a", "text": "A red cat."},
    {"id": "b", "text": "A dog."},
    {"id": "a", "text": "A red cat."},
    {"id": "a", "text": "A black cat."},
    {"id": "a", "text": "A white cat."},
]


@pytest.mark.parametrize("batch", [2, 5000])
def test_repeated_ids_are_kept_once_or_numbered(project, tmp_path, monkeypatch, batch):
    monkeypatch.setattr(corpora, "BATCH", batch)
    path = write(tmp_path, *REPEATED)
    where = "on line 1" if batch == 5000 else "further up"
    words = rf"line 4 \[id\]: the id 'a' is {where} already, with another text"
    with pytest.raises(CommandError, match=words):
        run("corpus", "add", project.slug, path, "--slug", "refused")
    assert not Passage.objects.exists()
    for same_id, keys, used, refused in (
        ("first", ["a", "b"], 2, 2), ("number", ["a", "a-2", "a-3", "b"], 4, 0),
    ):  # fmt: skip
        command = ("corpus", "add", project.slug, path, "--slug", f"cats-{same_id}", "--json")
        said = json.loads(run(*command, "--same-id", same_id))
        counts = {"rows_read": 5, "used": used, "merged": 0, "repeats": 1, "refused": refused}
        assert said["counts"] == counts
        found = Passage.objects.filter(corpus__slug=f"cats-{same_id}").values_list("key", flat=True)
        assert sorted(found) == keys
        assert json.loads(run(*command, "--same-id", "first"))["added"] == 0


def test_a_document_with_a_repeated_id_is_kept_whole_or_not_at_all(project, tmp_path):
    longer = {"id": "a", "text": f"{LONG} One more sentence is here. And another one."}
    path = write(tmp_path, {"id": "a", "text": LONG}, longer, {"id": "a", "text": LONG})
    for same_id, documents in (("first", {"a"}), ("number", {"a", "a-2"})):
        command = ("corpus", "add", project.slug, path, "--slug", same_id, "--split", "1")
        said = json.loads(run(*command, "--duplicates", "keep", "--same-id", same_id, "--json"))
        assert said["counts"]["repeats"] == 1
        keys = Passage.objects.filter(corpus__slug=same_id).values_list("key", flat=True)
        assert {key.partition("#")[0] for key in keys} == documents
        assert len(keys) == said["added"]


def test_a_table_of_another_kind_is_read_as_it_is_said(project, tmp_path):
    table = tmp_path / "table.csv"
    table.write_bytes("Nr;Antwort;Thema\n7;Die Eiche wächst über 500 Jahre;Bäume\n".encode("cp1252"))
    columns = ("--column", "id=Nr", "--column", "text=Antwort", "--column", "title=Thema")

    said = json.loads(run("corpus", "add", project.slug, table, *columns, "--json"))

    assert said["read_as"].startswith("CSV, separated by semicolon, Windows-1252 (Western Europe), a guess")
    row = Passage.objects.get()
    assert (row.key, row.text, row.title) == ("7", "Die Eiche wächst über 500 Jahre", "Bäume")
    with pytest.raises(CommandError, match="there is no column 'Nummer', only Nr, Antwort, Thema"):
        run("corpus", "add", project.slug, table, "--column", "id=Nummer", "--slug", "x")
    with pytest.raises(CommandError, match="'rot13' is no encoding of text files"):
        run("corpus", "add", project.slug, table, *columns, "--encoding", "rot13", "--slug", "x")


def test_a_workbook_is_read_and_its_faults_name_sheet_and_row(project, tmp_path):
    table = [["text", "url"], ["A red cat.", "u"], ["A dog.", ""]]
    path = write_workbook(tmp_path / "pets.xlsx", {"Notes": [["not this"]], "Pets": table})
    number = ("corpus", "add", project.slug, path, "--sheet", "Pets", "--column", "id=", "--json")

    said = json.loads(run(*number))

    assert said["read_as"] == "a workbook, sheet 'Pets'"
    assert list(Passage.objects.order_by("pk").values_list("key", "text")) == [
        ("2", "A red cat."),
        ("3", "A dog."),
    ]
    write_workbook(path, {"Pets": [*table, ["", "u"]]})
    with pytest.raises(CommandError, match=r"sheet 'Pets', row 4 \[text\]: it is missing or empty"):
        run(*number, "--slug", "x")


def test_passages_are_deleted_by_a_file_of_ids(project, tmp_path):
    run("corpus", "add", project.slug, write(tmp_path, "A red cat.", "A black cat."), "--slug", "cats")
    corpus = Corpus.objects.get(project=project)
    build_index(corpus=corpus)
    ids = tmp_path / "ids.txt"
    ids.write_text("p1\n\np7\np1\n")
    said = run("corpus", "delete", project.slug, "cats", "--ids", ids)
    assert said == f"1 passage deleted from {project.slug}/cats.\nIds that are not in it: 1 of 2.\n"
    assert [hit.passage.key for hit in search([corpus], "cat")] == ["p2"]
    assert Index.objects.get(corpus=corpus).passages == 1


def test_options_that_cannot_be_are_sentences_and_make_no_corpus(project, tmp_path):
    for arguments, words in (
        (("--stride", "3"), "--stride needs --split"),
        (("--split", "0"), "A window has 1 to 100 sentences, not 0"),
        (("--split", "5", "--stride", "9"), "The stride is 1 to 5 sentences"),
        (("--near-duplicates", "7"), "not 7"),
        (("--duplicates", "keep", "--report", "x"), "--report needs"),
        (("--report", "/nowhere/x"), "cannot be written: No such file"),
    ):
        with pytest.raises(CommandError, match=words):
            run("corpus", "add", project.slug, write(tmp_path, "x"), *arguments)
        assert not Corpus.objects.filter(project=project).exists()


def test_a_file_of_ids_that_is_none_is_refused(project, tmp_path):
    run("corpus", "add", project.slug, write(tmp_path, "x"), "--slug", "cats")
    ids = tmp_path / "ids.txt"
    for content, words in (
        (None, "No such"),
        (b"\n \n", "There is no id"),
        (b"\xff", r"no UTF-8 text \(byte 1\)"),
    ):
        if content is not None:
            ids.write_bytes(content)
        with pytest.raises(CommandError, match=words):
            run("corpus", "delete", project.slug, "cats", "--ids", ids)
