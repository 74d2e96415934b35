"""A person withdraws: what they wrote stays out of coming releases, and those built before are named."""

import pytest
from django.utils import timezone

from annotation.models import Answer
from crowd.models import Assignment
from people.links import draw_code
from people.models import Guest
from releases.extension import PublishedAnswers
from releases.scope import answers_of, taken_answers
from tests.annotation import distilling

pytestmark = pytest.mark.django_db


@pytest.fixture
def guest(db) -> Guest:
    """Somebody who answered a query beside another person."""
    stage = distilling.make_stage()
    query = distilling.make_query(stage)
    for worker in ("GROSA", "GCARL"):
        distilling.write(stage, query, f"Rome is what {worker} says that it is.", worker=worker)
    Assignment.objects.update(state=Assignment.State.APPROVED)
    Answer.objects.update(state=Answer.State.APPROVED)
    return Guest.objects.create(
        project=stage.project, worker_id="GROSA", identity_kind="id", identity="1", made_at=timezone.now()
    )


def test_what_was_written_stays_out_and_has_its_own_reason(guest):
    assert taken_answers(guest.project, "default", []).count() == 2
    Guest.objects.update(withdrawn_at=timezone.now())
    (left,) = taken_answers(guest.project, "default", [])
    assert left.worker.external_id == "GCARL"
    assert set(answers_of(guest.project, "default").values_list("why", flat=True)) == {"", "withdrawn"}


def test_nobody_has_published_what_no_release_was_built_after(guest):
    assert PublishedAnswers().published_with(guest) == []


def test_a_qr_code_is_an_image_of_the_page_itself():
    code = draw_code("https://lab.example.org/join/abc/")
    assert code.startswith("<svg")
    assert "<script" not in code
