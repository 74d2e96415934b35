"""Which libraries a process has loaded when it is ready for its first request, message or check."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.repository import ROOT

#: Libraries that take seconds to load; none is loaded before something is computed with it.
HEAVY = {
    "altair", "bert_score", "datasketch", "krippendorff", "nltk", "numpy", "pandas", "pyarrow", "scipy",
    "sentence_transformers", "sklearn", "tantivy", "torch", "transformers", "vl_convert",
}  # fmt: skip

#: What each kind of process does until it is ready.
PROCESSES = {
    "web": """
import distillery.wsgi
from django.urls import get_resolver
get_resolver()._populate()
""",
    "worker": """
from distillery.celery import app
app.loader.import_default_modules()
app.finalize()
from django.utils.module_loading import autodiscover_modules
autodiscover_modules("tasks")
""",
    "check": """
from django.core.management import execute_from_command_line
execute_from_command_line(["manage.py", "check"])
""",
}
_PRINT = """
import json, sys
tops = {name.partition(".")[0] for name in list(sys.modules)}
places = {name: getattr(sys.modules.get(name), "__file__", None) or "" for name in tops}
print("LOADED " + json.dumps(sorted(name for name in tops if "site-packages" in places[name])))
"""


def list_libraries(process: str, data: Path) -> list[str]:
    """Names of the libraries outside Python's own that such a process has loaded."""
    done = subprocess.run(
        [sys.executable, "-c", PROCESSES[process] + _PRINT],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "distillery.settings", "DATA_DIR": str(data)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    last = done.stdout.strip().rpartition("LOADED ")[2]
    found: list[str] = json.loads(last)
    return found
