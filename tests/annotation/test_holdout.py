"""Hold-out: whose answers become candidates of the system `human`."""

from collections import Counter
from copy import deepcopy

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Answer, HeldOutWorker, Query
from annotation.selectors.answers import human_candidates, references
from annotation.services import review_decisions
from core.projects.models import Event
from core.projects.services import set_role
from crowd.errors import CrowdError
from tests.annotation.distilling import make_query, make_stage, settle, worker_named, write
from tests.cases import rows_of_module
from tests.taskpage.world import text as words

pytestmark = pytest.mark.django_db
PEOPLE = ("A1", "A2", "A3", "A4")


def answered(stage, text="what is the capital of italy", key="q", people=PEOPLE):
    query = make_query(stage, text, key=key)
    for name in people:
        write(stage, query, f"Rome, says {name}", worker=name)
    settle(stage)
    query.refresh_from_db()
    return query


@pytest.fixture(scope="module")
def made(django_db_setup, django_db_blocker):
    """A stage with a query that four people answered."""
    with rows_of_module(django_db_blocker):
        stage = make_stage(redundancy=4)
        yield stage, answered(stage)


@pytest.fixture
def world(made, db):
    return deepcopy(made)


@pytest.fixture
def stage(world):
    return world[0]


@pytest.fixture
def query(world):
    return world[1]


def texts(found, query):
    return [answer.text for answer in found.get(query.pk, [])]


@pytest.fixture
def owner():
    return User.objects.create_user("owner")


def test_a_draw_sets_so_many_people_aside_and_says_so(stage, query, owner):
    assert len(texts(references([query.pk]), query)) == 4
    assert human_candidates([query.pk]) == {}
    drawn = review_decisions.draw(project=stage.project, people=2, seed=1, actor=owner)
    assert drawn == review_decisions.HoldoutCounts(queries=1, too_few=0)
    assert sorted(texts(references([query.pk]), query) + texts(human_candidates([query.pk]), query)) == [
        f"Rome, says {name}" for name in PEOPLE
    ]
    assert len(texts(human_candidates([query.pk]), query)) == 2
    assert Event.objects.get(action="answers.held_out").details["seed"] == 1


def test_the_same_seed_draws_the_same_people_in_every_installation(stage, query):
    review_decisions.draw(project=stage.project, people=2, seed=7)
    first = texts(human_candidates([query.pk]), query)
    other = make_stage(redundancy=4, endpoint=stage.endpoint)
    again = answered(other)
    review_decisions.draw(project=other.project, people=2, seed=7)
    assert again.pk != query.pk
    assert texts(human_candidates([again.pk]), again) == first


@pytest.mark.long
def test_over_many_queries_everybody_is_drawn_about_as_often(stage, query):
    rows = Query.objects.bulk_create(
        Query(
            project=stage.project,
            source=query.source,
            text=f"q {n}",
            key=f"k{n}",
            digest=f"d{n}",
            status="answered",
        )
        for n in range(400)
    )
    given = list(Answer.objects.filter(query=query))
    Answer.objects.bulk_create(
        Answer(
            stage=stage, assignment=each.assignment, worker=each.worker, query=row, text=each.text,
            created_at=each.created_at,
        )
        for row in rows
        for each in given
    )  # fmt: skip
    review_decisions.draw(project=stage.project, people=1, seed=3)
    counts = Counter(HeldOutWorker.objects.exclude(query=query).values_list("worker__external_id", flat=True))
    assert sum(counts.values()) == 400
    assert all(70 <= counts[name] <= 130 for name in PEOPLE)


def test_what_is_drawn_once_never_changes_and_at_least_one_answer_stays_a_reference(stage, query):
    counts = review_decisions.HoldoutCounts
    assert review_decisions.draw(project=stage.project, people=4, seed=1) == counts(queries=0, too_few=1)
    assert not HeldOutWorker.objects.exists()
    other = make_stage(redundancy=4, endpoint=stage.endpoint)
    answered(other, people=PEOPLE[:3])
    assert review_decisions.draw(project=other.project, people=1, seed=1) == counts(0, 0), "incomplete"
    review_decisions.draw(project=stage.project, people=1, seed=1)
    before = list(HeldOutWorker.objects.values_list("worker", "seed"))
    assert review_decisions.draw(project=stage.project, people=3, seed=2) == counts(0, 0)
    assert list(HeldOutWorker.objects.values_list("worker", "seed")) == before


