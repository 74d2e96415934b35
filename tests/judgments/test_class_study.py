"""A class that wrote the answers judges systems' answers too: no one a query of theirs, and all is done."""

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from annotation.models import Query
from annotation.units import judge_scope
from core.projects.services import set_role
from crowd.adapters import registry
from crowd.kinds import kind_of
from crowd.models import Assignment, Claim, Endpoint, Exclusion, Hit, HitUnit, Worker
from crowd.selectors.known_people import Capacity, find_capacity, list_cautions
from crowd.selectors.stage_status import alarms, standing
from crowd.services import smaller_hits, stages
from crowd.services.deals import NoWork, NoWorkError, StageTarget, deal
from crowd.services.endpoints import create_endpoint
from crowd.services.stages import change_stage
from crowd.services.tick import tick
from judgments.selectors.judging import queries_of
from judgments.units import is_check
from people.links import LinkPlan, make_link
from people.models import Guest, Outcome, Visit
from people.owners import project_owner
from people.tokens import sign_visit, token_of
from tests.api.conftest import program_of
from tests.crowd.scripted import ScriptedMarket
from tests.crowd.world import make_endpoint, make_hit
from tests.crowd.world import make_stage as make_poll
from tests.judgments.class_world import (
    BACK,
    assert_books_add_up,
    bar,
    join,
    judge,
    judge_in_turn,
    judges_by_unit,
    make_class,
    make_judging,
    names_of,
    open_judging,
)

pytestmark = pytest.mark.django_db
State = Assignment.State


@pytest.fixture
def links() -> Endpoint:
    """Study links of this installation."""
    return create_endpoint(name="links", preset="link", access_key="", secret="")


def test_people_who_wrote_the_answers_finish_the_judging_of_all(links):
    """Ten answers per HIT, five judges, three writers per query: such a class once filled a quarter."""
    project = make_class(links, people=10, queries=17)
    stage = make_judging(project, links)
    assert find_capacity(stage) == Capacity(people=10, missing=170, possible=170)
    assert list_cautions(stage) == list(kind_of(stage).cautions(stage))
    open_judging(stage)
    assert stage.reserved_cents == 200
    judge_in_turn(stage, names_of(project))

    judges = judges_by_unit(stage)
    assert len(judges) == 34
    assert {len(each) for each in judges.values()} == {5}
    queries = queries_of(list(judges))
    wrote = set(Exclusion.objects.filter(scope__endswith=":judge").values_list("scope", "worker"))
    judged = {(judge_scope(queries[unit]), worker) for unit, each in judges.items() for worker in each}
    assert not wrote & judged
    work = Assignment.objects.filter(stage=stage)
    checked = {worker for worker, unit in work.values_list("worker", "claims__unit") if is_check(unit)}
    assert len(checked) == 10

    assert_books_add_up(stage)
    while not tick().idle:
        pass
    places = sum(Hit.objects.filter(stage=stage).values_list("places", flat=True))
    assert places == work.filter(state=State.APPROVED).count() == work.count()
    assert not Hit.objects.filter(stage=stage).exclude(state=Hit.State.CLOSED).exists()
    assert_books_add_up(stage)
    assert (stage.reserved_cents, stage.spent_cents) == (0, 10 * places)
    assert alarms(stage) == []


def test_no_more_is_held_than_a_budget_that_is_the_quote_allows(links):
    project = make_class(links, people=8, queries=10, writers=2)
    stage = make_judging(project, links, budget_cents=100, reward_cents=10)
    open_judging(stage)
    assert stage.reserved_cents == stage.budget_cents == 100
    for _ in range(3):
        judge_in_turn(stage, names_of(project))
        assert_books_add_up(stage)
        tick()
    work = Assignment.objects.filter(stage=stage).count()
    assert stage.spent_cents == 10 * work == 100
    assert max(len(each) for each in judges_by_unit(stage).values()) <= 5


def test_too_few_people_are_told_before_it_opens_and_when_no_one_is_left(links, client, django_user_model):
    project = make_class(links, people=6, queries=10)
    stage = make_judging(project, links)
    assert find_capacity(stage) == Capacity(people=6, missing=100, possible=60)
    words = "With the 6 people of the study links so far, at most 60 of 100 responses can be given."
    user = django_user_model.objects.create_user("mara", password="plum tree harbour")
    set_role(project=project, user=user, role="owner")
    client.force_login(user)
    path = f"/desk/projects/{project.slug}/stages/{stage.slug}/"
    assert words in client.get(f"{path}open/").content.decode()
    quoted = program_of(user).post(f"/projects/{project.slug}/stages/{stage.slug}/quote").json()
    assert any(words in caution for caution in quoted["cautions"])

    open_judging(stage)
    assert not [alarm for alarm in alarms(stage) if alarm.about == "people"]
    judge_in_turn(stage, names_of(project))
    assert sum(len(each) for each in judges_by_unit(stage).values()) == 60
    words = "None of the 6 people of the study links may do what is left: 40 responses."
    pages = (path, f"/desk/projects/{project.slug}/")
    for page in pages:
        text = client.get(page).content.decode()
        assert words in text
        assert "Invite more people, or ask fewer people for each unit." in text
    assert standing(stage).progress.pace is None

    join(project, links)
    assert not any(words in client.get(page).content.decode() for page in pages)
    Guest.objects.order_by("-pk")[0].delete()
    Worker.objects.order_by("-pk")[0].delete()
    change_stage(stage=stage, changes={"redundancy": 3})
    assert not any("None of the 6 people" in client.get(page).content.decode() for page in pages)


