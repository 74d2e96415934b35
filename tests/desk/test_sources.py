"""The page of a stage's sources: how each stands, what is done there, and pairs who may be one person."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from crowd.models import PersonMatch, StageSource
from crowd.services.endpoints import create_endpoint
from crowd.services.sources import SourcePlan, set_sources
from tests.desk.conftest import give, make_hit, make_work

pytestmark = pytest.mark.django_db


@pytest.fixture
def links(project):
    made = create_endpoint(name="links", preset="link", access_key="", secret="")
    give(made, project)
    return made


def at(stage, name="sources", **parts):
    return reverse(f"desk:{name}", kwargs={"project": stage.project.slug, "stage": stage.slug, **parts})


def rows(*entries):
    """What the form sends."""
    return {f"sources-{n}-{key}": value for n, row in enumerate(entries) for key, value in row.items()}


def test_sources_are_made_and_changed_on_the_page_unless_there_is_a_mistake(as_, stage, links):
    sent = as_("owner").post(
        at(stage, "set_sources"),
        rows(
            {"endpoint": stage.endpoint.name, "share": "1", "answers": "2"},
            {"endpoint": "links", "share": "1", "answers": ""},
        ),
    )
    assert sent.status_code == 422
    assert "share or answers" in sent.content.decode()
    assert not StageSource.objects.exists()
    client = as_("owner")
    assert "One source" in client.get(at(stage)).content.decode()
    sent = client.post(
        at(stage, "set_sources"),
        rows(
            {"endpoint": stage.endpoint.name, "share": "70", "answers": "", "reward": "", "move_after": ""},
            {"endpoint": "links", "share": "", "answers": "5", "reward": "0.20", "move_after": "2h"},
        ),
    )
    assert sent.status_code == 302, re.findall(r'class="errors?".*', sent.content.decode())
    kept = StageSource.objects.order_by("position").values_list("share", "most_answers", "reward_cents")
    assert list(kept) == [(70, None, None), (None, 5, 20)]
    page = client.get(at(stage)).content.decode()
    assert "share 70" in page
    assert "at most 5" in page
    assert 'value="0.20"' in page


def test_one_source_is_paused_opened_and_closed(as_, stage, links):
    set_sources(stage=stage, plans=[SourcePlan(stage.endpoint, share=1), SourcePlan(links, share=1)])
    client = as_("owner")
    for name, after in (("pause_source", "paused"), ("open_source", "open"), ("close_source", "closed")):
        sent = client.post(at(stage, name, endpoint="links"), {"why": "A reason."})
        assert sent.status_code == 302
        assert StageSource.objects.get(endpoint=links).status == after
    events = stage.project.events.filter(action__startswith="source.")
    assert set(events.values_list("details__why", flat=True)) == {"A reason."}
    assert client.post(at(stage, "move_work", endpoint="nowhere")).status_code == 404


def test_a_reviewer_says_whether_two_workers_are_one_person(as_, stage, links):
    work = make_work(make_hit(stage), "A1")
    other = links.workers.create(external_id="G1", first_seen_at=timezone.now())
    match = PersonMatch.objects.create(
        project=stage.project, first=work.worker, second=other, kinds=["email"], found_at=timezone.now()
    )
    client = as_("manager")
    page = client.get(reverse("desk:matches", args=[stage.project.slug])).content.decode()
    assert "the same e-mail address" in page
    client.post(reverse("desk:decide_match", args=[stage.project.slug, match.pk]), {"verdict": "different"})
    match.refresh_from_db()
    assert (match.verdict, match.decided_by.username) == ("different", "manager")
    sent = as_("viewer").post(
        reverse("desk:decide_match", args=[stage.project.slug, match.pk]), {"verdict": "same"}
    )
    assert sent.status_code == 404
