"""`manage.py filter`: what people do with it, and what it says about files that are not as they should be."""

import csv
import gzip
import io
import json

import pytest
from django.core.management import CommandError, call_command

from core.files.text_source import TextSource
from tests.metrics.agreement.goldens import golden
from tests.workbooks import write_workbook

HEADER = "item,worker,score\n"
SMALL = HEADER + "".join(
    f"q{item},w{worker},{1 + (item + worker // 3) % 5}\n" for item in range(6) for worker in range(5)
)


@pytest.fixture
def ratings(tmp_path):
    """Writes a file of ratings and gives its path."""

    def write(content, name="ratings.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def golden_file(ratings):
    rows = golden("pipeline")["ratings"]
    return ratings(HEADER + "".join(f"item {i},worker {w},{x}\n" for i, w, x in rows))


def filtered(path, **options):
    """What the terminal shows."""
    out = io.StringIO()
    call_command("filter", path, stdout=out, **{"replicates": 0, **options})
    return out.getvalue()


def report_of(path, **options):
    target = path.parent / "report.json"
    filtered(path, report=target, **options)
    return json.loads(target.read_text())


def refused(path, **options):
    with pytest.raises(CommandError) as refusal:
        filtered(path, report=path.parent / "report.json", **options)
    assert not (path.parent / "report.json").exists()
    return str(refusal.value).replace(f"{path.parent}/", "")


def test_the_papers_recipe_gives_the_golden_figures(golden_file):
    said = report_of(golden_file, recipe="kpqa-2021")
    expected = golden("pipeline")["expected"]["z_only"]
    assert said["recipe"] == "kpqa-2021"
    assert said["n_kept"] == expected["kept"]
    assert said["alpha"]["after_z"]["interval"] == pytest.approx(expected["alpha_interval"], abs=1e-9)
    assert [item["mean"] for item in said["items"]] == pytest.approx(expected["mean"], abs=1e-9)
    rows = golden("pipeline")["ratings"]
    assert [(each["item"], each["worker"]) for each in said["removed_ratings"]] == [
        (f"item {rows[place][0]}", f"worker {rows[place][1]}") for place in expected["removed_rows"]
    ]
    assert all(abs(each["z"]) > 1 for each in said["removed_ratings"])


def test_the_default_recipe_is_used_unless_another_is_named_and_a_parameter_can_be_set(golden_file):
    page = golden_file.parent / "page.html"
    said = report_of(golden_file, html=page)
    assert "the same, cross-fitted" in page.read_text()
    assert said["recipe"] == "default"
    assert sorted(each["worker"] for each in said["removed_workers"]) == ["worker 3", "worker 5", "worker 7"]
    assert {each["reason"] for each in said["removed_workers"]} == {"kappa"}
    said = report_of(golden_file, set=["kappa_below=-0.02"])
    assert [each["worker"] for each in said["removed_workers"]] == ["worker 3"]
    assert said["recipe_details"]["changed"] == ["kappa_below"]


def test_the_terminal_says_what_was_removed_and_what_to_quote(golden_file):
    said = " ".join(filtered(golden_file, set=["rules=checks,kappa,z"]).split())
    assert "600 ratings of 60 items by 14 workers" in said
    assert "kappa: 130 (21.7%)" in said
    assert "Quote this: the published means have a reliability of 0." in said
    assert "After removing 3 workers of 14" in said
    assert "permuted within worker" in said


def test_kept_ratings_are_written_in_the_order_of_submission(ratings):
    path = ratings("item,worker,score,order\nb,w1,4,2\na,w1,3,1\na,w2,5,3\n")
    kept = path.parent / "kept.csv"
    filtered(path, kept=kept, recipe="none")
    assert kept.read_text().splitlines() == [
        "item,worker,score,response_filter",
        "a,w1,3,none",
        "b,w1,4,none",
        "a,w2,5,none",
    ]


def test_submission_time_decides_which_of_two_ratings_is_the_first(ratings):
    path = ratings(
        "item,worker,score,submitted_at\nq,w1,5,2026-03-01T12:00:00+01:00\nq,w1,3,2026-03-01T10:59:00Z\nq,w2,4,2026-03-02\n"
    )
    kept = path.parent / "kept.csv"
    filtered(path, kept=kept)
    assert kept.read_text().splitlines()[1:] == ["q,w1,3,none", "q,w2,4,none"]


def test_names_come_back_as_they_were_and_none_is_a_formula(ratings):
    path = ratings(HEADER + '=1+1,@w,3\n=1+1,w2,4\n"a ""b"", c\nd",w1,3\n"a ""b"", c\nd",w2,4\n')
    kept = path.parent / "kept.csv"
    filtered(path, kept=kept)
    rows = list(csv.reader(io.StringIO(kept.read_bytes().decode(), newline="")))
    assert rows[1] == ["'=1+1", "'@w", "3", "none"]
    assert rows[3] == ['a "b", c\nd', "w1", "3", "none"]


def test_attention_checks_remove_workers_and_are_no_ratings(ratings):
    checks = "".join(
        f"c{check},w{worker},{5 if worker == 0 and check < 2 else 2},yes,<=2\n"
        for worker in range(5)
        for check in range(4)
    )
    body = "".join(f"{line},,\n" for line in SMALL.splitlines()[1:])
    said = report_of(ratings(f"item,worker,score,check,expected\n{body}{checks}"))
    assert (said["n_ratings"], said["n_items"], said["n_checks"]) == (30, 6, 20)
    assert said["removed_workers"] == [
        {
            "worker": "w0",
            "reason": "attention checks",
            "value": 2.0,
            "words": "failed 2 of 4 attention checks",
        }
    ]
    assert len(said["removed_ratings"]) == 6
    assert said["items"][0]["n_raw"] - said["items"][0]["n_kept"] == 1


def test_a_check_that_was_not_answered_was_shown_and_is_not_failed(ratings):
    body = "".join(f"{line},,\n" for line in SMALL.splitlines()[1:])
    said = report_of(ratings(f"item,worker,score,check,expected\n{body}c,w0,,1,4|5\nd,w0,1,1,4|5\n"))
    [worker] = [each for each in said["workers"] if each["worker"] == "w0"]
    assert (worker["checks_presented"], worker["checks_failed"], worker["verdict"]) == (2, 1, "undetermined")


@pytest.mark.parametrize("expected", ["2", "1|2", "1-2", "<=2", "1, 2", "≤ 2"])
def test_accepted_answers_of_a_check_can_be_written_in_many_ways(ratings, expected):
    body = "".join(f"{line},\n" for line in SMALL.splitlines()[1:])
    said = report_of(ratings(f'item,worker,score,expected\n{body}c,w0,2,"{expected}"\nc,w1,3,"{expected}"\n'))
    failed = {each["worker"]: each["checks_failed"] for each in said["workers"]}
    assert (failed["w0"], failed["w1"]) == (0, 1)


def test_the_scale_may_be_another(ratings):
    said = report_of(ratings(HEADER + "q,a,0\nq,b,-2\nr,a,2\nr,b,1\n"), scale=(-2, 2))
    assert said["scale"] == [-2, 2]
    assert said["scores"]["before"] == {"-2": 1, "-1": 0, "0": 1, "1": 1, "2": 1}


def test_systems_and_types_have_their_removed_share(ratings):
    body = "".join(f"{line},s{n % 2},why\n" for n, line in enumerate(SMALL.splitlines()[1:]))
    said = report_of(ratings(f"item,worker,score,system,type\n{body}"))
    assert [each["system"] for each in said["removed"]["by_system"]] == ["s0", "s1"]
    assert said["removed"]["by_type"][0]["n_ratings"] == 30


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"\xef\xbb\xbf" + SMALL.encode(), "mark.csv"),
        (SMALL.replace(",", ";"), "semicolon.csv"),
        (SMALL.replace(",", "\t"), "tab.tsv"),
        (SMALL.replace("\n", "\r\n"), "windows.csv"),
        (SMALL.replace("\n", "\r"), "mac.csv"),
        (SMALL.encode("utf-16"), "excel.csv"),
        (gzip.compress(SMALL.encode(), mtime=0), "packed.csv.gz"),
        (SMALL.replace(",1\n", ",1.0\n"), "decimal.csv"),
        ("\n" + SMALL.replace("\n", "\n\n"), "gaps.csv"),
        (SMALL + ",,\n,,\n", "spreadsheet.csv"),
    ],
)
def test_tables_come_in_many_forms(ratings, content, name):
    assert report_of(ratings(content, name))["n_ratings"] == 30


