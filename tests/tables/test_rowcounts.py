"""One sum for every import: rows read = used + merged + identical repeats + refused."""

import csv
import io
import json

import pytest
from django.core.management import CommandError, call_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.files.refusals import FileRefusedError, RowCounts, sum_in_words
from core.files.text_source import TextSource
from judgments.rating_table import read_ratings
from judgments.services.imports import Options, import_candidates
from marketplace import clock
from marketplace.heritage.workerfiles import grant_lines, open_grants
from marketplace.models import Worker
from marketplace.qualifications.grants import grant_many
from releases.score_files import Scale, open_table
from releases.score_imports import Spool, _read
from tests.judgments.candidates_world import make_project, make_query
from tests.scale import limit_cases
from tests.site import world

MESSY = settings(
    max_examples=limit_cases(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
CELLS = st.sampled_from(["", "q1", "q2", "a", "b", "Who", "who ", "4", "3,5", "9", '"', "ü"])
#: With a byte that makes a file look binary, which some imports refuse whole.
ODD_CELLS = st.one_of(CELLS, st.just("x\0y"))


def tables_of(columns: int, cells: st.SearchStrategy[str] = CELLS):
    return st.lists(st.lists(cells, min_size=columns, max_size=columns), max_size=20)


def written(path, head, rows):
    """A table as people save it; quotation marks and zeros stand in it as they were typed."""
    path.write_text(head + "\n" + "".join(",".join(row) + "\n" for row in rows), encoding="utf-8")
    return path


def filled(rows):
    return sum(any(cell.strip() for cell in row) for row in rows)


def test_a_sum_that_does_not_hold_is_an_error():
    with pytest.raises(ValueError, match="5 rows were read"):
        RowCounts(5, used=3, refused=1)
    assert sum_in_words(RowCounts(1200, 1000, 150, 50).as_json()) == (
        "1,200 rows read = 1,000 used + 150 merged + 50 identical repeats + 0 refused"
    )


@pytest.mark.long
@pytest.mark.django_db
@MESSY
@given(rows=tables_of(4))
def test_the_sum_holds_for_systems_answers(tmp_path_factory, rows, project_with_queries):
    path = written(tmp_path_factory.mktemp("answers") / "a.csv", "query_id,query,system,answer", rows)
    report = import_candidates(project=project_with_queries, path=path, options=Options(), dry_run=True)
    counts = report["counts"]
    assert counts["rows_read"] == counts["used"] + counts["merged"] + counts["repeats"] + counts["refused"]
    assert counts["rows_read"] == report["records"]


@pytest.fixture
def project_with_queries(db):
    project = make_project("sums")
    make_query(project, "Who", "He.", key="q1")
    make_query(project, "a", key="q2")
    return project


def test_a_second_import_of_answers_adds_nothing_and_says_so(project_with_queries, tmp_path, capsys):
    path = written(tmp_path / "a.csv", "query_id,system,answer", [["q1", "s", "He did."], ["q2", "s", "x"]])
    call_command("import-candidates", "sums", str(path), "--json")
    assert json.loads(capsys.readouterr().out)["counts"] == {
        "rows_read": 2, "used": 2, "merged": 0, "repeats": 0, "refused": 0,
    }  # fmt: skip
    call_command("import-candidates", "sums", str(path))
    said = capsys.readouterr().out
    assert "2 rows read = 0 used + 0 merged + 2 identical repeats + 0 refused." in said
    assert "Nothing was added: the project has all of these answers already." in said


@MESSY
@given(rows=tables_of(5, ODD_CELLS))
def test_the_sum_holds_for_human_scores_or_the_file_is_refused(tmp_path_factory, rows):
    room = tmp_path_factory.mktemp("scores")
    path = written(room / "s.csv", "query,answer,system,score,reference", rows)
    with Spool(room, named=True) as spool:
        try:
            _read(open_table(TextSource(path)), Scale(1, 5), spool)
        except FileRefusedError:
            return
        assert spool.counts().rows_read == filled(rows)


def test_human_scores_count_rows_that_only_add_a_reference(tmp_path, db, capsys):
    rows = [
        ["who is he", "Ada", "one", "4", "Ada L."],
        ["who is he", "Ada", "one", "4", "Ada Lovelace"],
        ["who is he", "Ada", "one", "4", "Ada L."],
    ]
    path = written(tmp_path / "s.csv", "query,answer,system,score,reference", rows)
    call_command("import-scores", str(path), "--no-release", "--json")
    assert json.loads(capsys.readouterr().out)["counts"] == {
        "rows_read": 3, "used": 1, "merged": 1, "repeats": 1, "refused": 0,
    }  # fmt: skip


def test_the_same_answer_with_other_ratings_refuses_the_file_of_scores(tmp_path, db):
    path = tmp_path / "s.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [
                ["query", "answer", "system", "rating1", "rating2", "reference"],
                ["who is he", "Ada", "one", "3", "5", "Ada L."],
                ["who is he", "Ada", "one", "4", "4", "Ada Lovelace"],
            ]
        )
    with pytest.raises(CommandError, match="has other ratings in line 2"):
        call_command("import-scores", str(path), "--no-release")


@MESSY
@given(rows=tables_of(3, ODD_CELLS))
def test_the_sum_holds_for_ratings_or_the_file_is_refused(tmp_path_factory, rows):
    path = written(tmp_path_factory.mktemp("ratings") / "r.csv", "item,worker,score", rows)
    try:
        counts = read_ratings(path).counts
    except FileRefusedError:
        return
    assert (counts.rows_read, counts.used + counts.repeats) == (filled(rows), filled(rows))


@pytest.mark.django_db
def test_a_file_of_grants_counts_what_was_so_already(kind):
    Worker.objects.bulk_create(
        Worker(worker_id=name, name=name, created_at=clock.now()) for name in ("A1", "A2")
    )
    for used, repeats in ((2, 0), (0, 2)):
        text = io.BytesIO(b"worker,value\nA1,7\nA2,8\n")
        outcome = grant_many(
            qualification_type=kind, grants=grant_lines(open_grants("g.csv", text)), now=clock.now()
        )
        assert outcome.counts() == RowCounts(2, used=used, repeats=repeats)


@pytest.fixture
def kind(db):
    return world.make_qualification(world.make_requester(), "Reading")
