"""Budgets: what is set aside, given back and spent, in rows that sum to the columns."""

import random

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from core.projects.models import Project
from crowd import budget
from crowd.budget import Cost, MovementPurpose
from crowd.errors import BudgetError
from crowd.models import LedgerEntry, Stage
from tests.crowd.world import answer, make_hit, make_project, make_stage, make_worker

pytestmark = pytest.mark.django_db
NOW = timezone.now


def columns(row):
    row.refresh_from_db()
    return row.reserved_cents, row.spent_cents


def from_rows(**which):
    """Reserved and spent as the ledger's rows say."""
    sums = {"reserve": 0, "release": 0, "spend": 0}
    for entry in LedgerEntry.objects.filter(**which):
        sums[entry.kind] += entry.cents + entry.fee_cents
    return sums["reserve"] - sums["release"] - sums["spend"], sums["spend"]


def test_money_is_set_aside_spent_and_given_back_in_stage_and_project():
    stage = make_stage(budget_cents=500)
    budget.reserve(stage, Cost(100, 20), MovementPurpose("test"), at=NOW())
    assert columns(stage) == columns(stage.project) == from_rows(stage=stage) == (120, 0)
    budget.spend(stage, Cost(50, 10), MovementPurpose("test"), at=NOW())
    assert columns(stage) == columns(stage.project) == (60, 60)
    budget.release(stage, Cost(50, 10), MovementPurpose("test"), at=NOW())
    assert columns(stage) == columns(stage.project) == from_rows(stage=stage) == (0, 60)
    rows = LedgerEntry.objects.filter(stage=stage).count()
    budget.reserve(stage, Cost(0), MovementPurpose("test"), at=NOW())
    assert LedgerEntry.objects.filter(stage=stage).count() == rows, "nothing costs nothing"


def test_the_cap_of_the_stage_can_be_reached_but_not_passed():
    stage = make_stage(budget_cents=120)
    budget.reserve(stage, Cost(100, 20), MovementPurpose("test"), at=NOW())
    with pytest.raises(
        BudgetError, match=r"needs \$0\.01, and the budget of the stage has \$0\.00 left of \$1\.20"
    ):
        budget.reserve(stage, Cost(1), MovementPurpose("test"), at=NOW())
    assert columns(stage) == columns(stage.project) == (120, 0)


def test_the_cap_of_the_project_holds_for_all_its_stages_together():
    project = make_project(budget_cents=150)
    first, second = make_stage(project=project), make_stage(project=project)
    budget.reserve(first, Cost(100), MovementPurpose("test"), at=NOW())
    with pytest.raises(BudgetError, match=r"the budget of the project has \$0\.50 left"):
        budget.reserve(second, Cost(51), MovementPurpose("test"), at=NOW())
    assert columns(second) == (0, 0)
    assert columns(project) == (100, 0)
    assert not LedgerEntry.objects.filter(stage=second).exists()


@pytest.mark.parametrize("model", [Stage, Project])
def test_the_database_itself_refuses_to_pass_a_cap(model):
    stage = make_stage(budget_cents=100)
    Project.objects.filter(pk=stage.project_id).update(budget_cents=100)
    pk = stage.pk if model is Stage else stage.project_id
    for reserved, spent in ((101, 0), (0, 101), (60, 41), (-1, 0), (0, -1)):
        with pytest.raises(IntegrityError), transaction.atomic():
            model.objects.filter(pk=pk).update(reserved_cents=reserved, spent_cents=spent)


def test_the_database_books_an_assignment_once_for_each_reason():
    stage = make_stage()
    hit = make_hit(stage)
    assignment = answer(hit, worker_id=make_worker(stage.endpoint).external_id)
    budget.reserve(stage, Cost(100), MovementPurpose("test"), at=NOW())
    budget.spend(stage, Cost(10), MovementPurpose("reward", assignment=assignment), at=NOW())
    with pytest.raises(IntegrityError), transaction.atomic():
        budget.spend(stage, Cost(10), MovementPurpose("reward", assignment=assignment), at=NOW())
    assert columns(stage) == (90, 10)


def test_after_two_hundred_random_movements_rows_and_columns_agree():
    """Two stages of one project, with more asked for than there is."""
    chance = random.Random(20261121)
    project = make_project(budget_cents=2_000)
    stages = [make_stage(project=project, budget_cents=1_500) for _ in range(2)]
    set_aside = {stage.pk: [] for stage in stages}
    refused = 0
    for _ in range(200):
        stage = chance.choice(stages)
        mine = set_aside[stage.pk]
        if mine and chance.random() < 0.4:
            move = chance.choice([budget.spend, budget.release, budget.release])
            move(stage, mine.pop(), MovementPurpose("walk"), at=NOW())
            continue
        cost = Cost(chance.randint(1, 60), chance.randint(0, 12))
        try:
            budget.reserve(stage, cost, MovementPurpose("walk"), at=NOW())
            mine.append(cost)
        except BudgetError:
            refused += 1
    assert refused
    for stage in stages:
        assert columns(stage) == from_rows(stage=stage)
        assert columns(stage)[0] == sum(cost.total for cost in set_aside[stage.pk])
    assert columns(project) == from_rows(stage__project=project)
    assert sum(columns(project)) <= 2_000
