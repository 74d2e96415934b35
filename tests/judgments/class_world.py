"""A class that wrote answers to queries, and judges what two systems answered to the same queries."""

import itertools
from collections import Counter, defaultdict

from django.conf import settings
from django.utils import timezone

from annotation.models import Query, QuerySource
from annotation.units import judge_scope
from core.projects.models import Project
from crowd.models import Assignment, Claim, Endpoint, Exclusion, LedgerEntry, Stage, Worker
from crowd.services import responses, stages
from crowd.services.deals import NoWorkError, deal
from crowd.services.tick import tick
from judgments.models import Candidate, System
from judgments.units import is_check
from people.models import Guest
from tests.annotation.world import make_project

BACK = f"{settings.TASK_URL}/join/somewhere/next"


def make_class(endpoint: Endpoint, *, people: int, queries: int, writers: int = 3) -> Project:
    """Answers of two systems to each query, to which so many of the people wrote answers themselves."""
    project, now = make_project(budget_cents=1_000_000), timezone.now()
    source = QuerySource.objects.create(
        project=project, name="log.tsv", format="tsv", state="ready", created_at=now
    )
    rows = Query.objects.bulk_create(
        Query(
            project=project,
            source=source,
            text=f"question {at}",
            key=f"q{at}",
            digest=f"{at:064}",
            status="curated",
        )
        for at in range(queries)
    )
    systems = System.objects.bulk_create(System(project=project, name=name, created_at=now) for name in "ab")
    Candidate.objects.bulk_create(
        Candidate(query=row, system=system, text=f"{system.name} says this of {row.text}", created_at=now)
        for row in rows
        for system in systems
    )
    workers = [join(project, endpoint) for _ in range(people)]
    # Which of them wrote to a query is another choice each time.
    choices = itertools.cycle(itertools.combinations(workers, writers))
    for row, chosen in zip(rows, itertools.islice(choices, 0, None, 5), strict=False):
        bar(row, *chosen)
    return project


def bar(query: Query, *workers: Worker) -> None:
    """They wrote an answer to the query."""
    Exclusion.objects.bulk_create(
        Exclusion(
            worker=worker,
            scope=judge_scope(query.pk),
            reason="Wrote an answer",
            created_at=timezone.now(),
        )
        for worker in workers
    )


def join(project: Project, endpoint: Endpoint) -> Worker:
    """Another person joins by a link."""
    name = f"G{project.pk}x{Guest.objects.filter(project=project).count()}"
    Guest.objects.create(
        project=project,
        identity_kind="browser",
        identity=name,
        worker_id=name,
        recovery_digest=name,
        recovery_sealed="",
        made_at=timezone.now(),
    )
    return Worker.objects.create(endpoint=endpoint, external_id=name, first_seen_at=timezone.now())


def make_judging(project: Project, endpoint: Endpoint, **fields) -> Stage:
    """Judging as in a class: ten answers per HIT, five judges, paid, with a check in each HIT."""
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


def open_judging(stage: Stage) -> None:
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
    """Each judges one HIT after the other, in turn, until no one is dealt any more."""
    while any([judge(stage, worker) for worker in workers]):  # noqa: C419 - each has a turn
        pass


def names_of(project: Project) -> list[str]:
    return list(Guest.objects.filter(project=project).order_by("pk").values_list("worker_id", flat=True))


def judges_by_unit(stage: Stage) -> dict[str, set[int]]:
    """Who judged each answer; checks apart."""
    judges: dict[str, set[int]] = defaultdict(set)
    for unit, worker in Claim.objects.filter(stage=stage).values_list("unit", "worker"):
        if not is_check(unit):
            judges[unit].add(worker)
    return judges


def assert_books_add_up(stage: Stage) -> None:
    """Stage and project hold what their rows say, within the budget."""
    for row, which in ((stage, {"stage": stage}), (stage.project, {"stage__project": stage.project})):
        row.refresh_from_db()
        sums: Counter[str] = Counter()
        for entry in LedgerEntry.objects.filter(**which):
            sums[entry.kind] += entry.cents + entry.fee_cents
        assert row.spent_cents == sums["spend"]
        assert row.reserved_cents == sums["reserve"] - sums["release"] - sums["spend"]
        assert row.reserved_cents + row.spent_cents <= row.budget_cents