def test_a_workbook_is_read_its_sheet_can_be_named_and_a_fault_names_sheet_and_row(tmp_path, ratings):
    table = [["item", "worker", "score"], ["é", "a", 3.0], ["é", "b", 4.0]]
    path = write_workbook(tmp_path / "ratings.xlsx", [*table, ["é", "c", 9]])
    assert "ratings.xlsx, sheet 'Sheet1', row 4: the score '9' is not on the scale" in refused(path)
    write_workbook(path, {"Notes": [], "Pilot": table, "Main": [table[0], ["m", "a", 3]], "Empty": []})
    assert "has no sheet 'Mian'; there are 'Notes', 'Pilot', 'Main', 'Empty'." in refused(path, sheet="Mian")
    assert "ratings.xlsx: its sheet 'Empty' is empty." in refused(path, sheet="Empty")
    no_workbook = "ratings.csv is no workbook, so it has no sheet 'Main'. Name none."
    assert no_workbook in refused(ratings(SMALL), sheet="Main")
    assert report_of(path)["items"][0]["item"] == "é"
    assert report_of(path, sheet="Main")["items"][0]["item"] == "m"


def test_another_encoding_is_guessed_or_named(ratings):
    path = ratings((HEADER + "é,a,3\né,b,4\n").encode("latin-1"))
    assert report_of(path)["items"][0]["item"] == "é"
    assert report_of(path, encoding="latin-1")["items"][0]["item"] == "é"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "ratings.csv is empty."),
        (HEADER, "ratings.csv: it has a header but no ratings under it."),
        ("q1,w1,3\nq1,w2,4\n", "It looks as if the file had no header line; add one."),
        ("item,who,score\nq,w,3\n", "line 1: there is no column 'worker' for the worker; there are "
         "'item', 'who', 'score'. Say which one holds it: --column worker=NAME."),
        (HEADER + "q,a,3\nq,b,7\nr,a,0\n", "line 3: the score '7' is not on the scale from 1 to 5. "
         "If the scale is another, say so: --scale LOW-HIGH, or LOW:HIGH:STEP such as 1:5:0.5 or 0:100:any. "
         "Rows with this fault: 2."),
        (HEADER + "q,a,3.5\n", "line 2: the score '3.5' is not on the scale from 1 to 5. If the scale is"),
        (HEADER + "q,a,five\n", "line 2: the score 'five' is not a number. Scores are numbers from 1 to 5."),
        (HEADER + "q,a,99999999999999999999999\n", "is not on the scale from 1 to 5."),
        (HEADER + ",,\n", "has a header but no ratings under it."),
        (HEADER + "q,a,\n", "line 2: the score is empty."),
        (HEADER + "q,a\n", "line 2: the score is empty."),
        (HEADER + "q, ,3\n", "line 2: the worker is empty."),
        (HEADER + ",a,3\n", "line 2: the item is empty."),
        (HEADER + "q,a,3\nq,b,3,4\n", "line 3: the row has 4 cells, the head has 3. A comma inside a cell"),
        (HEADER + '"q\n1",a,3\n\n"q\n2",b,3\nq,c,9\n', "line 7: the score '9'"),
        (HEADER + 'q,a,3\nq,"b,4\nr,c,3\n', "line 3: a quotation mark opens here and never closes. Close it"),
        (HEADER.encode() + "é,a,3\né,b,4\n".encode() + b"q\xe9,b,3\n",
         "line 4: Byte 2 (0xE9) is not UTF-8. Save the file as UTF-8"),
        (b"PK\x03\x04zip", "is damaged: File is not a zip file. Save it again."),
        (gzip.compress(SMALL.encode(), mtime=0)[:40], "its gzip data cannot be unpacked"),
        ("item,worker,score,check\nc,a,3,1\n", "Add a column 'expected'"),
        ("item,worker,score,expected\nq,a,3,\nc,a,3,nine\n", "line 3: the expected answer 'nine'"),
        ("item,worker,score,expected\nc,a,3,4\n", "every row is an attention check"),
        ("item,worker,score,order\nq,a,3,last\n", "line 2: the order 'last' is not a number."),
        ("item,worker,score,submitted_at\nq,a,3,noon\n", "line 2: the submitted_at 'noon' is not a time."),
        ("item,worker,score,seconds\nq,a,3,-4\n", "line 2: the seconds '-4' are not a number of seconds"),
        ("item,worker,score,score\nq,a,3,3\n", "the score may be in any of 'score', 'score'."),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_refused_with_line_field_and_remedy(ratings, content, words):
    assert words in refused(ratings(content))


