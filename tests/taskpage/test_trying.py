"""Members of a project try a task before it is published: the worker's page, and nothing of it stays."""

import re

import pytest
from django.apps import apps as all_apps
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from core.projects.services import set_role
from crowd.kinds import kind_of
from crowd.models import Hit, HitUnit, Stage
from crowd.services.responses import REMEMBERED
from tests.cases import apart
from tests.judgments import judging_world
from tests.taskpage.test_checks_hidden import TELLTALE, WORLDS
from tests.taskpage.world import make_stage, text

pytestmark = pytest.mark.django_db
ROOMS = ("crowd", "annotation", "judgments", "poll", "retrieval", "projects", "marketplace")


def counts() -> dict[str, int]:
    """Rows of every table of the apps."""
    models = [model for model in all_apps.get_models() if model._meta.app_label in ROOMS]
    return {model._meta.label: model._default_manager.count() for model in models}


@pytest.fixture
def viewer() -> Client:
    client = Client()
    client.force_login(User.objects.create_user("viewer"))
    return client


def draft(kind: str) -> Stage:
    """A draft of a kind, with what it asks about."""
    stage, _ = WORLDS[kind]()
    set_role(project=stage.project, user=User.objects.get(username="viewer"), role="viewer")
    fields = {"status": Stage.Status.DRAFT, "opened_at": None, "units_per_hit": 2, "checks_per_hit": 1}
    Stage.objects.filter(pk=stage.pk).update(**fields)
    stage.refresh_from_db()
    return stage


def address(stage: Stage) -> str:
    return f"/desk/projects/{stage.project.slug}/stages/{stage.slug}/try/"


def test_a_draft_of_every_kind_is_tried_on_its_worker_page_and_nothing_is_stored(viewer, subtests):
    for kind in sorted(WORLDS):
        with apart(subtests, kind=kind):
            stage = draft(kind)
            before = counts()
            around = viewer.get(address(stage))
            assert f'src="{address(stage)}task/"' in around.content.decode()
            shown = viewer.get(f"{address(stage)}task/")
            page = shown.content.decode()
            assert shown.status_code == 200
            assert page.count('<section class="unit"') >= 2
            assert stage.task_title in text(shown)
            assert '<fieldset class="all">' in page
            assert TELLTALE.findall(page) == []
            assert "data-draft" not in page
            assert 'name="ticket"' not in page
            refused = viewer.post(f"{address(stage)}task/", {"0|text": "x" * 50, f"0|{REMEMBERED}first": "1"})
            assert (refused.status_code, "need" in text(refused)) == (422, True)
            assert counts() == before


def test_it_is_what_was_asked_first_without_looking_for_more(viewer, monkeypatch):
    stage = draft("judging")
    hit = Hit.objects.create(stage=stage, ordinal=0, places=1, reward_cents=1, fee_cents=0)
    [unit, *_] = [each.unit for each in kind_of(stage).pending(stage)]
    HitUnit.objects.create(hit=hit, unit=unit, role="real", position=0)
    monkeypatch.setattr(type(kind_of(stage)), "pending", None)
    page = viewer.get(f"{address(stage)}task/")
    assert page.content.decode().count('<section class="unit"') == 1


def test_a_form_that_a_worker_could_send_is_read_and_not_kept(viewer):
    stage = draft("poll")
    page = viewer.get(f"{address(stage)}task/").content.decode()
    names = sorted(set(re.findall(r'name="(\d\|choice)"', page)))
    assert len(names) == 3
    before = counts()
    done = viewer.post(f"{address(stage)}task/", dict.fromkeys(names, "Red"))
    assert "nothing was" in text(done)
    half = viewer.post(f"{address(stage)}task/", {names[0]: "Red"})
    assert half.content.decode().count("checked") == 2
    assert counts() == before


def test_only_our_own_pages_frame_it_and_only_members_see_it(viewer):
    stage = draft("poll")
    shown = viewer.get(f"{address(stage)}task/")
    assert shown["X-Frame-Options"] == "SAMEORIGIN"
    assert "frame-ancestors 'self'" in shown["Content-Security-Policy"]
    assert "frame-src 'self'" in viewer.get(address(stage))["Content-Security-Policy"]
    stranger = Client()
    stranger.force_login(User.objects.create_user("stranger"))
    assert {stranger.get(address(stage) + part).status_code for part in ("", "task/")} == {404}


def test_a_stage_without_units_says_so(viewer):
    project = judging_world.make_project()
    stage = make_stage("empty", project=project, kind="judging", config={}, status=Stage.Status.DRAFT)
    set_role(project=project, user=User.objects.get(username="viewer"), role="viewer")
    assert "There is nothing to ask about yet" in text(viewer.get(f"{address(stage)}task/"))


@pytest.mark.parametrize("role", ["viewer", "manager"])
def test_the_pages_that_say_so_lead_there(viewer, role):
    stage = draft("poll")
    set_role(project=stage.project, user=User.objects.get(username="viewer"), role=role)
    place = f"/desk/projects/{stage.project.slug}/stages/{stage.slug}/"
    pages = [place, f"/desk/projects/{stage.project.slug}/"]
    pages += [f"{place}open/"] if role == "manager" else []
    assert all(f'href="{address(stage)}"' in viewer.get(page).content.decode() for page in pages)
    Stage.objects.filter(pk=stage.pk).update(status=Stage.Status.OPEN, opened_at=timezone.now())
    assert viewer.get(address(stage)).status_code == 200
