"""The table of a project's queries, its download, and the page of one query."""

# ruff: noqa: F811  # fixtures come from the desk's tests by import

import csv
import io

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.models import AnswerReview, HeldOutWorker, Query, QueryStep
from annotation.selectors import query_progress
from annotation.services.queries import put_back, withdraw
from annotation.services.steps import move
from core.projects.models import Event
from core.projects.services import create_project
from crowd.errors import CrowdError
from crowd.models import Assignment
from tests.annotation.queries_world import (
    make_answer,
    make_curated,
    make_passage,
    make_queries,
    make_query,
    make_selection,
    make_source,
    make_vote,
)
from tests.desk.conftest import HOSTILE, as_, endpoint, make_hit, make_work, manager, people, project, stage  # noqa: F401
from tests.saving import messages_of

pytestmark = pytest.mark.django_db
TABLE = "/desk/projects/reading/queries/"
FILE = "/desk/projects/reading/queries.csv"


@pytest.fixture
def source(project):
    return make_source(project)


def page_of(query, name="query"):
    return reverse(f"annotation:{name}", args=[query.project.slug, query.pk])


def texts(answer):
    return [query.text for query, _ in answer.context["rows"]]


def test_the_address_filters_and_sorts(manager, project, source):
    assert "Queries come in from a query log" in manager.get(TABLE).content.decode()
    make_query(source, "oak age", type="NUMERIC", count=2)
    make_query(source, "elm age", type="NUMERIC", count=9, status="accepted", key="key-of-elm")
    make_query(source, "Paris weather", status="curated")
    make_query(make_source(project, "second.jsonl"), "is it true", yes_no=True)
    strange = make_query(make_source(create_project(slug="other", title="Other")), "theirs")
    make_query(make_source(project, state="importing"), "half")
    everything = ["oak age", "elm age", "Paris weather", "is it true"]
    for asked, expected in [
        ("", everything),
        ("?status=accepted", ["elm age"]),
        ("?status=through-screening", ["elm age", "Paris weather"]),
        ("?status=through-curation", ["Paris weather"]),
        ("?type=NUMERIC", ["oak age", "elm age"]),
        ("?type=none", ["Paris weather", "is it true"]),
        ("?type=yes-no", ["is it true"]),
        (f"?source={source.pk}", everything[:3]),
        ("?q=AGE", ["oak age", "elm age"]),
        ("?q=key-of-elm", ["elm age"]),
        ("?order=newest", everything[::-1]),
        ("?order=count", ["elm age", "oak age", "Paris weather", "is it true"]),
        ("?q=age&status=waiting", ["oak age"]),
        ("?q=nothing", []),
        ("?status=nonsense&type=x&source=x&order=x&only=x&page=x", everything),
        ("?q=%00&source=99999999999999999999999", everything),
        (f"?source={2**63}", everything),
    ]:
        assert texts(manager.get(TABLE + asked)) == expected, asked
    assert manager.get(f"/desk/projects/reading/queries/{strange.pk}/").status_code == 404


def test_queries_are_paged_and_pages_keep_their_filters(manager, source):
    make_queries(source, waiting=60, tied=1)
    answer = manager.get(f"{TABLE}?status=waiting&page=2")
    assert len(texts(answer)) == 25
    page = answer.content.decode()
    assert "Page 2 of 3" in page
    assert "?status=waiting&amp;page=3" in page
    assert f"{FILE}?status=waiting" in page


def test_rows_say_what_counts_so_far(manager, source, stage):
    query = make_query(source)
    make_vote(stage, query)
    make_vote(stage, query, work=make_work(make_hit(stage, external_id="3R"), "R", state="rejected"))
    make_selection(stage, query, ["p1"])
    make_answer(stage, query)
    make_answer(stage, query, state="approved")
    make_answer(stage, query, state="excluded")
    _, done = manager.get(TABLE).context["rows"][0]
    assert (done.votes, done.selections, done.answers) == (1, 1, 2)


def rows_of(answer):
    content = b"".join(answer.streaming_content).decode()
    return list(csv.DictReader(io.StringIO(content, newline="")))