def test_files_and_folders_that_are_not_there_are_named_and_the_ratings_never_overwritten(tmp_path, ratings):
    assert refused(tmp_path / "none.csv") == "none.csv cannot be read: No such file or directory."
    path = ratings(SMALL)
    with pytest.raises(CommandError, match="there is no folder"):
        filtered(path, report=path.parent / "none" / "report.json")
    with pytest.raises(CommandError, match="would overwrite the file of ratings"):
        filtered(path, kept=path)
    assert path.read_text() == SMALL


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"recipe": "best"}, "There is no recipe 'best'"),
        ({"set": ["rules=z,kappa"]}, "The order of the rules is fixed"),
        ({"set": ["kappa_below"]}, "--set 'kappa_below' is not of the form NAME=VALUE."),
        ({"column": ["rating=score"]}, "There is no field 'rating' to map"),
        ({"column": ["score=points"]}, "there is no column 'points' for the score"),
        ({"encoding": "klingon"}, "'klingon' is no encoding of text files."),
    ],
)
def test_options_that_cannot_be_are_refused_in_words(ratings, options, words):
    assert words in refused(ratings(SMALL), **options)


def test_a_worker_who_rated_an_item_twice_is_counted(ratings):
    said = report_of(ratings(SMALL + "q0,w0,5\n"))
    assert said["removed_ratings"] == [{"item": "q0", "worker": "w0", "reason": "duplicate"}]
    assert said["warnings"][0] == (
        "Ratings that repeat an earlier one of the same worker on the same item: 1. The first counts."
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (HEADER + "q,a,3\nr,a,4\n", "not defined: all ratings are by one worker"),
        (HEADER + "q,a,3\nq,b,3\nr,a,3\nr,b,3\n", "not defined: all ratings are the same"),
        (HEADER + "q,a,3\nr,b,4\n", "not defined: no item has two ratings"),
    ],
)
def test_agreement_that_is_not_defined_is_null_with_the_reason(ratings, content, reason):
    before = report_of(ratings(content))["alpha"]["before"]
    assert before["interval"] is None
    assert before["reason"]["interval"] == reason


