"""Models as folders: what is refused, and what makes another model of one."""

import json
import os

import pytest

from metrics import MetricError
from metrics.model_folders import CARD, choice, opened, read_card, with_models, write
from metrics.profiles import DEFAULT


def fill(folder):
    (folder / "encoder").mkdir()
    (folder / "encoder" / "weights").write_bytes(b"\x00\x01")
    (folder / "head").write_bytes(b"\x02")


def model(folder, kind="kpqa", settings=None, fill=fill, **card):
    return write(folder, kind, settings or {"units": 8}, card, fill, readme="# A model\n")


def test_a_model_is_read_as_it_was_written(tmp_path):
    made = model(tmp_path / "m", results={"f1": 0.5})
    found = opened(tmp_path / "m", "kpqa", made.digest)
    assert found == made
    assert (found.kind, found.name, found.settings) == ("kpqa", "m", {"units": 8})
    assert found.card["results"] == {"f1": 0.5}
    assert found.signature == f"kpqa-{made.digest[:12]}"
    assert (tmp_path / "m" / "README.md").read_text() == "# A model\n"


def test_a_model_may_be_read_by_everyone_whom_the_umask_lets(tmp_path):
    before = os.umask(0o027)
    try:
        model(tmp_path / "m")
    finally:
        os.umask(before)
    rights = {path.name: oct(path.stat().st_mode & 0o777) for path in (tmp_path / "m").rglob("*")}
    assert {rights[name] for name in ("card.json", "weights", "head", "README.md")} == {"0o640"}
    assert rights["encoder"] == oct((tmp_path / "m").stat().st_mode & 0o777) == "0o750"


def test_the_digest_is_of_what_computes_and_of_nothing_else(tmp_path):
    one = model(tmp_path / "one", results={"f1": 0.5})
    assert model(tmp_path / "two", results={"f1": 0.6}).digest == one.digest
    assert model(tmp_path / "three", settings={"units": 9}).digest != one.digest
    assert model(tmp_path / "four", kind="adem").digest != one.digest
    other = model(tmp_path / "five", fill=lambda folder: (folder / "head").write_bytes(b"\x03"))
    assert other.digest != one.digest


def test_a_folder_can_be_renamed_and_its_card_completed(tmp_path):
    made = model(tmp_path / "m")
    (tmp_path / "m").rename(tmp_path / "other")
    card = read_card(tmp_path / "other")
    (tmp_path / "other" / CARD).write_text(json.dumps({**card, "says": "For answers about health."}))
    assert opened(tmp_path / "other", "kpqa", made.digest).digest == made.digest


def test_files_that_are_not_those_of_the_card_are_refused(tmp_path):
    for number, (name, words) in enumerate(
        (("head", "head differs"), ("encoder/weights", "encoder/weights differs"), ("more", "more differs"))
    ):
        folder = tmp_path / str(number)
        model(folder)
        (folder / name).write_bytes(b"\xff")
        with pytest.raises(MetricError, match=words):
            opened(folder)
    (tmp_path / "2" / "more").unlink()
    (tmp_path / "2" / "head").unlink()
    with pytest.raises(MetricError, match="head is missing"):
        opened(tmp_path / "2")


def rewritten(folder, **values):
    (folder / CARD).write_text(json.dumps({**read_card(folder), **values}))


def test_another_kind_format_or_model_and_changed_settings_are_refused(tmp_path):
    model(tmp_path / "m")
    with pytest.raises(MetricError, match="of kind kpqa, and one of kind adem is needed"):
        opened(tmp_path / "m", "adem")
    with pytest.raises(MetricError, match="kpqa-000000000000 is asked for"):
        opened(tmp_path / "m", "kpqa", "0" * 64)
    rewritten(tmp_path / "m", settings={"units": 9})
    with pytest.raises(MetricError, match="its settings were changed"):
        opened(tmp_path / "m")
    rewritten(tmp_path / "m", format=2)
    with pytest.raises(MetricError, match="has format 2; this version reads format 1"):
        opened(tmp_path / "m")


def test_what_is_no_card_is_said(tmp_path):
    with pytest.raises(MetricError, match="is no model"):
        opened(tmp_path)
    for text in ("", "[]", "{}", '{"format": "1"}', "\xff"):
        (tmp_path / CARD).write_text(text, encoding="latin-1")
        with pytest.raises(MetricError, match="card"):
            opened(tmp_path)


def test_what_is_there_is_never_written_over(tmp_path):
    made = model(tmp_path / "m")
    with pytest.raises(MetricError, match="is there already"):
        model(tmp_path / "m", settings={"units": 9})
    assert opened(tmp_path / "m").digest == made.digest


def test_a_model_that_could_not_be_written_leaves_nothing(tmp_path):
    def breaks(folder):
        fill(folder)
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        model(tmp_path / "m", fill=breaks)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_hold_a_model_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(MetricError, match="cannot be made"):
        model(tmp_path / "file" / "m")


def test_models_stand_in_the_profile_by_kind(tmp_path):
    one, two = model(tmp_path / "one"), model(tmp_path / "two", kind="adem")
    profile = with_models(DEFAULT, [one.path, two.path], bertscore={"encoder": "e"}, cache="c")
    assert profile.settings["kpqa"] == {"model": choice(one.path)[1], "cache": "c"}
    assert profile.settings["kpqa"]["model"].digest == one.digest
    assert profile.settings["adem"]["model"].digest == two.digest
    assert profile.settings["bertscore"] == {"encoder": "e"}
    assert "kpqa" not in DEFAULT.settings


def test_two_models_of_a_kind_or_one_of_no_kind_are_refused(tmp_path):
    one, two = model(tmp_path / "one"), model(tmp_path / "two", settings={"units": 9})
    with pytest.raises(MetricError, match="Two models of kind kpqa"):
        with_models(DEFAULT, [one.path, two.path])
    other = model(tmp_path / "other", kind="comet")
    with pytest.raises(MetricError, match="there are kpqa, adem"):
        with_models(DEFAULT, [other.path])
