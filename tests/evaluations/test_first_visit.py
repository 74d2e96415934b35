"""The form of a new evaluation in a process that has just begun looks at files and loads no heavy library."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.server import ROOT, new_database

HEAVY = ("torch", "transformers", "nltk", "sklearn", "pandas", "scipy")
VISIT = f"""
import json, sys
import django
django.setup()
from django.conf import settings
from django.test.utils import setup_test_environment
from tests.evaluations.desk_world import make_release
from tests.releases.shelf_world import as_, make_project

setup_test_environment()
settings.RELEASES_STORAGE = sys.argv[1]
make_release(make_project())
page = as_("manager").get("/desk/projects/capitals/evaluations/new/")
loaded = [name for name in {HEAVY} if name in sys.modules]
offered = b'value="meteor"' in page.content
print(json.dumps({{"status": page.status_code, "loaded": loaded, "meteor": offered}}))
"""


def test_the_first_visit_of_the_form_loads_no_library_of_models(tmp_path: Path) -> None:
    visited = subprocess.run(
        [sys.executable, "-c", VISIT, str(tmp_path / "shelf")],
        cwd=ROOT,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.settings_test",
            "DATABASE_URL": new_database(tmp_path),
            "DISTILLERY_TEST_RUN": str(tmp_path),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(visited.stdout) == {"status": 200, "loaded": [], "meteor": True}