def test_many_workers_with_one_rating_each_are_undetermined(ratings):
    rows = "".join(f"q{n // 5},w{n},{n * 7 % 5 + 1}\n" for n in range(2_000))
    said = report_of(ratings(HEADER + rows))
    assert said["removed_workers"] == []
    assert len(said["undetermined_workers"]) == 2_000


def test_the_same_seed_gives_the_same_report(golden_file):
    first = report_of(golden_file, recipe="kpqa-2021", replicates=30, seed=4)
    assert report_of(golden_file, recipe="kpqa-2021", replicates=30, seed=4) == first
    assert first["alpha"]["before"]["ci"] is not None


def test_the_page_needs_nothing_else_and_runs_nothing(ratings):
    path = ratings(SMALL.replace("w0", "<script>alert(1)</script>"), "<b>.csv")
    page = path.parent / "report.html"
    filtered(path, html=page, replicates=20)
    text = page.read_text()
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "http" not in text.replace("http-equiv", "")
    assert text.count("<svg") == 4
    assert "What to quote" in text


def test_the_page_shows_the_null_beside_alpha_after_z_and_nothing_half_written_is_left(golden_file):
    page = golden_file.parent / "page.html"
    filtered(golden_file, report=golden_file.parent / "report.json", html=page, recipe="kpqa-2021")
    text = page.read_text()
    assert "null: the same filter on noise" in text
    assert "null 0." in text
    names = sorted(path.name for path in golden_file.parent.iterdir())
    assert names == ["page.html", "ratings.csv", "report.json"]


