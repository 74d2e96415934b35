"""The funnel of a project: its counts, its lists, and what waits for somebody."""

# ruff: noqa: F811  # fixtures come from the desk's tests by import

import re
from html import unescape

import pytest

from annotation.models import Query
from annotation.selectors.queries import Part, funnel
from annotation.services.queries import withdraw
from core.projects.services import create_project
from crowd.models import Stage
from tests.annotation.queries_world import make_answer, make_passage, make_queries, make_query, make_source
from tests.desk.conftest import HOSTILE, as_, endpoint, make_stage, owner, people, project, stage  # noqa: F401

pytestmark = pytest.mark.django_db
PLACE = "/desk/projects/reading/"


@pytest.fixture
def source(project):
    return make_source(project)


def sentences(project):
    return [each.sentence for each in funnel(project).attention]


def test_without_queries_the_section_teaches_the_next_step(owner, project):
    assert funnel(project) is None
    assert "Import queries" in owner.get(PLACE).content.decode()


def test_every_part_counts_what_came_in_through_and_stayed(project, source):
    make_queries(source, waiting=4, tied=2, excluded=3, accepted=2, disputed=1, unanswerable=1, curated=3)
    make_queries(source, answered=2)
    found = funnel(project)
    assert (found.total, found.sources) == (18, 1)
    assert found.parts == (
        Part("screening", entered=18, passed=9, waiting=4, undecided=2, out=3, withdrawn=0),
        Part("curation", entered=9, passed=5, waiting=2, undecided=1, out=1, withdrawn=0),
        Part("distillation", entered=5, passed=2, waiting=3, undecided=0, out=0, withdrawn=0),
    )


def test_what_is_taken_out_counts_in_the_parts_that_it_came_through(project, source, people):
    for status in ("waiting", "accepted", "curated", "answered", "answered"):
        withdraw(query=make_query(source, status=status), reason="A test.", actor=people["owner"])
    screening, curation, distillation = funnel(project).parts
    assert (screening.entered, screening.passed, screening.withdrawn) == (5, 4, 1)
    assert (curation.entered, curation.passed, curation.withdrawn) == (4, 3, 1)
    assert (distillation.entered, distillation.passed, distillation.withdrawn) == (3, 0, 3)


def test_all_that_came_in_is_somewhere(project, source, people):
    make_queries(source, **{status: number for number, status in enumerate(Query.Status.values[:-1], 1)})
    for query in Query.objects.all()[::3]:
        withdraw(query=query, reason="A test.", actor=people["owner"])
    for part in funnel(project).parts:
        stayed = part.waiting + part.undecided + part.out + part.withdrawn
        assert part.entered == part.passed + stayed or part.kind == "distillation"
    make_queries(make_source(project, state="importing"), waiting=5)
    make_queries(make_source(create_project(slug="other", title="Other")), waiting=7)
    assert funnel(project).total == Query.objects.filter(source=source).count()


def test_every_number_opens_the_list_of_just_those_queries(owner, project, source, people):
    make_queries(source, waiting=4, tied=2, excluded=3, accepted=2, disputed=1, unanswerable=1, curated=3)
    make_queries(source, answered=2)
    for status in ("waiting", "waiting", "accepted", "curated"):
        query = Query.objects.filter(status=status).first()
        withdraw(query=query, reason="A test.", actor=people["owner"])
    page = " ".join(owner.get(PLACE).content.decode().split())
    found = re.findall(r'<td> <a href="(/desk/projects/reading/queries/\?[^"]*)">([\d,]+)</a> ?</td>', page)
    assert len(found) == 13
    for address, number in found:
        assert owner.get(address).context["rows"].paginator.count == int(number), address


def test_what_waits_for_a_person_is_listed(project, source, endpoint):
    stage = make_stage(project, endpoint)
    make_queries(source, waiting=12, tied=2, disputed=1)
    accepted = make_query(source, status="accepted")
    curated = make_query(source, status="curated")
    make_answer(stage, curated, state="rewrite")
    make_answer(stage, curated, flags=["copied", "long"])
    make_answer(stage, curated, flags=["copied"], state="approved")
    make_source(project, "broken.csv", state="failed")
    assert sentences(project) == [
        "1 import failed; nothing of it is here.",
        "2 queries are tied in screening and need your decision.",
        "1 query is disputed in curation and needs your decision.",
        "12 queries wait for screening, and no stage of that kind is open.",
        "1 query waits for curation, and no stage of that kind is open.",
        "1 query waits for distillation, and no stage of that kind is open.",
        "1 query accepted in screening has no candidate passages.",
        "1 answer waits for a rewrite by its author.",
        "1 answer has flags and waits for a reviewer.",
    ]
    make_passage(accepted, 1)
    assert not [words for words in sentences(project) if "candidate passages" in words]


def test_an_open_stage_of_the_kind_does_what_waits(project, source, endpoint):
    make_queries(source, waiting=2)
    stage = make_stage(project, endpoint)
    Stage.objects.filter(pk=stage.pk).update(kind="screening", status="open")
    assert sentences(project) == []


def test_links_of_the_attention_list_show_what_they_say(owner, project, source, endpoint):
    stage = make_stage(project, endpoint)
    make_queries(source, tied=2, accepted=3)
    make_answer(stage, make_query(source, status="curated"), state="rewrite")
    make_answer(stage, make_query(source, status="curated"), flags=["copied"])
    page = owner.get(PLACE).content.decode()
    links = re.findall(r'<a href="([^"]+/queries/\?[^"]+)">[^<]*[a-z]\.</a>', page)
    assert [owner.get(unescape(link)).context["rows"].paginator.count for link in links] == [3, 2, 3, 1, 1]
    assert f'<a href="{PLACE}adjudication/">2 queries are tied' in page


def test_a_project_that_curates_is_told_to_add_passages_until_it_has_some(owner, project, endpoint, source):
    made = make_stage(project, endpoint)
    Stage.objects.filter(pk=made.pk).update(kind="curation")
    assert "Add passages</a>" in owner.get(PLACE).content.decode()
    make_passage(make_query(source, "q"), 1)
    assert "<strong>Add passages</strong>" in owner.get(PLACE).content.decode()
    Stage.objects.filter(pk=made.pk).update(kind="screening")
    assert "Add passages" not in owner.get(PLACE).content.decode()
