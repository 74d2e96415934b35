"""What the matrix of the whole site (`tests/test_access_matrix.py`) does not try at the desk's addresses."""

import uuid

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from core.notices.services import raise_notice
from crowd.desk import urls
from crowd.models import Hit, PanelStudy
from tests.desk.conftest import make_hit, make_stage, make_unknown, make_work

pytestmark = pytest.mark.django_db


@pytest.fixture
def place(stage, people):
    hit = make_hit(stage)
    work = make_work(hit)
    unknown = make_unknown(make_hit(stage, state=Hit.State.PLANNED, external_id=""))
    notice = raise_notice(
        project=stage.project, kind="stuck", key="stuck:1", level="warning", sentence="It is stuck."
    )
    study = PanelStudy.objects.create(stage=stage, endpoint=stage.endpoint, created_at=timezone.now())
    came = study.submissions.create(external_id="1", participant="2", status="ACTIVE", seen_at=timezone.now())
    return {
        "project": stage.project.slug,
        "stage": stage.slug,
        "number": hit.ordinal,
        "pk": work.pk,
        "operation": unknown.pk,
        "user": people["viewer"].pk,
        "queue": "operations",
        "endpoint": stage.endpoint.name,
        "form": "csv",
        "worker_pk": work.worker_id,
        "notice_pk": notice.pk,
        "submission_pk": came.pk,
    }


def address(name, place):
    pattern = next(each for each in urls.urlpatterns if each.name == name)
    values = {part: place[part] for part in pattern.pattern.converters}
    if name in ("worker", "exclude", "readmit", "compensate", "person", "exclude_person", "readmit_person"):
        values["pk"] = place["worker_pk"]
    if name in ("ask_return", "pay_in_part", "state_part_amount"):
        values["pk"] = place["submission_pk"]
    if name == "see_notice":
        values["pk"] = place["notice_pk"]
    return reverse(f"desk:{name}", kwargs=values)


def test_only_owners_spend_real_money(as_, place, stage, subtests):
    stage.endpoint.real_money = True
    stage.endpoint.save()
    for name in ("opening", "top_up", "more_places", "override", "bonus", "compensate"):
        with subtests.test(name=name):
            assert as_("manager").post(address(name, place)).status_code == 404
            assert as_("owner").post(address(name, place)).status_code == 302


def test_a_superuser_owns_every_project(place, client):
    client.force_login(User.objects.create_superuser("root"))
    assert client.get(address("edit_project", place)).status_code == 200
    assert "Reading" in client.get("/desk/projects/").content.decode()


def test_what_belongs_to_another_stage_is_not_found_here(as_, place, project, endpoint):
    other = make_stage(project, endpoint, slug="other")
    elsewhere = {**place, "stage": other.slug}
    for name in ("hit", "assignment", "worker", "resolve", "approve"):
        client = as_("owner")
        method = client.post if name == "resolve" else client.get
        assert method(address(name, elsewhere)).status_code == (405 if name == "approve" else 404)
    assert as_("owner").post(address("resolve", {**place, "operation": uuid.uuid4()})).status_code == 404
