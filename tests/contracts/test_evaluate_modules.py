"""`manage.py evaluate` on a file loads what it works with: no other app, no metric that is not scored."""

import json
import os
import subprocess
import sys

import pytest

from tests.repository import ROOT

#: It may get smaller. What makes it larger is loaded by everybody who evaluates a table.
MOST = 51
_EVALUATE = """
import json, sys
import django
from django.core.management import call_command

APPS = {"annotation", "core", "crowd", "distillery", "distillery_learned", "evaluations", "examples",
        "judgments", "marketplace", "metrics", "people", "releases", "retrieval", "web"}

def list_modules():
    return {name for name in sys.modules if name.partition(".")[0] in APPS}

django.setup()
before = list_modules()
call_command("evaluate", *sys.argv[1:])
print("LOADED " + json.dumps(sorted(list_modules() - before)))
"""


@pytest.mark.long
def test_evaluate_loads_few_modules_beyond_those_of_every_command(tmp_path):
    words = [str(ROOT / "examples" / "answers.csv"), "--report", str(tmp_path / "report"), "--processes", "1",
             "--replicates", "50", "--draws", "99"]  # fmt: skip
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "distillery.settings", "DATA_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", _EVALUATE, *words],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    modules = json.loads(done.stdout.partition("LOADED ")[2])
    # Django loads how a language writes numbers when the first one is written.
    loaded = [name for name in modules if not name.startswith("distillery.formats")]
    assert len(loaded) <= MOST, "\n".join(loaded)
    others = ("annotation", "crowd", "distillery", "marketplace", "people", "retrieval", "metrics.answers.pa")
    assert [name for name in loaded if name.startswith(others)] == []
    assert [name for name in loaded if name.startswith("distillery_learned")] == []