def test_halves_are_scores_of_a_scale_with_steps_of_a_half(ratings):
    path = ratings(HEADER + "q,a,2.5\nq,b,3\nr,a,4.5\nr,b,4.50\n")
    kept, page = path.parent / "kept.csv", path.parent / "page.html"
    said = report_of(path, scale=("1", "5", "0.5"), recipe="none", kept=kept, html=page)
    assert (said["scale"], said["step"]) == ([1, 5], 0.5)
    assert [each["mean"] for each in said["items"]] == [2.75, 4.5]
    assert (said["scores"]["before"]["2.5"], said["scores"]["before"]["4.5"]) == (1, 2)
    assert kept.read_text().splitlines()[1:] == ["q,a,2.5,none", "q,b,3,none", "r,a,4.5,none", "r,b,4.5,none"]
    assert "scale 1 to 5 in steps of 0.5" in " ".join(page.read_text().split())


def test_sliders_give_any_number_of_their_scale(ratings):
    path = ratings(HEADER + "q,a,37.4\nq,b,40\nr,a,90.2\nr,b,88\n")
    page = path.parent / "page.html"
    said = report_of(path, scale=("0", "100", "any"), recipe="default", html=page)
    assert said["step"] == 0.2
    assert [each["mean"] for each in said["items"]] == [pytest.approx(38.7), pytest.approx(89.1)]
    assert page.read_text().count("<rect") < 200


def test_scores_finer_than_a_thousandth_of_the_scale_are_taken_to_the_nearest_and_told(ratings):
    said = report_of(ratings(HEADER + "q,a,37.4123\nq,b,40\nr,a,90.2\nr,b,88\n"), scale=("0", "100", "any"))
    assert said["step"] == 0.1
    assert said["items"][0]["mean"] == pytest.approx((37.4 + 40) / 2)
    assert said["warnings"][0] == (
        "Scores are finer than a thousandth of the scale: 1 different ones were taken to the nearest 0.1."
    )


def test_attention_checks_accept_halves(ratings):
    checks = "".join(
        f"c{n},w{worker},{score},<=2.5\n" for n in range(4) for worker, score in ((0, 2.5), (1, 3))
    )
    rows = "".join(f"q{item},w{worker},{1 + item / 2},\n" for item in range(6) for worker in (0, 1, 2))
    said = report_of(ratings("item,worker,score,expected\n" + rows + checks), scale=("1", "5", "0.5"))
    assert {row["worker"]: row["checks_failed"] for row in said["workers"]} == {"w0": 0, "w1": 4, "w2": 0}


@pytest.mark.parametrize(
    ("scale", "score", "words"),
    [
        (("1", "5", "0.5"), "2.4", "is not on the scale from 1 to 5 in steps of 0.5"),
        (("1", "5", "0.5"), "5.5", "is not on the scale"),
        (("0", "100", "any"), "100.5", "is not on the scale from 0 to 100"),
        (("0", "2000", "any"), "1,234", "the score is ambiguous: 1,234 may be 1.234 or 1234: write it"),
        (("0", "100", "any"), "nan", "the score 'nan' is not a number"),
        (("1", "5", "3"), "2", "--scale: steps of 3 do not lead from 1 to 5"),
    ],
)
def test_scores_between_the_steps_are_refused(ratings, scale, score, words):
    assert words in refused(ratings(HEADER + f'q,a,3\nq,b,"{score}"\n'), scale=scale)