def test_a_class_list_has_people_still_to_come_and_the_last_page_says_that_work_is_left_for_others(links):
    project = make_class(links, people=6, queries=10)
    stage = make_judging(project, links)
    link = make_link(
        owner=project_owner(project), plan=LinkPlan("A class", f"stage:{stage.slug}"), actor=None
    )
    now = timezone.now()
    for number in range(2):
        link.roster.create(name=f"Student {number}", email_sealed="", email_digest=str(number), made_at=now)
    assert find_capacity(stage) == Capacity(people=8, missing=100, possible=100)
    link.roster.all().delete()
    open_judging(stage)
    judge_in_turn(stage, names_of(project))
    guest = Guest.objects.filter(project=project).first()
    visit = Visit.objects.create(link=link, guest=guest, opened_at=now, seen_at=now, ended_at=now)
    outcome = StageTarget().begin(visit, BACK)
    assert outcome == Outcome.COMPLETED
    Visit.objects.filter(pk=visit.pk).update(outcome=outcome)
    address = f"/join/{token_of(link)}/end/?v={sign_visit(visit, trusted=True)}"
    page = Client().get(address).content.decode()
    assert "Some work is left, but it needs other people." in page
    assert "You have done everything" not in page
    change_stage(stage=stage, changes={"redundancy": 3})
    assert "You have done everything. Thank you." in Client().get(address).content.decode()


def test_who_wrote_to_all_queries_and_who_comes_after_the_end_are_dealt_nothing(links):
    project = make_class(links, people=3, queries=4)
    stage = make_judging(project, links)
    open_judging(stage)
    writer, other = names_of(project)[0], join(project, links).external_id
    with pytest.raises(NoWorkError, match="What is left needs other people") as refused:
        deal(stage, worker_id=writer, submit_to=BACK)
    assert refused.value.reason == NoWork.EXCLUDED
    assert judge(stage, other) is not None
    stages.close_stage(stage=stage)
    with pytest.raises(NoWorkError) as refused:
        deal(stage, worker_id=writer, submit_to=BACK)
    assert refused.value.reason == NoWork.CLOSED


def test_at_a_marketplace_hits_that_no_one_may_take_become_smaller(monkeypatch):
    """Each of four wrote to one of four queries, so none may take the HIT with all; others do not come."""
    market = ScriptedMarket()
    monkeypatch.setattr(registry, "adapter", lambda endpoint: market)
    endpoint = make_endpoint()
    project = make_class(endpoint, people=0, queries=4)
    writing = make_hit(make_poll(endpoint, project), places=4)
    workers = [
        Worker.objects.create(endpoint=endpoint, external_id=f"A{n}", first_seen_at=timezone.now())
        for n in range(4)
    ]
    long_ago = timezone.now() - timedelta(days=1)
    for query, worker in zip(Query.objects.filter(project=project).order_by("pk"), workers, strict=True):
        bar(query, worker)
        Assignment.objects.create(
            stage=writing.stage,
            hit=writing,
            worker=worker,
            external_id=worker.external_id,
            arrived_at=long_ago,
        )
    stage = make_judging(project, endpoint, units_per_hit=8, redundancy=2, checks_per_hit=0, config={})
    open_judging(stage)
    whole = Hit.objects.get(stage=stage)
    held = stage.reserved_cents
    assert tick().planned == 0  # others may still come

    Hit.objects.filter(pk=whole.pk).update(published_at=timezone.now() - timedelta(hours=2))
    cache.clear()
    for _ in range(4):
        tick()
    whole.refresh_from_db()
    assert whole.state == Hit.State.CLOSED
    smaller = Hit.objects.filter(stage=stage, state=Hit.State.OPEN)
    assert sum(hit.units.count() for hit in smaller) == 8
    barred = dict(Exclusion.objects.values_list("worker", "scope"))
    for hit in smaller:
        units = list(HitUnit.objects.filter(hit=hit).values_list("unit", flat=True))
        scopes = {judge_scope(query) for query in queries_of(units).values()}
        assert sum(barred[worker.pk] not in scopes for worker in workers) >= 2 == hit.places
    assert_books_add_up(stage)
    assert stage.reserved_cents == held * smaller.count()
    cache.clear()
    assert tick().planned == 0


def test_what_breaks_while_a_smaller_hit_is_made_leaves_everything_as_it_was(links, monkeypatch):
    project = make_class(links, people=6, queries=10)
    stage = make_judging(project, links)
    open_judging(stage)
    before = list(Hit.objects.order_by("pk").values("pk", "places", "state"))
    name = names_of(project)[0]

    def break_down(**_: object) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as broken, pytest.raises(RuntimeError):
        broken.setattr(smaller_hits, "arrive", break_down)
        judge(stage, name)
    assert list(Hit.objects.order_by("pk").values("pk", "places", "state")) == before
    assert not Claim.objects.filter(stage=stage).exists()
    assert_books_add_up(stage)
    assert stage.reserved_cents == 100
    assert judge(stage, name) is not None
