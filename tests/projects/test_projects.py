"""Projects, their members and their log."""

import re

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.http import Http404

from core.projects.models import AppendOnlyError, Event, Membership, Project
from core.projects.selectors import project_for, projects_of, pseudonym
from core.projects.services import (
    ProjectError,
    UnknownActionError,
    create_project,
    record,
    remove_member,
    set_budget,
    set_role,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner():
    return User.objects.create_user("olga")


@pytest.fixture
def project(owner):
    return create_project(slug="reading", title="Reading", owner=owner, budget_cents=10_000)


def test_who_makes_a_project_owns_it_and_it_is_logged(project, owner):
    assert project_for(owner, "reading") == (project, "owner")
    assert list(project.events.order_by("pk").values_list("action", "actor__username")) == [
        ("project.created", "olga"),
        ("member.set", "olga"),
    ]


def test_a_name_is_taken_once(project):
    with pytest.raises(ProjectError, match="already a project 'reading'"):
        create_project(slug="reading", title="Another")


def test_to_a_stranger_the_project_does_not_exist(project):
    stranger = User.objects.create_user("sam")
    with pytest.raises(Http404):
        project_for(stranger, "reading")
    assert not projects_of(stranger).exists()


@pytest.mark.parametrize(
    ("role", "needed", "allowed"),
    [
        ("viewer", "viewer", True),
        ("viewer", "manager", False),
        ("manager", "manager", True),
        ("manager", "owner", False),
        ("owner", "owner", True),
    ],
)
def test_what_needs_a_higher_role_does_not_exist_either(project, role, needed, allowed):
    member = User.objects.create_user("mia")
    set_role(project=project, user=member, role=role)
    if allowed:
        assert project_for(member, "reading", at_least=needed)[1] == role
    else:
        with pytest.raises(Http404):
            project_for(member, "reading", at_least=needed)


def test_the_last_owner_stays(project, owner):
    with pytest.raises(ProjectError, match="at least one owner"):
        set_role(project=project, user=owner, role="viewer")
    with pytest.raises(ProjectError, match="at least one owner"):
        remove_member(project=project, user=owner)
    set_role(project=project, user=User.objects.create_user("mia"), role="owner")
    remove_member(project=project, user=owner)
    assert Membership.objects.filter(project=project).count() == 1


def test_events_are_only_added(project):
    event = record(project=project, action="stage.opened", subject="s")
    event.subject = "t"
    for change in (
        event.save,
        event.delete,
        lambda: Event.objects.update(subject="t"),
        Event.objects.all().delete,
    ):
        with pytest.raises(AppendOnlyError):
            change()
    assert Event.objects.get(pk=event.pk).subject == "s"


def test_an_action_that_nobody_registered_is_a_mistake(project):
    with pytest.raises(UnknownActionError):
        record(project=project, action="stage.opend")


def test_a_budget_below_what_is_used_is_refused_by_the_database(project):
    Project.objects.filter(pk=project.pk).update(reserved_cents=600, spent_cents=400)
    with pytest.raises(ProjectError, match="already spent or reserved"):
        set_budget(project=project, budget_cents=999)
    with pytest.raises(IntegrityError), transaction.atomic():
        Project.objects.filter(pk=project.pk).update(spent_cents=10_000)
    set_budget(project=project, budget_cents=1000)


def test_pseudonym_keys_differ_and_stay(project):
    other = create_project(slug="other", title="Other")
    assert project.pseudonym_key != other.pseudonym_key
    assert Project.objects.get(pk=project.pk).pseudonym_key == project.pseudonym_key


def test_a_worker_has_another_pseudonym_in_every_project_and_always_the_same_in_one(project):
    other = create_project(slug="other", title="Other")
    name = pseudonym(project, "AWORKER")
    assert re.fullmatch("w[0-9a-f]{12}", name)
    assert pseudonym(project, "AWORKER") == name
    assert pseudonym(project, "AWORKER2") != name
    assert pseudonym(other, "AWORKER") != name
