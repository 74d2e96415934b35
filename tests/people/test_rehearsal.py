"""`manage.py simulate` on a stage whose people come by a link."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from crowd.models import Assignment, Stage
from people.models import StudyLink

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
    new_link()
    facts = rehearse(stage)
    submitted = Assignment.objects.filter(stage=stage, stored_at__isnull=False)
    assert facts["people"] == 3
    assert facts["tasks"] == submitted.count() > 0
    assert all(submitted.values_list("worker__simulated", flat=True))
    assert StudyLink.objects.get().visits.count() == 3


def test_what_is_wrong_is_said_in_a_sentence(stage, new_link, settings):
    new_link()
    with pytest.raises(CommandError, match=r"http://127\.0\.0\.1:9 does not answer .*--marketplace-url"):
        rehearse(stage, marketplace_url="http://127.0.0.1:9")
    Stage.objects.filter(pk=stage.pk).update(status=Stage.Status.PAUSED)
    with pytest.raises(CommandError, match="is not open, so people who come by its link get no task"):
        rehearse(stage)
