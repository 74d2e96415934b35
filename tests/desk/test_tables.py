"""Tables of the desk: sorted by heads, filtered and paged by the address, and the same rows as a file."""

import csv
import io
import re

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from python_calamine import CalamineWorkbook

from tests.desk.conftest import HOSTILE, at, make_hit, make_unknown, make_work
from web.tables import Choices, Column, Grid, Words, workbook

pytestmark = pytest.mark.django_db

GRID = Grid(
    "things",
    columns=(
        Column("name", "Name", lambda row: row[0], by="name"),
        Column("size", "Size", lambda row: row[1], by="size", down=True),
        Column("note", "Note", lambda row: "n"),
    ),
    filters=(Choices("state", "State", {"all": "All", "open": "Open"}, tabs=True), Words("q", "Name")),
    order="name",
    aliases={"largest": "size"},
)
ROWS = [("b", 2), ("a", None), ("c", 9)]


def asked(address=""):
    return GRID.read_request(QueryDict(address))


def test_a_table_comes_as_a_workbook_in_which_no_text_is_a_formula(manager, stage):
    make_work(make_hit(stage), "=1+1")
    answer = manager.get(at("work", stage) + "?state=all&format=xlsx")
    assert answer["Content-Disposition"].endswith('.xlsx"')
    rows = (
        CalamineWorkbook.from_filelike(io.BytesIO(b"".join(answer.streaming_content)))
        .get_sheet_by_index(0)
        .to_python()
    )
    table = [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    assert [row["worker"] for row in table] == ["'=1+1"]
    assert at("work", stage) in manager.get(at("work", stage) + "?state=all").text


def test_a_workbook_cuts_no_text_without_saying_so_and_rounds_no_number():
    grid = Grid(
        "things",
        columns=(
            Column("text", "Text", lambda row: row[0], by="text"),
            Column("size", "Size", lambda row: row[1]),
        ),
        order="text",
    )
    answer = workbook(grid, [("x" * 40_000, 2**60), ("short", float("nan")), ("y" * 32_767, 12)], "things")
    file = io.BytesIO(b"".join(answer.streaming_content))
    head, (cut, large), (short, undefined), (whole, size) = (
        CalamineWorkbook.from_filelike(file).get_sheet_by_index(0).to_python()
    )
    assert head == ["text", "size"]
    assert (len(cut), cut[-60:].endswith("the CSV file has it all]")) == (32_767, True)
    assert (large, short, undefined, len(whole), size) == (str(2**60), "short", "nan", 32_767, 12)
    answer.close()


def file_of(client, address):
    answer = client.get(address)
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))


def test_rows_are_sorted_as_the_address_says_and_what_is_undefined_comes_last():
    for address, names in (
        ("", "abc"),
        ("order=-name", "cba"),
        ("order=size", "cba"),
        ("order=-size", "bca"),
        ("order=largest", "cba"),
        ("order=note", "abc"),
        ("order=%00&order=;drop", "abc"),
    ):
        assert "".join(name for name, _ in asked(address).sort(ROWS)) == names, address
    found = asked("state=nonsense&q=%00%20x%20&page=-1&other=1")
    assert dict(found.values) == {"state": "all", "q": "x"}
    assert len(asked("q=" + "y" * 900)["q"]) == 200
    assert asked("state=open&order=-size&page=2").file == "?state=open&order=-size&format=csv"


def test_a_head_says_how_it_is_sorted_and_turns_the_order_around():
    heads = {head.column.name: head for head in asked("order=size&state=open&page=3").heads()}
    assert (heads["size"].sorted, heads["size"].address) == ("descending", "?state=open&order=-size")
    assert (heads["name"].sorted, heads["name"].address) == ("", "?state=open&order=name")
    assert heads["note"].address == ""
    turned = {head.column.name: head for head in asked("order=-size").heads()}
    assert (turned["size"].sorted, turned["size"].address) == ("ascending", "?order=size")


@pytest.mark.long
def test_every_row_has_a_cell_under_every_head_and_heads_are_links(as_, stage):
    make_work(make_hit(stage), "W1")
    make_unknown(make_hit(stage))
    for name in ("hits", "work", "workers", "operations"):
        page = as_("viewer").get(at(name, stage) + "?state=all").content.decode()
        table = page.split("<table")[1].split("</table>")[0]
        head, body = table.split("</thead>")
        first = body.split("<tr>")[1]
        assert len(re.findall(r"<th\b", head)) == len(re.findall(r"<t[hd]\b", first)), name
        assert head.count("aria-sort") == 1


