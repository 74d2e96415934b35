"""The extra `training`: commands name it where its packages are missing, `metrics` knows nothing of it."""

import tomllib
from importlib.util import find_spec

import grimp
import pytest
from django.core.management import CommandError, call_command

from evaluations import training
from metrics import neural
from tests.repository import ROOT


@pytest.fixture
def without_torch(monkeypatch):
    monkeypatch.setattr(neural, "find_spec", lambda name: None if name == "torch" else find_spec("json"))


def test_the_kpqa_command_names_the_extra(without_torch, tmp_path):
    with pytest.raises(CommandError, match=r"torch is not installed: pip install '\.\[training\]'"):
        call_command("train-kpqa", str(tmp_path / "a.json"), encoder="bert", out=tmp_path / "model")


def test_the_adem_command_names_the_extra(without_torch, tmp_path):
    with pytest.raises(CommandError, match=r"torch is not installed: pip install '\.\[training\]'"):
        call_command("train-adem", str(tmp_path / "a.csv"), encoder="bert", out=tmp_path / "model")


def test_the_extra_holds_what_the_commands_look_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = project["optional-dependencies"]["training"]
    names = {each.partition(">")[0].replace("-", "_") for each in listed}
    assert names == set(training.PACKAGES)


def test_metrics_import_nothing_of_training():
    graph = grimp.build_graph("metrics", "evaluations", cache_dir=None)
    importers = graph.find_modules_that_directly_import("evaluations.training")
    importers |= {
        importer
        for module in graph.find_descendants("evaluations.training")
        for importer in graph.find_modules_that_directly_import(module)
    }
    assert sorted(each for each in importers if each.startswith("metrics")) == []
