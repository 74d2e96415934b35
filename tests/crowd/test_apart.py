"""Stages whose workers are kept apart: on our task page at once, at the marketplace as soon as it knows."""

import pytest

from crowd.errors import WorkRefusedError
from crowd.models import Assignment, Group, Hit, MarketOperation
from crowd.services import groups, stages
from crowd.services.tick import tick
from tests.clients import RefusedError
from tests.crowd.test_failure_patterns import Lab
from tests.crowd.world import answer, make_hit, make_project, make_stage, work

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def lab(server):
    yield Lab(server)
    server.reset()


def rounds():
    while not tick().idle:
        pass


def hit_of(stage):
    return Hit.objects.select_related("stage__endpoint", "stage__project").get(stage=stage)


def opened(lab, project, **fields):
    stage = make_stage(lab.endpoint, project, items=["tea"], redundancy=2, **fields)
    stages.open_stage(stage=stage)
    rounds()
    return stage


def test_who_answers_one_stage_may_not_accept_the_other_any_more(lab):
    project = make_project()
    first = opened(lab, project)
    second = opened(lab, project, apart_from=[first.slug])
    ada = lab.worker()
    work(hit_of(first), ada)
    rounds()
    with pytest.raises(RefusedError, match="Not open to holders"):
        ada.accept(hit_of(second).external_id)
    assert work(hit_of(second), lab.worker()).state == Assignment.State.STORED


def test_who_answered_before_the_other_stage_was_opened_is_kept_out_too(lab):
    project = make_project()
    first = opened(lab, project)
    ada = lab.worker()
    work(hit_of(first), ada)
    second = opened(lab, project, apart_from=[first.slug])
    with pytest.raises(RefusedError, match="Not open to holders"):
        ada.accept(hit_of(second).external_id)


def test_a_stage_that_is_kept_apart_from_nothing_asks_for_no_group(lab):
    stage = opened(lab, make_project())
    assert not stage.groups.exists()


def test_the_task_page_refuses_before_the_marketplace_knows():
    project = make_project()
    first = make_stage(project=project)
    second = make_stage(first.endpoint, project, apart_from=[first.slug])
    answer(make_hit(first), worker_id="ADA")
    with pytest.raises(WorkRefusedError, match="one person may not do both"):
        answer(make_hit(second), worker_id="ADA")
    assert answer(make_hit(second, "item:1"), worker_id="BEN").worker.external_id == "BEN"


def test_who_has_another_grant_of_the_stage_is_kept_out_of_it_too():
    project = make_project()
    first = make_stage(project=project)
    second = make_stage(first.endpoint, project, apart_from=[first.slug])
    worker = answer(make_hit(first), worker_id="ADA").worker
    passed = groups.ensure_group(endpoint=second.endpoint, name="passed", description="", stage=second)
    groups.put_into(passed, worker)
    (rule,) = groups.rules_apart(second)
    kept_out = Group.objects.exclude(pk=passed.pk).get(stage=second)
    assert MarketOperation.objects.filter(kind="grant", target=f"group:{kept_out.pk}").count() == 1
    assert rule["op"] == "DoesNotExist"


def test_the_other_way_round_is_open():
    project = make_project()
    first = make_stage(project=project)
    second = make_stage(first.endpoint, project, apart_from=[first.slug])
    answer(make_hit(second), worker_id="ADA")
    assert answer(make_hit(first), worker_id="ADA").stage_id == first.pk
