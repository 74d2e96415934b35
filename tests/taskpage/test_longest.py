"""No worker's page has a field that the browser cuts in silence."""

from pathlib import Path

import pytest

from tests.cases import apart
from tests.taskpage.test_checks_hidden import WORLDS
from tests.taskpage.world import Visitor, make_hit

TEMPLATES = Path(__file__).parents[2] / "templates"


@pytest.mark.django_db
def test_task_pages_count_instead_of_cutting(subtests):
    for kind in sorted(WORLDS):
        with apart(subtests, kind=kind):
            stage, units = WORLDS[kind]()
            page = Visitor(make_hit(stage, *units)).open().content.decode()
            assert "maxlength" not in page
            assert "longest.js" in page


@pytest.mark.parametrize("page", ["base.html", "crowd/task.html", "marketplace/frame/form.html"])
def test_every_page_with_fields_of_ours_counts_near_the_limit(page):
    assert '{% include "parts/longest.html" %}' in (TEMPLATES / page).read_text()
    assert "{% static 'longest.js' %}" in (TEMPLATES / "parts/longest.html").read_text()
