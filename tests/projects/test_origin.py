"""By which way something was done is noted by itself: page, protocol, job, timer, command."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from core.accounts.security import Actor, acting_as
from core.jobs import runner, services
from core.jobs.handlers import JobContext, handler
from core.jobs.spans import request_id_of
from core.origin import Via, arriving_by
from core.projects.models import Event, Project
from core.projects.services import create_project, record
from marketplace import activity
from marketplace.models import Activity, Requester

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return create_project(slug="kiwi", title="Kiwi")


def test_without_a_border_it_is_a_command(project: Project) -> None:
    event = Event.objects.get(action="project.created")
    assert (event.via, event.credential, event.address) == (Via.COMMAND, "", "")


def test_the_api_says_its_way_person_and_token(project: Project) -> None:
    olga = User.objects.create_user("olga")
    caller = Actor(user=olga, access_key="dst_AbCd", address="192.0.2.7")
    with request_id_of("r-1"), acting_as(lambda: caller, via=Via.API):
        record(project=project, action="stage.opened", subject="one", actor=olga)
    event = Event.objects.get(action="stage.opened")
    assert (event.actor, event.via, event.credential) == (olga, Via.API, "dst_AbCd")
    assert (event.address, event.request_id) == ("192.0.2.7", "r-1")


def test_what_a_job_does_came_by_a_job(project: Project) -> None:
    @handler("test.origin")
    def note(context: JobContext) -> None:
        context.commit(lambda: record(project=project, action="stage.paused", subject="one") and None)

    with acting_as(lambda: Actor(address="192.0.2.7"), via=Via.PAGE):
        job = services.enqueue(kind="test.origin", payload={})
    runner.run(job_id=job.pk)
    assert Event.objects.get(action="stage.paused").via == Via.JOB


def test_the_way_ends_with_its_block(project: Project) -> None:
    with arriving_by(Via.TIMER):
        record(project=project, action="stage.closed")
    record(project=project, action="stage.reopened")
    ways = Event.objects.filter(action__in=["stage.closed", "stage.reopened"]).order_by("pk")
    assert list(ways.values_list("via", flat=True)) == [Via.TIMER, Via.COMMAND]


def test_activity_of_a_requester_has_its_way_too() -> None:
    requester = Requester.objects.create(
        name="Lab", customer_id="LAB", fee_profile="free", created_at=timezone.now()
    )
    with acting_as(lambda: Actor(access_key="AKIA1"), via=Via.CALL):
        activity.note(requester.pk, "worker.blocked", "A1")
    row = Activity.objects.get(action="worker.blocked")
    assert (row.via, row.access_key) == (Via.CALL, "AKIA1")