def test_the_download_has_the_filtered_rows(manager, source, stage):
    make_query(source, "oak age", status="tied")
    query = make_query(source, 'say "hi",\nthere', status="curated", type="ENTITY", count=3, turn=2)
    make_answer(stage, query)
    answer = manager.get(f"{FILE}?status=curated")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="reading-queries.csv"'
    (row,) = rows_of(answer)
    assert row["text"] == 'say "hi",\nthere'
    assert (row["type"], row["count"], row["turn"], row["answers"]) == ("ENTITY", "3", "2", "1")
    assert (row["source"], row["stratum"], row["yes_no"]) == ("log.tsv", "", "False")


def test_no_cell_of_the_download_is_a_formula(manager, source):
    starts = ["=", "+", "-", "@", "\t", "\r"]
    for first in starts:
        text = f"{first}HYPERLINK(1)"
        make_query(source, text, key=f"{first}k", status_reason=text, stratum=text, conversation=text)
    for first, row in zip(starts, rows_of(manager.get(FILE)), strict=True):
        cells = (row["text"], row["reason"], row["stratum"], row["conversation"])
        assert cells == (f"'{first}HYPERLINK(1)",) * 4
        assert row["key"] == f"'{first}k"


def test_many_rows_have_the_counts_that_few_have(manager, source, stage, monkeypatch):
    for number in range(4):
        query = make_query(source, f"query {number}")
        for who in range(number):
            work = make_work(make_hit(stage, external_id=f"3V{number}{who}"), f"W{who}")
            make_vote(stage, query, work=work)
    make_answer(stage, query)
    Assignment.objects.filter(worker__external_id="W0").update(state=Assignment.State.REJECTED)
    few = rows_of(manager.get(FILE))
    monkeypatch.setattr(query_progress, "_FEW", 2)
    monkeypatch.setattr(query_progress, "_AT_ONCE", 3)
    with CaptureQueriesContext(connection) as asked:
        many = rows_of(manager.get(FILE))
    assert many == few
    assert {row["text"]: (row["screening_votes"], row["answers"]) for row in many} == {
        "query 0": ("0", "0"),
        "query 1": ("0", "0"),
        "query 2": ("1", "0"),
        "query 3": ("2", "1"),
    }
    assert sum("COUNT(" in each["sql"] for each in asked) <= 6


@pytest.fixture
def full(source, stage, people):
    """A query that went all the way."""
    query = make_query(
        source,
        "how old is he",
        line=1234,
        count=77,
        stratum="head",
        weight=12.5,
        context=[{"text": "who is Rex", "answer": "A dog."}],
        conversation="c9",
        turn=2,
        references=["Nine."],
    )
    make_vote(stage, query, work=make_work(make_hit(stage, external_id="3V"), "VOTER"))
    move(query=query, to=Query.Status.ACCEPTED, reason="3 of 3 accept it", stage=stage)
    first = make_passage(query, 1, page="u", start=0, end=100, score=3.25)
    make_passage(query, 2, page="u", start=50, end=150)
    make_passage(query, 3, folded_into=first, fold_reason="the same but for its punctuation")
    conflict = {"a": "p1", "b": "p2", "trusted": "a"}
    make_selection(stage, query, ["p1"], conflicts=[conflict])
    make_curated(query, stage, first)
    move(query=query, to=Query.Status.CURATED, reason="majority", stage=stage)
    answer = make_answer(stage, query, "Nine years.", flags=["copy-share"], opinion="Depends")
    AnswerReview.objects.create(
        answer=answer, actor=people["manager"], action="rewrite", reason="Too short.", at=timezone.now()
    )
    HeldOutWorker.objects.create(query=query, worker=answer.worker, created_at=timezone.now())
    return query


def test_a_query_shows_its_way_from_log_line_to_answers(manager, full, stage):
    page = manager.get(page_of(full)).content.decode()
    for words in (
        "how old is he", "log.tsv", "1,234", "head", "12.5", "who is Rex", "A dog.", "c9", "turn 2",
        "VOTER", "3 of 3 accept it", "folded into #1", "the same but for its punctuation",
        "overlaps #2", "overlaps #1", "#1 against #2, #1 is trusted", "curated, shown 1st", "majority",
        "Nine years.", "copied share, 80% of its words", "says depends", "held out", "ask for a rewrite",
        "Too short.", "Nine.",
    ):  # fmt: skip
        assert words in page, words
    worker = Assignment.objects.get(worker__external_id="VOTER").worker_id
    place = f"/desk/projects/reading/stages/poll/workers/{worker}/"
    assert f'href="{place}"' in page
    assert manager.get(place).status_code == 200


