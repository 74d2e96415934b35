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
libraries = sorted(name for name in tops if "site-packages" in places[name])
sign_in = sorted(name for name in sys.modules if name.partition(".")[0] == "allauth")
print("LOADED " + json.dumps({"libraries": libraries, "sign_in": sign_in}))
"""
#: Modules of django-allauth that its models need; the library imports adapters and flows with them.
MOST_OF_SIGN_IN = 70
#: Parts of it that wait for a page of sign-in; the web process has them by its addresses.
PAGES_OF_SIGN_IN = (
    "views",
    "forms",
    "urls",
    "webauthn",
    "totp",
    "recovery_codes",
    "openid_connect",
    "oauth2",
)


def load(process: str, data: Path) -> dict[str, list[str]]:
    """What such a process has loaded: `libraries` outside Python's own, modules of `sign_in`."""
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
    found: dict[str, list[str]] = json.loads(last)
    return found