def test_a_viewer_downloads_what_the_table_shows_and_no_formula_runs(as_, stage):
    make_work(make_hit(stage), "=cmd|calc")
    make_unknown(make_hit(stage))
    for name, count, column, value in (
        ("hits", 2, "state", "open"),
        ("work", 1, "worker", "'=cmd|calc"),
        ("workers", 1, "worker", "'=cmd|calc"),
        ("operations", 1, "state", "unknown"),
    ):
        rows = file_of(as_("viewer"), at(name, stage) + "?state=all&format=csv")
        assert (len(rows), rows[0][column]) == (count, value), name
        assert as_("stranger").get(at(name, stage) + "?format=csv").status_code == 404


def test_the_file_has_the_filters_of_the_page(manager, stage):
    make_work(make_hit(stage), "A1")
    make_work(make_hit(stage, state="closed"), "A2")
    assert [row["number"] for row in file_of(manager, at("hits", stage) + "?state=closed&format=csv")] == [
        "1"
    ]
    rows = file_of(manager, at("work", stage) + "?worker=A2&format=csv")
    assert [(row["worker"], row["about"]) for row in rows] == [("A2", "one")]


@pytest.mark.long
def test_workers_are_filtered_by_what_became_of_their_work(manager, stage):
    make_work(make_hit(stage), "GOOD")
    make_work(make_hit(stage), "BAD", failed_checks=2)

    def listed(asked):
        return [w.external_id for w in manager.get(at("workers", stage) + asked).context["rows"]]

    assert listed("?state=failed") == ["BAD"]
    assert listed("?q=goo") == ["GOOD"]
    assert listed("?order=checks")[0] == "BAD"
    assert listed("?order=-worker") == ["GOOD", "BAD"]


def test_projects_members_and_events_come_as_files(owner, project):
    assert [row["slug"] for row in file_of(owner, "/desk/projects/?format=csv")] == ["reading"]
    members = file_of(owner, "/desk/projects/reading/members/?format=csv&order=-name")
    assert [row["name"] for row in members] == ["viewer", "owner", "manager"]
    events = file_of(owner, "/desk/projects/reading/events/?format=csv&action=member.set")
    assert {row["action"] for row in events} == {"member.set"}
    assert len(events) == 3


def test_hostile_words_in_the_address_stay_words(owner, project, stage):

    for place in (
        "/desk/projects/",
        "/desk/projects/reading/events/",
        at("hits", stage),
        at("workers", stage),
    ):
        page = owner.get(place, {"q": HOSTILE, "order": HOSTILE, "state": HOSTILE}).content.decode()
        assert "<script>alert" not in page, place


@pytest.mark.long
def test_a_file_of_many_rows_asks_as_often_as_one_of_few(manager, stage):
    counted = []
    for number in range(2):
        for each in range(1 + 9 * number):
            make_work(make_hit(stage), f"W{number}-{each}")
            make_unknown(make_hit(stage))
        counted.append({})
        for name in ("hits", "work", "workers", "operations"):
            with CaptureQueriesContext(connection) as queries:
                file_of(manager, at(name, stage) + "?state=all&format=csv")
            counted[number][name] = len(queries)
    assert counted[0] == counted[1]


def heads_of(page):
    """The heads of the columns of a page, and the first row's number of cells."""
    table = re.search(r"<table class=\"kit-table\">.*?</table>", page, re.DOTALL)[0]
    words = [
        re.sub("<[^>]*>", "", head).strip("▲▼ \n")
        for head in re.findall(r"<th scope=\"col\".*?</th>", table, re.DOTALL)
    ]
    row = re.search(r"<tbody><tr>.*?</tr>", table, re.DOTALL)[0]
    return words, len(re.findall("<t[hd][ >]", row))


def test_a_person_chooses_the_columns_of_a_list_and_a_saved_view_keeps_them(manager, stage):
    make_work(make_hit(stage))
    everything, count = heads_of(manager.get(at("work", stage)).content.decode())
    page = manager.get(at("work", stage) + "?columns=state&columns=nonsense&order=state").content.decode()
    chosen, fewer = heads_of(page)
    assert set(chosen) < set(everything) and "State" in chosen and chosen[:2] == everything[:2]
    assert fewer == len(chosen) < count == len(everything)
    assert 'name="query" value="columns=state&amp;columns=nonsense&amp;order=state"' in page
    assert re.search(r'<input type="checkbox" name="columns" value="state"\s+checked', page)
    assert re.findall(r'<a class="by-this" href="([^"]*)"', page)[0].startswith("?columns=state")
    all_of_them, _ = heads_of(manager.get(at("work", stage) + "?columns=nonsense").content.decode())
    assert len(all_of_them) == 2


def test_files_have_all_columns_whatever_the_page_shows(manager, stage):
    make_work(make_hit(stage))
    plain, few = (
        b"".join(manager.get(at("work", stage) + query)).decode()
        for query in ("?format=csv", "?format=csv&columns=state")
    )
    assert few == plain