def test_answers_that_do_not_count_are_neither_reference_nor_candidate(stage, query):
    Answer.objects.filter(worker__external_id="A1").update(state="excluded")
    review_decisions.draw(project=stage.project, people=3, seed=1)
    assert not HeldOutWorker.objects.exists()
    review_decisions.draw(project=stage.project, people=2, seed=1)
    everything = texts(references([query.pk]), query) + texts(human_candidates([query.pk]), query)
    assert "Rome, says A1" not in everything
    assert len(everything) == 3


def test_a_rewrite_stays_on_the_side_of_its_author(stage, query, owner):
    review_decisions.hold_out(query=query, worker=worker_named("A2"), actor=owner)
    old = Answer.objects.get(worker__external_id="A2")
    Answer.objects.filter(pk=old.pk).update(state="replaced")
    Answer.objects.create(
        stage=stage, assignment=old.assignment, worker=old.worker, query=query, text="Anew", revises=old,
        created_at=old.created_at,
    )  # fmt: skip
    assert texts(human_candidates([query.pk]), query) == ["Anew"]


def test_a_person_adds_and_takes_back_but_not_everybody(stage, query, owner):
    review_decisions.hold_out(query=query, worker=worker_named("A2"), actor=owner)
    assert HeldOutWorker.objects.get().seed is None
    assert texts(human_candidates([query.pk]), query) == ["Rome, says A2"]
    review_decisions.take_back(query=query, worker=worker_named("A2"), stage=stage, actor=owner)
    assert human_candidates([query.pk]) == {}
    assert Event.objects.filter(action__startswith="answers.").count() == 2
    for name in PEOPLE[:3]:
        review_decisions.hold_out(query=query, worker=worker_named(name), actor=owner)
    with pytest.raises(CrowdError, match="At least one answer stays"):
        review_decisions.hold_out(query=query, worker=worker_named("A4"), actor=owner)
    other = make_query(stage, "another question")
    with pytest.raises(CrowdError, match="whose answer counts"):
        review_decisions.hold_out(query=other, worker=worker_named("A4"), actor=owner)


def test_a_stage_can_hold_people_out_by_itself(owner):
    stage = make_stage(redundancy=4, config={"hold_out": 1}, seed=5)
    query = answered(stage)
    held = HeldOutWorker.objects.get()
    assert (held.query, held.seed) == (query, 5)
    assert settle(stage)["held_out"] == 0
    with pytest.raises(CrowdError, match="Hold out somebody else first"):
        review_decisions.take_back(query=query, worker=held.worker, stage=stage, actor=owner)


def test_the_command_draws_and_says_how_many_or_what_is_wrong(stage, query, capsys):
    with pytest.raises(CommandError, match="no project 'nowhere'"):
        call_command("hold-out", "nowhere", "--people", "2", "--seed", "1")
    with pytest.raises(CommandError, match="at least one person"):
        call_command("hold-out", stage.project.slug, "--people", "0", "--seed", "1")
    call_command("hold-out", stage.project.slug, "--people", "2", "--seed", "1")
    assert "Held out 2 per query. Queries: 1; with too few answers: 0." in capsys.readouterr().out
    assert HeldOutWorker.objects.count() == 2


def test_the_desk_draws_and_shows_what_is_held_out(stage, query, owner):
    set_role(project=stage.project, user=owner, role="owner")
    client = Client()
    client.force_login(owner)
    parts = {"project": stage.project.slug, "stage": stage.slug}
    address = reverse("annotation:draw_holdout", kwargs=parts)
    assert "Drawn for 1 query." in words(client.post(address, {"people": "1", "seed": "1"}, follow=True))
    assert "People per query" in words(client.post(address, {"people": "x", "seed": "1"}, follow=True))
    page = words(client.get(reverse("annotation:answers_of_query", kwargs={**parts, "pk": query.pk})))
    assert "held out" in page
    held = HeldOutWorker.objects.get()
    names = {**parts, "pk": query.pk, "worker": held.worker_id}
    client.post(reverse("annotation:take_back", kwargs=names))
    assert not HeldOutWorker.objects.exists()
    client.post(reverse("annotation:hold_out", kwargs=names))
    assert HeldOutWorker.objects.get().worker_id == held.worker_id
