"""Without the extra packages learned metrics say what to install, and everything else goes on."""

import csv
from importlib.util import find_spec

import pytest
from django.core.management import CommandError, call_command

from metrics import MetricError, neural
from metrics.catalogue import KPQA, MAKERS, metric, missing

REMEDY = r"torch is not installed: pip install '\.\[models\]'"
TRAINING_REMEDY = r"torch is not installed: pip install '\.\[training\]'"


@pytest.fixture
def without_torch(monkeypatch):
    monkeypatch.setattr(neural, "find_spec", lambda name: None if name == "torch" else find_spec(name))
    neural.missing.cache_clear()
    yield
    neural.missing.cache_clear()


def test_nothing_is_missing_here():
    assert neural.missing() == ""


def test_what_is_missing_is_named_with_the_remedy(without_torch):
    with pytest.raises(MetricError, match=f"KPQA needs packages that are not there: {REMEDY}"):
        neural.needed("KPQA")


def test_metrics_are_made_and_say_why_they_cannot_be_scored(without_torch):
    made = [metric(name) for name in MAKERS]
    lacking = {each.name for each in made if "not installed: pip install '.[models]'" in missing(each)}
    assert lacking >= {*KPQA, "bertscore", "bertscore-kpqa", "adem", "c-adem", "r-adem"}
    assert not lacking & {"bleu-4", "rouge-l", "pa-bleu-4", "cider"}


def test_commands_say_it_in_a_sentence(without_torch, tmp_path):
    table = tmp_path / "answers.csv"
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([("question", "answer", "reference1"), ("q", "a", "a")])
    with pytest.raises(CommandError, match=REMEDY):
        call_command("score", table, "--metrics", "rouge-l-kpqa")
    data = tmp_path / "data.json"
    data.write_text('{"question": "q", "answer": "a b", "span": "a"}\n')
    with pytest.raises(CommandError, match=TRAINING_REMEDY):
        call_command("train-kpqa", data, "--encoder", tmp_path, "--out", tmp_path / "model")
    with pytest.raises(CommandError, match=TRAINING_REMEDY):
        call_command("train-adem", table, "--encoder", tmp_path, "--out", tmp_path / "model")
    assert not (tmp_path / "model").exists()
