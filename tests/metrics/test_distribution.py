"""`distillery-metrics`: the package `metrics` installed alone, with what its metadata asks for."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

from tests.repository import ROOT, find_committed_files

FOLDER = Path("distributions/metrics")
PROJECT = tomllib.loads((ROOT / FOLDER / "pyproject.toml").read_text(encoding="utf-8"))["project"]
USE = """
import importlib.util, pkgutil, sys
assert importlib.util.find_spec("django") is None
import metrics
from metrics.agreement.alpha import alpha_of
from metrics.agreement.data import ratings_of
from metrics.metaeval.correlation import correlate
from metrics.metaeval.data import ScoredAnswers
import numpy as np

print(round(float(metrics.metric("bleu-1").score(["in 1923"], [["in 1923 ."]])[0]), 4))
ratings = [("i1", "ann", 4), ("i1", "bob", 5), ("i2", "ann", 1), ("i2", "bob", 1)]
print(round(alpha_of(ratings_of(ratings)).value, 4))
human, scores, codes = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]), np.arange(3, dtype=np.int32)
judged = ScoredAnswers(
    questions=codes, systems=np.zeros(3, np.int32), question_names=["a", "b", "c"], system_names=["s"],
    human=human, metrics={"m": scores},
)
print(round(correlate(judged, "m", "pearson", "global").value, 4))
"""


def run(*command, **options):
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, made from a copy of the package and its metadata, because a build leaves folders behind."""
    source = tmp_path_factory.mktemp("source")
    for path in find_committed_files():
        name = path.relative_to(ROOT)
        if name.parts[0] == "metrics" or FOLDER in name.parents:
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, source / name)
    out = tmp_path_factory.mktemp("wheel")
    options = ["--quiet", "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", out]
    run(sys.executable, "-m", "pip", "wheel", *options, source / FOLDER)
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """The Python of an environment with the wheel and links to the packages that its metadata names."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    packages = next(folder.glob("lib/python*/site-packages"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    for requirement in PROJECT["dependencies"]:
        files = distribution(re.split(r"[<>=]", requirement)[0])
        for top in {path.parts[0] for path in files.files or ()} - {".."}:
            (packages / top).symlink_to(Path(str(files.locate_file(top))))
    return folder / "bin" / "python"


def test_the_distribution_has_the_version_and_the_python_of_the_application():
    application = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for field in ("version", "requires-python", "license"):
        assert PROJECT[field] == application[field]


@pytest.mark.long
def test_the_wheel_holds_every_module_of_metrics_and_nothing_else(wheel):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = {path.relative_to(ROOT) for path in find_committed_files()}
    assert names == {path.as_posix() for path in files if path.parts[0] == "metrics"}


def test_metrics_work_alone_without_django(python, tmp_path):
    assert run(python, "-c", USE, cwd=tmp_path).split() == ["0.6065", "0.9412", "0.982"]


def test_every_module_loads_alone(python, tmp_path):
    walk = """
import importlib, pkgutil, metrics
for found in pkgutil.walk_packages(metrics.__path__, "metrics."):
    importlib.import_module(found.name)
    print(found.name)
"""
    loaded = run(python, "-c", walk, cwd=tmp_path).split()
    assert {"metrics.catalogue", "metrics.metaeval.report", "metrics.agreement.report"} <= set(loaded)
    assert len(loaded) > 40
