"""Pages stay where they are while rows come in; exports hold one piece at a time."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core.projects.models import Project
from core.projects.services import create_project
from crowd.models import Endpoint
from tests.api.conftest import is_problem
from tests.desk.conftest import make_hit, make_stage, make_work
from web.api import bodies


@pytest.fixture
def stage(project):
    url = "http://127.0.0.1:9/mturk/api"
    market = Endpoint.objects.create(
        name="local", label="Ours", url=url, real_money=False, created_at=timezone.now()
    )
    return make_stage(project, market)


def pages(program, path: str, limit: int) -> list[list[dict]]:
    found, cursor = [], ""
    while True:
        sign = "&" if "?" in path else "?"
        page = program.get(f"{path}{sign}limit={limit}&cursor={cursor}").json()
        found.append(page["items"])
        cursor = page["next"]
        if cursor is None:
            return found


def test_every_row_comes_once_also_with_the_same_time(program, owner):
    for number in range(7):
        create_project(slug=f"p{number}", title="P", owner=owner)
    Project.objects.update(created_at="2026-01-01T00:00:00.123456Z")
    found = pages(program, "/projects", 3)
    assert [len(page) for page in found] == [3, 3, 2]
    names = [row["slug"] for page in found for row in page]
    assert names == ["tea", *(f"p{number}" for number in range(7))]
    backwards = [row["slug"] for page in pages(program, "/projects?order=newest", 3) for row in page]
    assert backwards == names[::-1]


def test_what_comes_in_meanwhile_moves_no_row_and_a_cursor_is_of_its_list_and_filters(program, owner):
    for number in range(4):
        create_project(slug=f"p{number}", title="P", owner=owner)
    first = program.get("/projects?limit=3").json()
    Project.objects.filter(slug="p0").update(title="Changed")
    create_project(slug="late", title="P", owner=owner)
    cursor = first["next"]
    rest = program.get(f"/projects?limit=3&cursor={cursor}").json()
    assert [row["slug"] for row in rest["items"]] == ["p2", "p3", "late"] and rest["next"] is None
    is_problem(program.get(f"/projects?cursor={cursor}&order=newest"), 422, "cursor_invalid")
    is_problem(program.get(f"/projects/tea/audit/entries?cursor={cursor}"), 422, "cursor_invalid")
    is_problem(program.get(f"/projects?cursor={cursor[:-2]}xx"), 422, "cursor_invalid")
    is_problem(program.get("/projects?limit=201"), 422, "invalid")


LISTS = (
    "/projects", "/projects/tea/stages", "/projects/tea/stages/poll/hits", "/projects/tea/members",
    "/projects/tea/stages/poll/assignments", "/projects/tea/audit/entries",
    "/projects/tea/stages/poll/operations",
    "/projects/tea/stages/poll/ledger", "/projects/tea/jobs", "/endpoints", "/projects/tea/study-links",
    "/projects/tea/operations/waiting",
)  # fmt: skip


@pytest.mark.long
def test_lists_ask_as_often_for_many_rows_as_for_few(program, stage, owner):
    def queries() -> dict[str, int]:
        counts = {}
        for path in LISTS:
            program.get(f"{path}?limit=200")
            with CaptureQueriesContext(connection) as asked:
                assert program.get(f"{path}?limit=200").status_code == 200
            counts[path] = len(asked)
        return counts

    make_work(make_hit(stage), "A0")
    few = queries()
    for number in range(1, 6):
        make_work(make_hit(stage), f"A{number}")
        make_stage(stage.project, stage.endpoint, slug=f"poll{number}")
        create_project(slug=f"p{number}", title="P", owner=owner)
    assert queries() == few
    assert max(few.values()) <= 8, few


def test_exports_are_lines_and_as_many_as_there_are(program, stage, monkeypatch):
    monkeypatch.setattr(bodies, "ROWS_AT_ONCE", 3)
    hits = [make_hit(stage) for _ in range(7)]
    for number, hit in enumerate(hits):
        make_work(hit, f"A{number}")
    rows = program.lines("/projects/tea/stages/poll/assignments")
    assert [row["worker"] for row in rows] == [f"A{number}" for number in range(7)]
    assert rows[0]["response"]["item:0"] == {"choice": "tea"} and rows[0]["submitted_at"].endswith("Z")
    one = program.get(f"/projects/tea/stages/poll/assignments/{rows[0]['id']}").json()
    assert one == rows[0]


def test_a_page_is_what_is_given_unless_lines_are_preferred(program, stage):
    for accept in ("*/*", "application/json", "text/html", "application/jsonl;q=0.1, */*"):
        answer = program.get("/projects/tea/stages/poll/hits", Accept=accept)
        assert answer.json() == {"items": [], "next": None}
