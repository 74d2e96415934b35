"""`manage.py simulate` on a stage whose people come by a link."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from core.jobs.models import Job
from core.jobs.runner import run
from crowd.models import Assignment, Stage, Worker
from crowd.services.deals import deal
from people.consents import newest_text
from people.models import StudyLink
from people.owners import project_owner
from people.visits import ArrivalFacts, agree, open_visit

pytestmark = pytest.mark.django_db(transaction=True)


def rehearse(stage: Stage, **options) -> dict[str, int]:
    out = StringIO()
    name = f"{stage.project.slug}/{stage.slug}"
    call_command("simulate", name, workers=3, mix="diligent", json=True, stdout=out, **options)
    return json.loads(out.getvalue())


def test_simulated_people_come_by_the_link_and_do_what_there_is(stage, new_link, live_server, settings):
    settings.TASK_URL = live_server.url
    with pytest.raises(CommandError, match=r"no open link leads there\. Make one"):
        rehearse(stage)
    link = new_link(id_parameters=["PID"], id_required=True, secret="plum tree harbour")
    real = agree(open_visit(link, ArrivalFacts([("PID", "real")])), newest_text(project_owner(stage.project)))
    deal(stage, worker_id=real.guest.worker_id, submit_to=live_server.url)
    facts = rehearse(stage)
    submitted = Assignment.objects.filter(stage=stage, stored_at__isnull=False)
    assert facts["people"] == 3
    assert facts["tasks"] == submitted.count() > 0
    assert all(submitted.values_list("worker__simulated", flat=True))
    assert StudyLink.objects.get().visits.count() == 3 + 1
    assert not Worker.objects.get(external_id=real.guest.worker_id).simulated


def test_what_is_wrong_is_said_in_a_sentence(stage, new_link, settings):
    new_link()
    with pytest.raises(CommandError, match=r"http://127\.0\.0\.1:9 does not answer .*--marketplace-url"):
        rehearse(stage, marketplace_url="http://127.0.0.1:9")
    Stage.objects.filter(pk=stage.pk).update(status=Stage.Status.PAUSED)
    with pytest.raises(CommandError, match="is not open, so people who come by its link get no task"):
        rehearse(stage)


def test_a_class_is_rehearsed_from_the_page_of_its_link(
    stage, new_link, manager, client, live_server, settings
):
    settings.TASK_URL = live_server.url
    link = new_link()
    client.force_login(manager)
    page = f"/desk/projects/{stage.project.slug}/people/{link.pk}/"
    assert "Rehearse with simulated people" in client.get(page).content.decode()
    refused = client.post(f"{page}rehearse/", {"people": "0"}, follow=True).content.decode()
    assert "a whole number from 1 to 200" in refused
    told = client.post(f"{page}rehearse/", {"people": "3"}, follow=True).content.decode()
    assert "3 simulated people come by the link now" in told
    job = Job.objects.get(kind="crowd.simulate")
    run(job_id=job.pk)
    job.refresh_from_db()
    assert job.result["people"] == 3
    assert link.visits.count() == 3
