"""What holds for all pages of the desk: hostile words stay words; more projects or stages cost no more."""

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.projects.models import Project
from core.projects.services import create_project
from crowd.models import MarketOperation
from tests.desk.conftest import HOSTILE, at, make_hit, make_stage, make_unknown, make_work

pytestmark = pytest.mark.django_db


def test_hostile_words_are_shown_as_words(owner, project, endpoint):
    config = {"question": HOSTILE, "options": [HOSTILE, "b"], "items": [HOSTILE], "checks": {HOSTILE: "b"}}
    stage = make_stage(project, endpoint, slug="bad", title=HOSTILE, task_title=HOSTILE[:100], config=config)
    Project.objects.update(title=HOSTILE, licence=HOSTILE[:80])
    hit = make_hit(stage)
    work = make_work(
        hit,
        HOSTILE[:40],
        state="quarantined",
        note=HOSTILE,
        response={"item:0": {"choice": HOSTILE}, "check:0": {"choice": HOSTILE}},
        telemetry={HOSTILE: HOSTILE},
    )
    make_unknown(make_hit(stage))
    MarketOperation.objects.update(error_text=HOSTILE, error_code=HOSTILE[:60], purpose=HOSTILE)
    pages = [
        "/desk/projects/", "/desk/projects/reading/", "/desk/projects/reading/events/",
        *(at(name, stage) for name in ("stage", "live", "edit_stage", "opening", "hits", "work", "workers")),
        *(at(name, stage) for name in ("message", "operations", "decisions")),
        at("hit", stage, number=0), at("assignment", stage, pk=work.pk),
        at("worker", stage, pk=work.worker_id), at("work", stage) + "?worker=%3Cscript%3Ealert",
    ]  # fmt: skip
    for place in pages:
        answer = owner.get(place)
        assert answer.status_code == 200, place
        text = answer.content.decode()
        assert "<script>alert" not in text, place
        assert "&{49}" not in text, place
        assert "style=" not in text and "onclick" not in text, place


def test_lists_of_projects_and_stages_ask_the_same_for_many(owner, people, project, endpoint):
    counted = []
    for number in range(2):
        for each in range(3):
            make_work(make_hit(make_stage(project, endpoint, slug=f"s{number}-{each}")))
            create_project(slug=f"p{number}-{each}", title="P", owner=people["owner"])
        cache.clear()
        with CaptureQueriesContext(connection) as queries:
            owner.get("/desk/projects/")
            owner.get("/desk/projects/reading/")
        counted.append(len(queries))
    assert counted[0] == counted[1] <= 69
