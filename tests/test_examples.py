"""What the README tells a newcomer to type is there and works."""

import io
import re
import tomllib
from pathlib import Path

import pytest
from django.core.management import call_command

from crowd.kinds import kind_named
from crowd.services.stages import made_listing

ROOT = Path(__file__).resolve().parent.parent
RETRIEVAL, FEW = "examples/retrieval", ("--draws", "99")


def test_every_file_that_the_readme_names_is_there():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\b(?:examples|docs|requirements)/[\w./-]+\.\w+", text))
    assert {"examples/ratings.csv", "examples/answers.csv", "examples/retrieval/qrels.tsv"} <= named
    assert text.count("\n") <= 120
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_every_example_is_on_their_page():
    page = (ROOT / "examples/README.md").read_text(encoding="utf-8")
    names = {path.name + "/" * path.is_dir() for path in (ROOT / "examples").iterdir()}
    names -= {"README.md", "__init__.py", "__pycache__/"}
    assert sorted(name for name in names if f"`{name}`" not in page) == []


@pytest.mark.parametrize("name", ["answers", "judging", "poll"])
def test_what_workers_read_of_the_example_studies_contradicts_no_option(name):
    for stage in tomllib.loads((ROOT / f"examples/{name}.toml").read_text(encoding="utf-8"))["stages"]:
        made = made_listing(
            kind_named(stage["kind"]),
            units_per_hit=stage.get("units_per_hit", 1),
            checks_per_hit=stage.get("checks_per_hit", 0),
            minutes=stage.get("expected_minutes"),
            config=stage.get("config", {}),
        )
        for text, of_terms in (
            (stage["task"]["title"], made.title),
            (stage["task"]["description"], made.description),
        ):
            assert text == of_terms or not re.search(
                r"\d|minute|\b(two|three|five|six|ten|fifty)\b", text.lower()
            )


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["filter", "examples/ratings.csv", "--recipe", "default"], "After removing 4 workers of 20"),
        (["score", "examples/answers.csv", "--out", "{tmp}/scores.csv"], "50 answers"),
        (
            [
                "evaluate",
                "examples/answers.csv",
                "--report",
                "{tmp}/report",
                "--draws",
                "99",
                "--replicates",
                "99",
            ],
            "Written to",
        ),
        (
            [
                "retrieval-eval",
                "examples/retrieval/qrels.tsv",
                "examples/retrieval/queries.jsonl",
                "--draws",
                "99",
            ],
            "Means over 24 queries",
        ),
    ],
    ids=lambda each: each[0] if isinstance(each, list) else "",
)
def test_the_commands_of_the_readme_run(words, answer, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert words[0] == "score" or f"distillery {words[0]} {words[1]}" in readme
    out = io.StringIO()
    call_command(*(word.replace("{tmp}", str(tmp_path)) for word in words), stdout=out)
    assert answer in out.getvalue()
