"""Agreement of screening and curation by source: each source's own people, null where few are shared."""

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.selectors.agreement import (
    ONE_RATER,
    agreement_by_source,
    curation_agreement,
    nominal_alpha,
    screening_agreement,
)
from core.projects.services import set_role
from crowd.models import StageSource, Worker
from tests.annotation.world import (
    make_candidates,
    make_project,
    make_query,
    make_stage,
    make_work,
    select,
    vote,
)
from tests.api.conftest import program_of
from tests.crowd.sources.worlds import make_links

pytestmark = pytest.mark.django_db
CLASSES = ("informational", "navigational")


def make_sources(stage, *names):
    endpoints = [stage.endpoint, *(make_links(name) for name in names)]
    for position, endpoint in enumerate(endpoints):
        StageSource.objects.create(
            stage=stage, endpoint=endpoint, position=position, share=1, created_at=timezone.now()
        )
    return endpoints


def work_of(stage, endpoint, who):
    work = make_work(stage)
    work.worker, _ = Worker.objects.get_or_create(
        endpoint=endpoint, external_id=who, defaults={"first_seen_at": timezone.now()}
    )
    work.save()
    return work


@pytest.fixture
def stage():
    """Two people of each of two sources saw twelve queries, one of a third source three."""
    cache.clear()
    stage = make_stage("screening", make_project())
    own, links, pool = make_sources(stage, "links", "pool")
    for number in range(12):
        query = make_query(stage.project, f"query {number}")
        one, other = CLASSES[number % 2], CLASSES[number // 6]
        for endpoint, who, intent in (
            (own, "A", one), (own, "B", one), (links, "C", one), (links, "D", other), (pool, "E", one),
        ):  # fmt: skip
            if who != "E" or number < 3:
                vote(stage, query, work=work_of(stage, endpoint, who), intent=intent)
    return stage


def test_each_source_has_the_alpha_of_its_own_people(stage):
    own, links, pool = agreement_by_source(stage)
    assert [row.answers for row in (own, links, pool)] == [24, 24, 3]
    assert own.alpha.value == 1
    expected = nominal_alpha([[CLASSES[number % 2], CLASSES[number // 6]] for number in range(12)])
    assert links.alpha.value == pytest.approx(expected.value)
    assert (pool.people, pool.shared, pool.alpha.reason) == (1, 0, ONE_RATER)
    assert screening_agreement(stage)[0].answers == 51


def test_too_few_shared_queries_give_no_alpha():
    stage = make_stage("screening", make_project())
    own, _ = make_sources(stage, "links")
    for number in range(9):
        query = make_query(stage.project, f"query {number}")
        for who in "AB":
            vote(stage, query, work=work_of(stage, own, who), intent=CLASSES[number % 2])
    first, second = agreement_by_source(stage)
    assert first.alpha.value is None
    assert first.alpha.reason == "only 9 items have two ratings from here; alpha needs 10"
    assert (second.answers, second.alpha.value) == (0, None)


def test_curation_compares_chosen_passages():
    stage = make_stage("curation", make_project())
    own, _ = make_sources(stage, "links")
    for number in range(10):
        query = make_query(stage.project, f"query {number}")
        keys = [each.key for each in make_candidates(query, "one", "two", "three")]
        for who, chosen in (("A", keys[number % 3]), ("B", keys[number % 2])):
            select(stage, query, chosen, work=work_of(stage, own, who))
    first, second = agreement_by_source(stage)
    assert first.alpha == curation_agreement(stage).alpha
    assert first.alpha.value is not None
    assert (second.answers, second.shared) == (0, 0)


def test_the_api_and_the_page_have_a_row_for_each_source_and_none_where_there_is_one(
    stage, django_user_model
):
    user = django_user_model.objects.create_user("mira")
    set_role(project=stage.project, user=user, role="viewer")
    at = f"/projects/{stage.project.slug}/stages"
    program = program_of(user)
    own, links, pool = program.get(f"{at}/{stage.slug}/agreement").json()["sources"]
    assert (own["source"], own["alpha"]["value"]) == (stage.endpoint.name, 1)
    assert (links["people"], links["answers"], links["shared"]) == (2, 24, 12)
    assert pool["alpha"] == {"value": None, "reason": ONE_RATER}
    alone = make_stage("curation", stage.project)
    assert program.get(f"{at}/{alone.slug}/agreement").json()["sources"] == []
    client = Client()
    client.force_login(user)
    for each, there in ((stage, True), (alone, False)):
        page = client.get(reverse("annotation:agreement", args=[each.project.slug, each.slug]))
        assert ("By source: the class of the query" in page.content.decode()) is there
