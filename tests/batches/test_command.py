"""`manage.py marketplace batch`: the same for scripts."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from marketplace.models import HIT, Holding
from tests.batches import making
from tests.site import world


def run(*arguments: object) -> dict[str, object]:
    out = StringIO()
    call_command("marketplace", "batch", *map(str, arguments), "--json", stdout=out)
    return json.loads(out.getvalue())


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    page, table = tmp_path / "page.html", tmp_path / "tasks.csv"
    page.write_text(making.HTML)
    table.write_text(making.CSV)
    return page, table


def test_a_script_goes_the_whole_way(lab, rosa, ben, files, tmp_path):
    words = ["--title", "Look", "--description", "Say what you see", "--reward", "0.10", "--assignments", "2"]
    made = run("create", lab.name, *files, *words)
    assert made["state"] == "draft"
    assert (made["number"], made["tasks"], made["total"]) == (1, 2, "0.40")
    assert made["not_loaded_from"] == "https://pictures.example.org"
    with pytest.raises(CommandError, match=r"The total is \$0\.40, not 1\. Nothing was published"):
        run("publish", lab.name, 1, "--total", "1")
    assert run("publish", lab.name, 1, "--total", "0.40")["state"] == "published"
    hit = HIT.objects.order_by("pk").first()
    good, bad = world.do(rosa, hit), world.do(ben, hit)
    file = tmp_path / "results.csv"
    assert run("results", lab.name, 1, file)["assignments"] == 2
    file.write_text(
        f"AssignmentId,Approve,Reject\n{good.assignment_id},x,\n{bad.assignment_id},,Empty.\nA,,\n"
    )
    said = run("review", lab.name, 1, file)
    assert said.pop("read_as") == {
        "encoding": "utf-8",
        "separator": ",",
        "sheet": None,
        "header_row": 1,
        "columns": {"assignment": ["AssignmentId"], "decision": ["Approve", "Reject"], "compared": []},
        "left_out": [],
        "rows": {"read": 3, "used": 2, "merged": 0, "repeats": 0, "refused": 1},
    }
    assert said == {
        "approved": 1,
        "rejected": 1,
        "already": 0,
        "unknown": 0,
        "refused": 0,
        "left": 1,
    }
    assert set(Holding.objects.values_list("state", flat=True)) == {"approved", "rejected"}
    assert run("cancel", lab.name, 1)["state"] == "cancelled"
    with pytest.raises(CommandError, match="has HITs"):
        run("delete", lab.name, 1)


def test_what_the_protocol_refuses_is_refused_here(lab, files):
    with pytest.raises(CommandError, match="parameter Title is not valid"):
        run("create", lab.name, *files, "--title", "x" * 129, "--description", "d", "--reward", "0.10")
    with pytest.raises(CommandError, match="'ten' is not an amount"):
        run("create", lab.name, *files, "--title", "x", "--description", "d", "--reward", "ten")
    with pytest.raises(CommandError, match="has no batch 1"):
        run("show", lab.name, 1)
