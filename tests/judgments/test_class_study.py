"""A class that wrote the answers judges systems' answers too: nobody a query of theirs, and all of it is done."""

import itertools
from collections import Counter, defaultdict

import pytest
from django.conf import settings
from django.utils import timezone

from annotation.models import Query, QuerySource
from annotation.units import judge_scope
from core.projects.models import Project
from crowd.kinds import kind_of
from crowd.models import Assignment, Claim, Endpoint, Exclusion, Hit, HitUnit, LedgerEntry, Stage, Worker
from crowd.selectors.known_people import find_capacity, list_cautions
from crowd.selectors.stage_status import alarms
from crowd.services import responses, stages
from crowd.services.deals import NoWork, NoWorkError, deal
from crowd.services.endpoints import create_endpoint
from crowd.services.tick import tick
from crowd.watch import blocked
from judgments.models import Candidate, System
from judgments.rules import candidate_of, is_check
from judgments.selectors.judging import queries_of
from people.models import Guest
from tests.annotation.world import make_project

pytestmark = pytest.mark.django_db
BACK = f"{settings.TASK_URL}/join/somewhere/next"
State = Assignment.State


def make_class(endpoint: Endpoint, *, people: int, queries: int, writers: int = 3) -> Project:
    """A project in which people who came by a link wrote answers to queries that two systems answered."""
    project, now = make_project(budget_cents=1_000_000), timezone.now()
    source = QuerySource.objects.create(
        project=project, name="log.tsv", format="tsv", state="ready", created_at=now
    )
    rows = Query.objects.bulk_create(
        Query(project=project, source=source, text=f"question {at}", key=f"q{at}", digest=f"{at:064}", status="curated")
        for at in range(queries)
    )
    systems = System.objects.bulk_create(System(project=project, name=name, created_at=now) for name in "ab")
    Candidate.objects.bulk_create(
        Candidate(query=row, system=system, text=f"{system.name} says this of {row.text}", created_at=now)
        for row in rows
        for system in systems
    )
    names = [f"G{project.pk}x{number}" for number in range(people)]
    Guest.objects.bulk_create(
        Guest(
            project=project,
            identity_kind="browser",
            identity=name,
            worker_id=name,
            recovery_digest=name,
            recovery_sealed="",
            made_at=now,
        )
        for name in names
    )
    workers = Worker.objects.bulk_create(
        Worker(endpoint=endpoint, external_id=name, first_seen_at=now) for name in names
    )
    # Which three wrote to a query is another choice each time.
    threes = itertools.cycle(itertools.combinations(workers, writers))
    Exclusion.objects.bulk_create(
        Exclusion(worker=worker, scope=judge_scope(row.pk), reason="Wrote an answer", created_at=now)
        for row, three in zip(rows, itertools.islice(threes, 0, None, 5), strict=False)
        for worker in three
    )
    return project


def make_judging(project: Project, endpoint: Endpoint, **fields) -> Stage:
    """Judging as in the class: ten answers per HIT, five judges, paid, with a check in each HIT."""
    given = {
        "config": {"instruction_checks": 30},
        "reward_cents": 10,
        "redundancy": 5,
        "units_per_hit": 10,
        "checks_per_hit": 1,
        "budget_cents": 100_000,
        **fields,
    }
    return stages.create_stage(
        project=project,
        slug="judging",
        title="Judging",
        kind="judging",
        endpoint=endpoint,
        task_title="Judge",
        task_description="Choose a score.",
        **given,
    )


def begin(stage: Stage) -> None:
    stages.open_stage(stage=stage)
    tick()
    stage.refresh_from_db()


def judge(stage: Stage, worker: str) -> Assignment | None:
    """A person judges what they are dealt; None where they are dealt nothing."""
    try:
        dealt = deal(stage, worker_id=worker, submit_to=BACK)
    except NoWorkError:
        return None
    assignment = Assignment.objects.select_related("stage__project", "worker").get(pk=dealt.assignment_pk)
    units = assignment.claims.values_list("unit", flat=True)
    response = {unit: {"score": 3, "aspects": {}} for unit in units}
    assert responses.store_response(assignment, response, at=timezone.now())
    return assignment


def judge_in_turn(stage: Stage, workers: list[str]) -> None:
    """Everybody judges one HIT after the other, in turn, until nobody is dealt any more."""
    while any([judge(stage, worker) for worker in workers]):
        pass


def names_of(project: Project) -> list[str]:
    return list(Guest.objects.filter(project=project).order_by("pk").values_list("worker_id", flat=True))


def judges_by_unit(stage: Stage) -> dict[str, set[int]]:
    """Who judged each answer; checks apart."""
    judges = defaultdict(set)
    for unit, worker in Claim.objects.filter(stage=stage).values_list("unit", "worker"):
        if not is_check(unit):
            judges[unit].add(worker)
    return judges


def assert_balanced(stage: Stage) -> None:
    """Stage and project hold what their rows say, and spent is what was approved."""
    for row, which in ((stage, {"stage": stage}), (stage.project, {"stage__project": stage.project})):
        row.refresh_from_db()
        sums = Counter()
        for kind, cents, fees in LedgerEntry.objects.filter(**which).values_list("kind", "cents", "fee_cents"):
            sums[kind] += cents + fees
        assert row.spent_cents == sums["spend"]
        assert row.reserved_cents == sums["reserve"] - sums["release"] - sums["spend"]
        assert row.reserved_cents + row.spent_cents <= row.budget_cents


@pytest.fixture
def links() -> Endpoint:
    return create_endpoint(name="links", preset="link", access_key="", secret="")


def test_twelve_people_who_wrote_the_answers_finish_the_judging_of_all(links):
    project = make_class(links, people=12, queries=47)
    stage = make_judging(project, links)
    assert list_cautions(stage) == list(kind_of(stage).cautions(stage))
    begin(stage)
    held = stage.reserved_cents
    judge_in_turn(stage, names_of(project))
    judges = judges_by_unit(stage)
    assert len(judges) == 94
    assert {len(each) for each in judges.values()} == {5}
    queries = queries_of(list(judges))
    wrote = set(Exclusion.objects.filter(scope__endswith=":judge").values_list("scope", "worker"))
    assert not wrote & {(judge_scope(queries[unit]), worker) for unit, each in judges.items() for worker in each}
    work = Assignment.objects.filter(stage=stage, state=State.STORED)
    checked = {worker for worker, unit in work.values_list("worker", "claims__unit") if is_check(unit)}
    assert len(checked) == 12
    while not tick().idle:
        pass
    assert not Hit.objects.filter(stage=stage).exclude(state=Hit.State.CLOSED).exists()
    places = sum(Hit.objects.filter(stage=stage).values_list("places", flat=True))
    assert places == Assignment.objects.filter(stage=stage, state=State.APPROVED).count()
    print("PLACES", held, places, Hit.objects.filter(stage=stage).count(), Counter(Hit.objects.filter(stage=stage).values_list("places",flat=True)))
    print(Counter(len([u for u in a.claims.all() if not is_check(u.unit)]) for a in Assignment.objects.filter(stage=stage)))
    assert_balanced(stage)
    assert (stage.reserved_cents, stage.spent_cents) == (0, 10 * places)
    assert alarms(stage) == [] and not list(blocked(timezone.now()))
