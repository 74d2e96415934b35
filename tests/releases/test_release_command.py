"""`manage.py release`: builds, checks and compares on the terminal, and says in words what is wrong."""

import io
import json
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from core.projects.services import set_role
from releases.management.terminal import card
from releases.models import PrivacyFinding, Release
from tests.releases.world import make_answer, make_judgment

pytestmark = pytest.mark.django_db
REASON = "these are simulated people"


@pytest.fixture(autouse=True)
def shelf(tmp_path, settings) -> Path:
    """Where releases are kept in a test."""
    settings.RELEASES_STORAGE = str(tmp_path / "shelf")
    return tmp_path / "shelf"


def run(*words: object) -> str:
    out = io.StringIO()
    call_command("release", *map(str, words), stdout=out, stderr=out)
    return out.getvalue()


def test_a_release_is_built_kept_written_verified_and_compared(made_world, tmp_path, shelf):
    world = made_world
    said = json.loads(
        run("build", "capitals", "--formats", "jsonl,csv", "--out", tmp_path / "out", "--notes", "the first",
            "--accept-findings", REASON, "--json")
    )  # fmt: skip
    assert (said["version"], said["state"], said["same_as_before"]) == ("1.0.0", "ready", False)
    assert said["tables"]["ratings"] == {"train": 50}
    assert (shelf / "capitals/1.0.0/manifest.json").exists()
    assert {state for (state,) in PrivacyFinding.objects.values_list("state")} <= {"accepted"}

    assert run("verify", tmp_path / "out").startswith("capitals 1.0.0: ")
    assert json.loads(run("verify", tmp_path / "out", "--json"))["known"] is True

    again = run("build", "capitals", "--formats", "jsonl,csv", "--out", tmp_path / "again")
    assert "Nothing has changed since capitals 1.0.0" in again
    assert Release.objects.count() == 1
    assert (tmp_path / "again/manifest.json").read_bytes() == (tmp_path / "out/manifest.json").read_bytes()

    make_answer(world, "q4", "AE1", "Yes, very")
    run("build", "capitals", "--formats", "jsonl", "--seed", "4", "--splits", "0.6,0.2,0.2")
    said = run("diff", "capitals@1.0.0", "capitals@1.1.0")
    assert said.startswith("capitals@1.0.0 -> capitals@1.1.0\n")
    assert "answers: 18 -> 19 rows; 1 added, 0 removed" in said
    assert json.loads(run("diff", tmp_path / "out", "capitals@1.0.0", "--json"))["same_bytes"] is True


def test_open_findings_stop_a_build_and_are_listed_by_check(made_world):
    world = made_world
    make_answer(world, "q4", "AE1", "write to jane.doe@example.org")
    with pytest.raises(CommandError, match="without a decision"):
        run("build", "capitals")
    assert not Release.objects.exists()
    out = io.StringIO()
    with pytest.raises(CommandError, match="need a person"):
        call_command("release", "check", "capitals", stdout=out)
    assert "jane.doe@example.org" in out.getvalue()


def test_another_manifest_than_the_one_that_was_built_here_is_found(made_world, tmp_path):
    run("build", "capitals", "--formats", "jsonl", "--out", tmp_path / "out", "--accept-findings", REASON)
    folder = tmp_path / "out"
    manifest = (folder / "manifest.json").read_text().replace("CC-BY-4.0", "CC-BY-4.1")
    (folder / "manifest.json").write_text(manifest)
    out = io.StringIO()
    with pytest.raises(CommandError, match="2 problems"):
        call_command("release", "verify", str(folder), stderr=out, stdout=out)
    assert "is not that of capitals 1.0.0 as it was built here" in out.getvalue()


def test_what_cannot_be_done_is_said_with_the_remedy(made_world, tmp_path):
    for words, says in [
        (("build", "nothing"), "There is no project 'nothing'"),
        (("build", "capitals", "--formats", "excel"), "there is no format 'excel'; there are jsonl, csv"),
        (("build", "capitals", "--formats", ","), "name at least one"),
        (("build", "capitals", "--splits", "1"), "give the shares of train, validation, test"),
        (("build", "capitals", "--splits", "0.5,0.1,0.1"), "must add up to 1, not 0.7"),
        (("build", "capitals", "--seed", "-1"), "no whole number from 0"),
        (("build", "capitals", "--as", "ghost"), "There is no user named 'ghost'"),
        (("build", "capitals", "--card", "nowhere.json"), "--card nowhere.json cannot be read"),
        (("build", "capitals", "--release-version", "one", "--accept-findings", REASON), "is no version"),
        (("verify", "nowhere"), "There is no folder nowhere"),
        (("diff", "nowhere", "capitals@1.0.0"), "is neither a folder nor of the form PROJECT@VERSION"),
        (("diff", "capitals@9.0.0", "capitals@1.0.0"), "has no release '9.0.0'; there are: none"),
        (("check", "nothing"), "There is no project 'nothing'"),
    ]:
        with pytest.raises(CommandError) as refused:
            run(*words)
        assert says in str(refused.value)
    assert not Release.objects.exists()
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(CommandError, match="is not empty"):
        run("build", "capitals", "--out", tmp_path)
    assert not Release.objects.exists()
    deep = tmp_path / "card.json"
    deep.write_text("[" * 50_000)
    with pytest.raises(CommandError, match="cannot be read"):
        card(deep)


def test_judgments_that_no_filter_has_looked_at_are_named_by_the_command_and_the_wizard(made_world, client):
    """A top-up paid for them: where nobody says so, they are left out of the release in silence."""
    world = made_world
    client.force_login(User.objects.create_user("boss"))
    set_role(project=world.project, user=User.objects.get(), role="owner")
    address = "/desk/projects/capitals/releases/new/"
    assert "newer than the filters" not in client.get(address).content.decode()
    make_judgment(world, "alpha/q1", "AJ1", 3)
    make_judgment(world, "beta/q1", "AJ1", 3)
    sentence = "2 judgments are newer than the filters, and in no score of a release."
    said = run("build", "capitals", "--formats", "jsonl", "--accept-findings", REASON)
    assert f"{world.stages['judging'].title}: {sentence} Apply the filters again" in said
    page = client.get(address).content.decode()
    assert sentence in page
    assert "/filters/" in page.partition(sentence)[2][:200]


def test_a_build_that_is_stopped_is_marked_as_failed_and_leaves_no_folder(made_world, monkeypatch):
    from releases import storage

    def full(*_: object, **__: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(storage, "keep_files", full)
    with pytest.raises(OSError, match="No space"):
        run("build", "capitals", "--formats", "jsonl", "--accept-findings", REASON)
    release = Release.objects.get()
    assert (release.state, release.error) == ("failed", "No space left on device")
