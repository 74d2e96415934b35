"""One pseudonym for each person of a panel, by whichever endpoint or link they came."""

import json

import pytest
from django.db import DEFAULT_DB_ALIAS

from core.projects.selectors import pseudonym
from crowd.models import Assignment, Endpoint, Hit, Stage, Worker
from crowd.selectors.pseudonyms import worker_pseudonyms
from people.models import Guest, StudyLink, Visit
from releases.build import ONE_PER_PERSON
from releases.options import Options
from releases.scope import People
from tests.cases import apart
from tests.releases.test_building import built
from tests.releases.world import EDITORS, JUDGES, THEN

pytestmark = pytest.mark.django_db
Protocol = Endpoint.Protocol


@pytest.fixture
def world(made_world):
    return made_world


def at(name, protocol):
    endpoint, _ = Endpoint.objects.get_or_create(
        name=name, defaults={"label": name, "protocol": protocol, "created_at": THEN}
    )
    return endpoint


def move(world, who, endpoint, external_id):
    """Somebody of the world becomes a worker of this endpoint, which has a stage, with this id."""
    worker = world.workers[who]
    Worker.objects.filter(pk=worker.pk).update(endpoint=endpoint, external_id=external_id)
    Stage.objects.get_or_create(
        project=world.project, slug=f"at-{endpoint.name}", defaults=_stage(world, endpoint)
    )
    return worker.pk


def _stage(world, endpoint):
    like = next(iter(world.stages.values()))
    names = ("kind", "config", "seed", "reward_cents", "redundancy", "budget_cents", "created_at")
    return {"endpoint": endpoint, "title": endpoint.name, **{name: getattr(like, name) for name in names}}


def come(world, *, source, parameter, identity):
    """A guest of a link; the id of the worker."""
    link = StudyLink.objects.create(
        project=world.project, token_digest=f"{source}/{parameter}", id_source=source,
        id_parameters=[parameter], target_kind="project", target_id=world.project.pk, title="A", made_at=THEN,
    )  # fmt: skip
    number = Guest.objects.count()
    guest = Guest.objects.create(
        project=world.project, identity_kind=f"{source}/{parameter}" if source else parameter,
        identity=identity, worker_id=f"GUEST{number}", recovery_digest=f"{number}", made_at=THEN,
    )  # fmt: skip
    Visit.objects.create(link=link, guest=guest, opened_at=THEN, seen_at=THEN)
    return guest.worker_id


def names(world, *workers):
    people = People(world.project, DEFAULT_DB_ALIAS)
    found = people.names(workers)
    return people, [found[worker] for worker in workers]


def test_a_participant_of_two_workspaces_is_one_person(world):
    one = move(world, EDITORS[0], at("pool", Protocol.PROLIFIC), "5f" * 12)
    other = move(world, JUDGES[0], at("pool-2", Protocol.PROLIFIC), "5f" * 12)
    people, (first, second) = names(world, one, other)
    assert first == second == pseudonym(world.project, "5f" * 12)
    assert (len(people), people.joined) == (1, 1)


def test_the_same_id_at_two_panels_is_two_people_and_the_first_keeps_the_name_of_the_id(world):
    one = move(world, EDITORS[0], at("pool", Protocol.PROLIFIC), "5f" * 12)
    other = move(world, JUDGES[0], at("connect", Protocol.CONNECT), "5f" * 12)
    first_of = {
        worker: Assignment.objects.filter(worker=worker).order_by("pk").values_list("pk", flat=True)[0]
        for worker in (one, other)
    }
    people, found = names(world, one, other)
    assert len(set(found)) == len(people) == 2
    assert people.by_person
    earlier = min(first_of, key=first_of.__getitem__)
    assert dict(zip((one, other), found, strict=True))[earlier] == pseudonym(world.project, "5f" * 12)


def test_guests_with_the_same_id_of_the_same_source_are_one_person(world):
    links = at("links", Protocol.LINK)
    ids = [come(world, source="leeds", parameter=name, identity="4711") for name in ("pid", "PROLIFIC_PID")]
    one, other = (move(world, who, links, key) for who, key in zip((EDITORS[0], JUDGES[0]), ids, strict=True))
    _, (first, second) = names(world, other, one)
    assert first == second == pseudonym(world.project, ids[0])


def test_guests_with_the_same_id_of_other_sources_are_two(world, subtests):
    for first, second in [
        ({"source": "leeds", "parameter": "pid"}, {"source": "york", "parameter": "pid"}),
        ({"source": "leeds", "parameter": "pid"}, {"source": "", "parameter": "pid"}),
        ({"source": "", "parameter": "pid"}, {"source": "", "parameter": "id"}),
    ]:
        with apart(subtests, first=first, second=second):
            links = at("links", Protocol.LINK)
            ids = [come(world, identity="4711", **how) for how in (first, second)]
            one, other = (
                move(world, who, links, key) for who, key in zip((EDITORS[0], JUDGES[0]), ids, strict=True)
            )
            people, found = names(world, one, other)
            assert found == [pseudonym(world.project, key) for key in ids]
            assert (people.joined, people.by_person) == (0, False)


def test_an_id_in_the_address_of_a_link_is_not_believed_to_be_the_panels(world):
    guest = come(world, source="prolific", parameter="PROLIFIC_PID", identity="5f" * 12)
    one = move(world, EDITORS[0], at("pool", Protocol.PROLIFIC), "5f" * 12)
    other = move(world, JUDGES[0], at("links", Protocol.LINK), guest)
    _, found = names(world, one, other)
    assert len(set(found)) == 2


def test_a_release_joins_people_in_every_table_and_says_so(world, tmp_path):
    before = built(world, tmp_path / "before", Options(formats=("jsonl",)))
    assert "pseudonyms" not in before.manifest["parameters"]
    move(world, EDITORS[0], at("pool", Protocol.PROLIFIC), "5f" * 12)
    move(world, JUDGES[0], at("pool-2", Protocol.PROLIFIC), "5f" * 12)
    done = built(world, tmp_path / "after", Options(formats=("jsonl",)))
    assert done.manifest["parameters"]["pseudonyms"] == ONE_PER_PERSON
    card = (tmp_path / "after" / "README.md").read_text()
    assert "one pseudonym and count once (accounts merged with another: 1)." in card
    person = pseudonym(world.project, "5f" * 12)
    for table in ("answers", "ratings"):
        lines = (tmp_path / "after" / "jsonl" / f"{table}-train.jsonl").read_text().splitlines()
        assert person in {json.loads(line)["worker"] for line in lines}
    assert Hit.objects.exists()


def test_two_judges_with_the_same_id_at_two_panels_are_two_in_every_report(world, tmp_path):
    first = move(world, JUDGES[0], at("pool", Protocol.PROLIFIC), "5f" * 12)
    second = move(world, JUDGES[1], at("connect", Protocol.CONNECT), "5f" * 12)
    people, found = names(world, first, second)
    built(world, tmp_path / "out", Options(formats=("jsonl",)))
    report = json.loads((tmp_path / "out" / "reports" / "agreement-judging.json").read_text())
    listed = [row["worker"] for row in report["workers"]]
    assert len(set(listed)) == len(listed)
    assert set(found) <= set(listed)
    lines = (tmp_path / "out" / "jsonl" / "ratings-train.jsonl").read_text().splitlines()
    assert {json.loads(line)["worker"] for line in lines} <= set(listed)
    assert [worker_pseudonyms(world.project, [first, second])[key] for key in (first, second)] == found
    assert people.renamed == {}
