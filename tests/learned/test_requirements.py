"""Learned metrics and commands without their package, or without PyTorch: each says what to install."""

import csv
import re
import tomllib
from importlib.util import find_spec

import pytest
from django.core.management import CommandError, call_command, load_command_class

from distillery_learned import metrics as package
from distillery_learned import training
from evaluations.choices import kinds_of
from metrics import MetricError
from metrics import learned_metrics as port
from metrics.catalogue import ADEM, BERTSCORE, KPQA, MAKERS, metric, missing
from tests.repository import ROOT

INSTALL = re.escape("pip install ./distributions/learned")
WITHOUT_TORCH = rf"torch is not installed: {INSTALL}"
WITHOUT_PACKAGE = rf"distillery-learned(?: is|, which is) not installed: {INSTALL}"
LEARNED = {*KPQA, *BERTSCORE, *ADEM}
FOLDER = ROOT / "distributions" / "learned"


@pytest.fixture
def without_torch(monkeypatch):
    monkeypatch.setattr(package, "find_spec", lambda name: None if name == "torch" else find_spec("json"))
    package.missing.cache_clear()
    yield
    package.missing.cache_clear()


@pytest.fixture
def table(tmp_path):
    with (tmp_path / "answers.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("question", "answer", "reference1"), ("q", "a", "a")])
    return tmp_path / "answers.csv"


def test_nothing_is_missing_here():
    assert port.learned_metrics().missing() == ""


def test_what_is_missing_is_named_with_the_remedy(without_torch):
    with pytest.raises(MetricError, match=f"KPQA needs packages that are not there: {WITHOUT_TORCH}"):
        package.needed("KPQA")


@pytest.mark.parametrize("absent", ["torch", "package"])
def test_metrics_are_made_and_say_why_they_cannot_be_scored(absent, request):
    request.getfixturevalue(f"without_{absent}")
    lacking = {name for name in MAKERS if "pip install ./distributions/learned" in missing(metric(name))}
    assert lacking == LEARNED == {name for name in MAKERS if kinds_of(name)}


@pytest.mark.parametrize("absent", ["torch", "package"])
def test_a_score_is_refused_in_a_sentence(absent, request, table):
    request.getfixturevalue(f"without_{absent}")
    why = {"torch": WITHOUT_TORCH, "package": WITHOUT_PACKAGE}[absent]
    with pytest.raises(CommandError, match=f"rouge-l-kpqa cannot be scored here: {why}. Or leave the"):
        call_command("score", table, "--metrics", "rouge-l-kpqa")


def test_training_is_refused_in_a_sentence(without_torch, table, tmp_path):
    data = tmp_path / "data.json"
    data.write_text('{"question": "q", "answer": "a b", "span": "a"}\n')
    for command, source in (("train-kpqa", data), ("train-adem", table)):
        with pytest.raises(
            CommandError, match=f"{command} needs packages that are not there: {WITHOUT_TORCH}"
        ):
            call_command(command, source, "--encoder", tmp_path, "--out", tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("ask", ["find_encoder", "fetch_encoder"])
def test_an_encoder_is_refused_in_a_sentence(without_package, ask):
    with pytest.raises(MetricError, match=f"The encoder tiny cannot be used: {WITHOUT_PACKAGE}"):
        getattr(port.learned_metrics(), ask)("tiny")


@pytest.mark.parametrize("words", [["--list", "--json"], ["data.json", "--encoder", "tiny"], []])
@pytest.mark.parametrize("name", ["paper", "train-adem", "train-kpqa"])
def test_a_command_of_the_package_names_it_whatever_its_options(name, words, capsys):
    command = load_command_class("evaluations", name)
    with pytest.raises(SystemExit) as ended:
        command.run_from_argv(["manage.py", name, *words])
    assert ended.value.code == 1
    assert re.search(WITHOUT_PACKAGE, capsys.readouterr().err)


def test_its_help_names_the_package_too(capsys):
    with pytest.raises(SystemExit) as ended:
        load_command_class("evaluations", "paper").run_from_argv(["manage.py", "paper", "--help"])
    assert ended.value.code == 0
    assert re.search(WITHOUT_PACKAGE, " ".join(capsys.readouterr().out.split()))


def test_the_package_asks_for_what_it_looks_for_and_has_the_version_of_the_application():
    own, application = (
        tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for folder in (FOLDER, ROOT)
    )
    names = {each.partition(">")[0].replace("-", "_") for each in own["dependencies"]}
    assert names == set(package._PACKAGES) >= set(training.PACKAGES)
    for field in ("version", "requires-python", "license"):
        assert own[field] == application[field]