def test_a_scale_of_very_many_scores_has_no_response_filter(ratings):
    path = ratings(HEADER + "q,a,3\nq,b,4\n")
    assert "at most 201 scores" in refused(path, scale=("0", "100", "0.1"), recipe="kpqa-2021")


@pytest.mark.parametrize("beginning", [HEADER, '{"item": "'])
def test_a_line_without_an_end_is_refused_before_it_fills_memory(ratings, beginning):
    """200 kB of gzip can hold a line of 200 MB, which pandas and the csv module read whole."""
    long = ratings(gzip.compress(beginning.encode() + b"a" * (9 << 20), 1, mtime=0), "long.csv.gz")
    assert refused(long).endswith(": The line is longer than 8,388,608 bytes.")


def test_a_quotation_mark_that_is_never_closed_is_refused_before_the_rest_fills_memory(ratings, monkeypatch):
    lines = (b"a" * 1023 + b"\n") * (34 << 10)
    path = ratings(gzip.compress(HEADER.encode() + b'q,a,3\nq,"b,3\n' + lines, 1, mtime=0), "open.csv.gz")
    read = 0
    real = TextSource.chunks

    def counting(source, refuse):
        nonlocal read
        for line, text in real(source, refuse):
            read += len(text)
            yield line, text

    monkeypatch.setattr(TextSource, "chunks", counting)
    assert refused(path) == (
        "open.csv.gz, line 3: a cell has more than 16,777,216 characters, or a quotation mark never closes."
    )
    assert read < len(lines)


def test_what_a_table_was_read_as_is_said_in_the_report_on_the_terminal_and_on_the_page(ratings):
    path = ratings("sep=;\nHIT;Annotator;Rating;comment\nq;a;3;\nq;b;4;x\nq;b;4;x\nr;a;2\n;;;see above\n")
    page = path.with_name("page.html")
    shown = " ".join(filtered(path, column=["item=hit"], html=page).split())
    sentences = (
        "Read as: score from Rating; item from HIT; worker from Annotator; utf-8; separated by semicolons; "
        "columns named in row 2.",
        "Columns that were not read: comment.",
        "5 rows read = 3 used + 0 merged + 1 identical repeat + 1 refused.",
    )
    for sentence in sentences:
        assert sentence in shown
        assert sentence in page.read_text()
    said = report_of(path, column=["item=hit"])
    assert said["read_as"] == {
        "encoding": "utf-8",
        "separator": ";",
        "sheet": None,
        "header_row": 2,
        "columns": {"item": ["HIT"], "worker": ["Annotator"], "score": ["Rating"]},
        "left_out": ["comment"],
        "rows": {"read": 5, "used": 3, "merged": 0, "repeats": 1, "refused": 1},
    }
    assert "Rows without item, worker and score, left out: 1." in said["warnings"]
    assert "1 row ends before the head does: the missing cells are empty." in said["warnings"]


def test_columns_are_found_by_usual_names_and_ambiguous_ones_are_asked_for(ratings):
    rows = "q,a,3,4\nq,b,4,5\n"
    path = ratings(f"item,worker,rating,mean\n{rows}")
    assert refused(path) == (
        "ratings.csv, line 1: the score may be in any of 'rating', 'mean'. "
        "Say which one: --column score=NAME."
    )
    assert report_of(path, column=["score=mean"])["read_as"]["left_out"] == ["rating"]
    path.with_name("report.json").unlink()
    path = ratings(f"item,worker,score,rating\n{rows}")
    assert "the score may be in any of 'score', 'rating'. Say which one" in refused(path)
    assert report_of(path, column=["score=rating"])["read_as"]["left_out"] == ["score"]
    said = report_of(ratings(f"item,worker,score,quality\n{rows}"), aspects="quality")
    assert said["read_as"]["columns"]["aspects"] == ["quality"]
    for head, expected in (
        ("item_id,Rater,rating,note", {"item": ["item_id"], "worker": ["Rater"], "score": ["rating"]}),
        ("item,judge id,score,note", {"item": ["item"], "worker": ["judge id"], "score": ["score"]}),
    ):
        assert report_of(ratings(f"{head}\n{rows}"))["read_as"]["columns"] == expected


