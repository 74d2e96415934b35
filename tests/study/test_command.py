"""`manage.py study` as a person and a program meet it."""

import json

import pytest
from django.core.management import CommandError, call_command

from core.projects.models import Event, Project
from crowd.models import Stage
from tests.study.conftest import EXAMPLE, KEYS

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(capsys, monkeypatch):
    """Runs the command; gives what it printed, on both streams."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)

    def study(*words, answer=None):
        if answer is not None:
            monkeypatch.setattr("builtins.input", lambda *_: answer)
        call_command("study", *words)
        return capsys.readouterr().out

    return study


def test_the_example_of_the_documentation_is_good(study):
    out = study("check", str(EXAMPLE))
    assert "is good: project warm-drinks, 1 stage" in out
    assert "+ stage first-look" in out
    assert not Project.objects.exists()


def test_a_bad_file_ends_with_status_1_and_everything_that_is_wrong(study, write, example, capsys):
    path = write(example.replace('"0.15"', "0.15").replace('kind = "poll"', 'kind = "pol"'))
    with pytest.raises(CommandError, match="2 errors; nothing was changed") as caught:
        study("check", path)
    assert caught.value.returncode == 1
    told = capsys.readouterr().err
    assert f"{path}:29: stages[0].kind: there is no kind of stage 'pol'" in told
    assert f"{path}:31: stages[0].reward: 0.15: money is written in quotes" in told


def test_programs_read_the_problems_as_json(study, write, example, capsys):
    with pytest.raises(CommandError):
        study("check", write(example.replace("redundancy = 12", "redundency = 12")), "--json")
    answer = json.loads(capsys.readouterr().out)
    assert answer["ok"] is False
    (problem,) = answer["problems"]
    assert (problem["level"], problem["code"], problem["line"]) == ("error", "unknown-key", 32)
    assert problem["field"] == "stages[0].redundency"
    assert problem["remedy"] == "Did you mean 'redundancy'?"


def test_applying_shows_the_differences_and_asks(study):
    out = study("apply", str(EXAMPLE), answer="y")
    assert out.index('reward: "0.15"') < out.index("Apply this? [y/N]") < out.index("Applied.")
    assert "24 answers in 2 HITs would cost 3.60 + 0.00 in fees = 3.60" in out
    assert Stage.objects.get().status == "draft"


def test_anything_but_yes_changes_nothing(study):
    for answer in ("", "n", "no", "maybe"):
        assert "Nothing was changed." in study("apply", str(EXAMPLE), answer=answer)
        assert not Project.objects.exists()
    with pytest.raises(CommandError, match="no project 'tea'; there are: none yet"):
        study("show", "tea")


def test_applied_again_or_as_it_is_shown_there_is_nothing_to_change(study, write):
    study("apply", str(EXAMPLE), "--yes")
    assert study("apply", str(EXAMPLE), "--yes") == "Nothing to change.\n"
    assert "nothing to change." in study("check", write(study("show", "warm-drinks")))


def test_a_difference_shows_old_and_new(study, write, example):
    study("apply", str(EXAMPLE), "--yes")
    text = example.replace('"0.15"', '"0.20"').replace('"Cocoa", ', "")
    text = text.replace("there is nothing to write.", "nothing is written.")
    out = study("check", write(text))
    assert '    reward: "0.15" → "0.20"\n' in out
    assert '    config.items: 6 → 5 entries: - "Cocoa"\n' in out
    assert '"… and go on; there is nothing to write." → "… and go on; nothing is written."' in out
    assert "  project warm-drinks (unchanged)\n" in out


def test_the_log_names_whoever_applied(study, owner):
    study("apply", str(EXAMPLE), "--yes", "--as", "ada")
    assert set(Event.objects.values_list("actor__username", flat=True)) == {"ada"}
    with pytest.raises(CommandError, match="no user named 'bob'"):
        study("apply", str(EXAMPLE), "--yes", "--as", "bob")


def test_applying_answers_programs_with_changes_and_costs(study):
    answer = json.loads(study("apply", str(EXAMPLE), "--yes", "--json"))
    assert (answer["ok"], answer["outcome"]) == (True, "applied")
    assert [(change["what"], change["action"]) for change in answer["changes"]] == [
        ("endpoint", "add"),
        ("project", "add"),
        ("stage", "add"),
    ]
    assert answer["quotes"]["first-look"]["total"] == "3.60"
    assert answer["quotes"]["first-look"]["cautions"] == []
    assert json.loads(study("apply", str(EXAMPLE), "--yes", "--json"))["outcome"] == "nothing to change"
    with pytest.raises(CommandError, match="needs --yes"):
        study("apply", str(EXAMPLE), "--json")


def test_how_far_the_stages_are_is_a_table_or_json(study, applied, example):
    applied(example)
    slug = Project.objects.get().slug
    lines = study("status", slug).splitlines()
    assert lines[0].split() == ["stage", "kind", "status", "done", "held"]
    assert len(lines) == 1 + Stage.objects.count() and " draft " in lines[1]
    found = json.loads(study("status", slug, "--json"))
    assert found["project"] == slug and found["stages"][0]["status"] == "draft"
    Stage.objects.all().delete()
    assert study("status", slug) == f"{slug} has no stages yet.\n"


def test_a_project_is_closed_and_reopened_by_name_with_a_reason(study, applied, example, owner):
    applied(example)
    slug = Project.objects.get().slug
    assert study("close", slug, "--why", "All is paid.", "--as", "ada") == f"{slug} is closed.\n"
    event = Event.objects.get(action="project.closed")
    assert (event.actor, event.details) == (owner, {"why": "All is paid."})
    with pytest.raises(CommandError, match="closed already"):
        study("close", slug)
    assert json.loads(study("reopen", slug, "--json")) == {"project": slug, "closed_at": None}
    assert json.loads(study("close", slug, "--json"))["closed_at"]
    assert study("reopen", slug) == f"{slug} is open again.\n"
    Stage.objects.update(status="open")
    with pytest.raises(CommandError, match="Close these stages first"):
        study("close", slug)
    with pytest.raises(CommandError, match="There is no project 'none'; there are:"):
        study("close", "none")
