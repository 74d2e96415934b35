"""Copies of stages and projects, by page, command and API."""

import json
from io import StringIO

import pytest
from django.contrib.auth.models import Permission
from django.core.management import CommandError, call_command

from core.projects.models import Membership, Project
from core.projects.services import set_role
from crowd.models import Hit, Stage, StageSource
from crowd.services.sources import SourcePlan, set_sources
from crowd.study.documents import COLUMNS
from tests.crowd.world import make_endpoint, make_stage

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage():
    made = make_stage(redundancy=7, apart_from=["other"])
    plans = [SourcePlan(made.endpoint, share=2), SourcePlan(make_endpoint(), most_answers=5)]
    set_sources(stage=made, plans=plans)
    return made


@pytest.fixture
def mara(stage, django_user_model, client):
    user = django_user_model.objects.create_user("mara", password="plum tree harbour")
    set_role(project=stage.project, user=user, role="manager")
    client.force_login(user)
    return user


def test_a_stage_is_copied_with_its_terms_and_sources_and_without_money(stage, mara, client):
    place = f"/desk/projects/{stage.project.slug}/stages/{stage.slug}"
    told = client.post(f"{place}/copy/", {"slug": "again", "title": "Once more"}, follow=True)
    assert "an owner sets its budget" in told.content.decode()
    made = Stage.objects.get(slug="again")
    same = set(COLUMNS) - {"title", "budget_cents", "apart_from"}
    assert {name: getattr(made, name) for name in same} == {name: getattr(stage, name) for name in same}
    assert (made.title, made.status, made.budget_cents, made.apart_from) == ("Once more", "draft", 0, [])
    rows = StageSource.objects.filter(stage=made).order_by("position")
    assert list(rows.values_list("share", "most_answers")) == [(2, None), (None, 5)]
    assert not Hit.objects.filter(stage=made).exists()
    again = client.post(f"{place}/copy/", {"slug": "again", "title": "Once more"}, follow=True)
    assert "There is already a stage" in again.content.decode()


def test_who_may_make_projects_finds_the_copy_in_the_list(stage, mara, client):
    way = f'href="/desk/projects/{stage.project.slug}/settings/#copying"'
    assert way not in client.get("/desk/projects/").content.decode()
    mara.user_permissions.add(Permission.objects.get(codename="add_project"))
    assert way in client.get("/desk/projects/").content.decode()
    assert 'id="copying"' in client.get(f"/desk/projects/{stage.project.slug}/settings/").content.decode()


def test_a_project_is_copied_by_those_who_may_make_projects(stage, mara, client):
    place = f"/desk/projects/{stage.project.slug}/"
    named = {"slug": "next-year", "title": "Next year"}
    assert "Copy the project" not in client.get(f"{place}settings/").content.decode()
    refused = client.post(f"{place}copy/", named, follow=True).content.decode()
    assert "You have no right to make projects" in refused
    out = StringIO()
    call_command("study", "copy", stage.project.slug, "next-year", user="mara", json=True, stdout=out)
    assert json.loads(out.getvalue()) == {"project": "next-year"}
    made = Project.objects.get(slug="next-year")
    assert list(made.stages.values_list("slug", "status")) == [(stage.slug, "draft")]
    assert dict(Membership.objects.filter(project=made).values_list("user__username", "role")) == {
        "mara": "owner"
    }
    with pytest.raises(CommandError, match="There is already a project"):
        call_command("study", "copy", stage.project.slug, "next-year", user="mara")
    with pytest.raises(CommandError, match="has no stage 'gone'"):
        call_command("study", "copy", f"{stage.project.slug}/gone", "x")