def test_the_row_that_names_the_columns_can_be_said_and_texts_may_be_long_or_have_quotation_marks(ratings):
    path = ratings("Ratings of June\nitem,worker,score\nq,a,3\nq,b,4\n")
    assert report_of(path, header_row=2, recipe="none")["read_as"]["header_row"] == 2
    long = "long, " * 30_000
    assert report_of(ratings(HEADER + f'"{long}",a,3\n"{long}",b,4\n'))["n_items"] == 1
    assert report_of(ratings(HEADER + 'q,5" screen,3\nq,w,4\n'), recipe="none")["n_ratings"] == 2


def test_a_table_with_a_column_per_rater_is_read_as_ratings(ratings):
    assert "line 2: the score 'five' is not a number." in refused(
        ratings("item,Rater A,Rater B\ni1,4,five\n")
    )
    assert "there is no column 'worker'" in refused(ratings("item,text,topic\ni1,a b,c\n"))
    assert "line 1: two columns are named 'Rater A', and each has the ratings of one person." in refused(
        ratings("item,Rater A,rater-a,Rater B\ni1,4,5,3\n")
    )
    for head in ("item,ann1,ann2,ann3", "item,Rater A,Rater B,Rater C"):
        said = report_of(ratings(f"{head}\ni1,4,5,\ni2,2,,1\ni3,3,3,3\ni4,5,5,4\n"), recipe="none")
        assert said["read_as"]["columns"] == {"item": ["item"], "ratings": head.split(",")[1:]}
        assert (said["n_ratings"], said["n_items"]) == (10, 4)
        assert [each["worker"] for each in said["workers"]] == head.split(",")[1:]
        assert said["alpha"]["before"]["interval"] == pytest.approx(0.836, abs=5e-4)
        assert any("a column per rater" in warning for warning in said["warnings"])


def test_objects_of_json_are_read_from_lines_and_from_a_list(ratings):
    rows = [{"item": "q", "worker": "a", "score": 3}, {"worker": "b", "item": "q", "score": 4.0, "type": "t"}]
    bad = ratings(json.dumps([*rows, {"item": "q", "worker": "c", "score": "much"}]), "r.json")
    assert "record 3: the score 'much' is not a number" in refused(bad)
    for text in ("".join(f"{json.dumps(row)}\n" for row in rows), json.dumps(rows, indent=1)):
        said = report_of(ratings(text, "r.json"))
        assert [each["mean"] for each in said["items"]] == [3.5]
        assert (said["read_as"]["encoding"], said["read_as"]["header_row"]) == ("utf-8", None)
        assert [each["type"] for each in said["removed"]["by_type"]] == ["(none)", "t"]


def test_an_empty_cell_is_said_with_other_columns_that_may_hold_it(ratings):
    chosen = {"column": ["worker=worker", "score=score"]}
    said = refused(ratings("item,worker,score,annotator,rating\nq,a,3,,\nq,,,b,4\n"), **chosen)
    assert "line 3: the worker is empty. Every rating needs one. If it is in 'annotator': write all" in said
    said = refused(ratings("item,worker,score,Human Score,rating\nq,a,3,,\nq,b,,4,\n"), **chosen)
    assert "Leave the row out. If it is in 'Human Score' or 'rating': write all into one column." in said


def test_a_guess_of_the_encoding_is_said_and_names_stay_what_they_are(ratings):
    cities = "item;worker;score\nМосква;Анна;4\nМосква;Олег;5\nОмск;Анна;2\nОмск;Олег;1\n"
    path = ratings(cities.encode("cp1251"))
    kept = path.with_name("kept.csv")
    said = report_of(path, kept=kept, recipe="none")
    assert kept.read_text().splitlines()[1] == "Москва,Анна,4,none"
    assert said["read_as"]["encoding"] == "cp1251"
    assert said["warnings"][0].startswith("The encoding is Windows-1251 (Cyrillic), a guess (")
    assert said["warnings"][0].endswith("say what it is: --encoding NAME.")
    named = report_of(path, encoding="cp1251", recipe="none")
    assert not any("a guess" in warning for warning in named["warnings"])