def test_a_query_that_nobody_saw_says_so(manager, source):
    page = manager.get(page_of(make_query(source))).content.decode()
    for words in ("Not screened.", "no candidate passages yet", "No answers yet."):
        assert words in page


def test_hostile_words_are_shown_as_words(manager, full, stage):
    long = HOSTILE + "x" * 10_000
    Query.objects.filter(pk=full.pk).update(
        text=long, key=HOSTILE, stratum=HOSTILE, conversation=HOSTILE, status_reason=HOSTILE,
        context=[{"text": long, "answer": HOSTILE}, HOSTILE], references=[HOSTILE, {"a": HOSTILE}],
        extra={HOSTILE: [HOSTILE]},
    )  # fmt: skip
    full.candidates.update(text=long, title=HOSTILE, url="javascript:alert(1)", fold_reason=HOSTILE)
    full.source.name = HOSTILE
    full.source.save()
    full.answers.update(text=long)
    full.steps.update(reason=HOSTILE)
    make_selection(stage, full, [HOSTILE], conflicts=[{"a": HOSTILE, "b": 3}, "odd"])
    for place in (page_of(full), TABLE, f"{TABLE}?q=%3Cscript%3Ealert", "/desk/projects/reading/"):
        page = manager.get(place).content.decode()
        assert "<script>alert" not in page, place
        assert "&{49}" not in page, place
        assert 'href="javascript' not in page, place
        assert "style=" not in page and "onclick" not in page, place


def test_a_manager_takes_a_query_out_and_puts_it_back(manager, people, source):
    query = make_query(source, status="curated")
    answer = manager.post(page_of(query, "take_out"), {"reason": "Names a child."}, follow=True)
    assert messages_of(answer)[-1].startswith("Taken out.")
    query.refresh_from_db()
    assert (query.status, query.status_reason) == ("withdrawn", "Names a child.")
    assert texts(manager.get(f"{TABLE}?status=taken-out-distillation")) == [query.text]
    answer = manager.post(page_of(query, "put_back"), {"reason": "It does not."}, follow=True)
    assert messages_of(answer) == ["Put back: curated, being answered."]
    query.refresh_from_db()
    assert query.status == "curated"
    steps = QueryStep.objects.order_by("pk").values_list("before", "after", "reason", "actor__username")
    assert list(steps) == [
        ("curated", "withdrawn", "Names a child.", "manager"),
        ("withdrawn", "curated", "It does not.", "manager"),
    ]
    events = Event.objects.filter(action__startswith="query.").order_by("pk")
    assert [event.action for event in events] == ["query.withdrawn", "query.put_back"]
    assert "took a query out" in manager.get("/desk/projects/reading/events/").content.decode()


def test_both_need_a_reason_and_neither_is_done_twice(manager, people, source):
    query, actor = make_query(source), people["manager"]
    for reason in ("", "   ", "x" * 301):
        answer = manager.post(page_of(query, "take_out"), {"reason": reason}, follow=True)
        assert messages_of(answer)[-1].startswith("Why:")
    query.refresh_from_db()
    assert query.status == "waiting"
    assert not QueryStep.objects.exists()
    with pytest.raises(CrowdError, match="not taken out"):
        put_back(query=query, reason="x", actor=actor)
    withdraw(query=query, reason="x", actor=actor)
    with pytest.raises(CrowdError, match="taken out already"):
        withdraw(query=query, reason="x", actor=actor)


def test_who_looked_at_an_older_state_changes_nothing(people, source):
    query = make_query(source)
    Query.objects.update(status="accepted")
    with pytest.raises(CrowdError, match="Another person has just moved"):
        withdraw(query=query, reason="x", actor=people["manager"])
    assert Query.objects.get().status == "accepted"
    assert not QueryStep.objects.exists() and not Event.objects.filter(action="query.withdrawn").exists()
