"""The form of a new evaluation in a process that has just begun looks at files and loads no heavy library.

The process has begun as those of the web server do, with the addresses of all namespaces prepared.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server import ROOT, new_database

HEAVY = ("torch", "transformers", "sentence_transformers", "bert_score", "nltk", "sklearn", "pandas", "scipy")
VISIT = f"""
import json, sys
from pathlib import Path
import distillery.wsgi
from django.conf import settings
from django.test.utils import setup_test_environment
from django.urls.resolvers import get_ns_resolver
from tests.evaluations.desk_world import make_release
from tests.evaluations.model_folders import model
from tests.releases.shelf_world import as_, make_project

setup_test_environment()
settings.RELEASES_STORAGE, settings.METRIC_MODELS = sys.argv[1], Path(sys.argv[2])
model(settings.METRIC_MODELS)
make_release(make_project())
browser = as_("manager")
prepared = get_ns_resolver.cache_info().misses
page = browser.get("/desk/projects/capitals/evaluations/new/")
namespaces = get_ns_resolver.cache_info().misses - prepared
loaded = [name for name in {HEAVY} if name in sys.modules]
offered = b'value="meteor"' in page.content and b"marco" in page.content
answer = {{"status": page.status_code, "loaded": loaded, "meteor": offered, "namespaces": namespaces}}
print(json.dumps(answer))
"""


@pytest.mark.long
def test_the_first_visit_of_the_form_loads_no_library_of_models(tmp_path: Path) -> None:
    visited = subprocess.run(
        [sys.executable, "-c", VISIT, str(tmp_path / "shelf"), str(tmp_path / "models")],
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
    assert json.loads(visited.stdout) == {"status": 200, "loaded": [], "meteor": True, "namespaces": 0}