def test_quotation_marks_that_would_make_other_rows_are_refused_or_named(ratings):
    for content, words in (
        (
            'item\tworker\tscore\n"a\tw1\t5\nb\tw1\t4\nc"\tw1\t3\n',
            "line 2: a cell between quotation marks goes ",
        ),
        (HEADER + 'q,a,3\n"q" b,a,3\n', "line 3: a quoted cell goes on after its closing mark."),
        (
            HEADER + '"x \\"y\\", z",a,3\n',
            "line 2: a quoted cell goes on after its closing mark. Quotation marks "
            'inside a cell are doubled (""), not written \\".',
        ),
    ):
        assert words in refused(ratings(content))
    said = report_of(ratings(HEADER + '"a, b\nc",w1,3\n"a, b\nc",w2,4\n'))
    assert said["n_items"] == 1
    assert said["warnings"][0] == (
        "Cells that go over several lines and hold a separator, each read as one cell: "
        "2, the first in line 2."
    )


def test_ratings_that_were_filtered_before_are_known_by_it(ratings):
    head = "item,worker,score,response_filter\n"
    path = ratings(head + "q,a,3,z (kpqa-2021)\nq,b,4,z (kpqa-2021)\n")
    kept = path.with_name("kept.csv")
    said = report_of(path, kept=kept)
    assert kept.read_text().splitlines()[1] == "q,a,3,z (kpqa-2021)"
    assert "A response filter has run before on these ratings: z (kpqa-2021)." in " ".join(said["warnings"])


ASPECTS = ["item,worker,score,topicality,context"] + [
    f"q{item},w{worker},{1 + (item + worker // 3) % 5},{1 + item % 4},{'' if worker else item % 2}"
    for item in range(8)
    for worker in range(5)
]


def test_aspects_in_columns_get_their_own_agreement(ratings):
    path = ratings("\n".join(ASPECTS))
    said = report_of(path, aspects="topicality, context", recipe="none")
    overall, topicality, context = said["aspects"]
    assert [overall["aspect"], topicality["aspect"], context["aspect"]] == ["score", "topicality", "context"]
    assert overall["before"]["alpha"] == said["alpha"]["before"]["interval"]
    assert topicality["before"]["alpha"] == topicality["before"]["kappa"] == pytest.approx(1)
    assert (context["before"]["n_ratings"], context["before"]["alpha"]) == (8, None)
    assert "aspects" not in report_of(path)
    shown = " ".join(filtered(path, aspects="topicality", html=path.with_name("page.html")).split())
    assert "topicality before 1.000 \u2013 1.000 1.000" in shown
    assert "Agreement per aspect" in path.with_name("page.html").read_text()


def test_aspects_of_a_releases_table_are_found(ratings):
    cells = ['[{"name": "topicality", "score": 3}]', '{"topicality": 4}', "[]", ""]
    rows = [["stage", "candidate_id", "worker", "score", "aspects"]]
    rows += [["judging", f"c{at}", worker, "4", cell] for at, cell in enumerate(cells) for worker in "ab"]
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    broken = ratings(text.getvalue().replace('""score"": 3', '""score"": ""much""'), "broken.csv")
    assert "line 2: the aspects" in refused(broken)
    said = report_of(ratings(text.getvalue()), recipe="none")
    assert [row["aspect"] for row in said["aspects"]] == ["score", "topicality"]
    assert said["aspects"][1]["before"]["n_ratings"] == 4


@pytest.mark.parametrize(
    ("aspects", "answer"),
    [("depth", "there is no column 'depth' for an aspect"), ("half", "the score '2.5' of the aspect half")],
)
def test_aspects_that_cannot_be_read_are_refused(ratings, aspects, answer):
    assert answer in refused(ratings("item,worker,score,half\na,w1,1,2\na,w2,1,2.5\n"), aspects=aspects)
