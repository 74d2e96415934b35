"""The review screen: what reviewers see, what they decide, and what follows from it."""

import re
from copy import deepcopy

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.flags import FLAGS
from annotation.models import Answer, AnswerFlag, AnswerReview, Query
from annotation.selectors.review import lengths, overlap, pieces, stage_spread
from annotation.services import review_decisions
from annotation.services.review_decisions import ReviewError
from annotation.units import of_query
from core.projects.models import Event
from core.projects.services import set_role
from crowd.models import Assignment, MarketOperation
from tests.annotation.distilling import (
    HOSTILE,
    PASSAGE,
    flags_of,
    make_query,
    make_stage,
    pending,
    settle,
    write,
)
from tests.cases import rows_of_module
from tests.taskpage.world import text as words

pytestmark = pytest.mark.django_db


def begin():
    """A stage with people of every role, and a stranger."""
    stage = make_stage()
    for name in ("owner", "manager", "viewer"):
        user, _ = User.objects.get_or_create(username=name)
        set_role(project=stage.project, user=user, role=name)
    User.objects.get_or_create(username="stranger")
    return stage


@pytest.fixture(scope="module")
def made(django_db_setup, django_db_blocker):
    """A stage with two answers to a query, made once."""
    with rows_of_module(django_db_blocker):
        stage = begin()
        query = make_query(stage)
        answers = [write(stage, query, "Rome", worker="A1"), write(stage, query, PASSAGE, worker="A2")]
        settle(stage)
        yield stage, answers


@pytest.fixture
def world(made, db):
    return deepcopy(made)


@pytest.fixture
def stage(request):
    """That of the two answers, where a test asks for them, else a new one."""
    return request.getfixturevalue("world")[0] if "answers" in request.fixturenames else begin()


def as_(name: str) -> Client:
    client = Client()
    if name != "anonymous":
        client.force_login(User.objects.get(username=name))
    return client


@pytest.fixture
def manager(stage):
    return as_("manager")


@pytest.fixture
def me(stage):
    return User.objects.get(username="manager")


def at(stage, name, **parts):
    return reverse(f"annotation:{name}", kwargs={"project": stage.project.slug, "stage": stage.slug, **parts})


def decide(client, stage, name, answer, *, seen="", reason=""):
    seen = seen or Answer.objects.get(pk=answer.pk).state
    return client.post(at(stage, name, pk=answer.pk), {"seen": seen, "reason": reason})


def state(answer):
    return Answer.objects.get(pk=answer.pk).state


@pytest.fixture
def answers(world):
    return world[1]


def test_flags_are_stored_with_their_evidence_and_the_list_counts_them(answers, stage, manager):
    assert flags_of(answers[0]) == []
    assert flags_of(answers[1]) == ["copy-run", "copy-share"]
    flag = AnswerFlag.objects.get(name="copy-run")
    assert flag.evidence["spans"][0]["start"] == 0
    assert (flag.value, flag.limit) == (33.0, 12.0)
    make_query(stage, "a query without answers")
    page = manager.get(at(stage, "answers"))
    assert "what is the capital of italy 2 of 2 2 1 0" in words(page)
    assert "a query without answers" not in words(page)
    assert "a query without answers 0 of 2" in words(manager.get(at(stage, "answers") + "?state=incomplete"))
    assert "2 of 2" in words(manager.get(at(stage, "answers") + "?state=flagged&order=flagged"))
    assert "No query is in this state" in words(manager.get(at(stage, "answers") + "?state=decided"))
    page = as_("viewer").get(at(stage, "answers_of_query", pk=answers[0].query_id)).content.decode()
    assert re.findall(r'<form method="post" action="(/desk[^"]*)"', page) == []


def test_a_new_answer_can_flag_an_older_one(stage):
    query = make_query(stage, passages=("Nothing.",))
    text = "Everybody says that the capital of Italy is Rome."
    first = write(stage, query, text, worker="A1")
    settle(stage)
    assert flags_of(first) == []
    second = write(stage, query, text.upper(), worker="A2")
    settle(stage)
    assert (flags_of(first), flags_of(second)) == (["identical"], ["identical"])
    kept = AnswerFlag.objects.get(answer=first).pk
    write(stage, query, "Rome", worker="A3")
    settle(stage)
    assert AnswerFlag.objects.get(answer=first).pk == kept


def test_a_flag_of_an_answer_alone_stays_and_one_among_others_may_go(stage):
    query = make_query(stage)
    copied = write(stage, query, PASSAGE, worker="A0")
    for number in range(1, 5):
        write(stage, query, "Rome", worker=f"A{number}")
    settle(stage)
    assert flags_of(copied) == ["copy-run", "copy-share", "length"]
    for number in range(5, 11):
        write(stage, query, f"{'It is, as they say, ' * 7}{number}", worker=f"A{number}")
    settle(stage)
    assert flags_of(copied) == ["copy-run", "copy-share"]


def test_what_the_page_measured_is_judged_over_the_whole_assignment(stage):
    query = make_query(stage, passages=("Nothing.",))
    pasted = write(
        stage, query, "It is a city on the river Tiber.", worker="A1", active_ms=60_000, pasted_characters=30
    )
    fast = write(
        stage,
        query,
        "A city on the Tiber, of three millennia, is it.",
        worker="A2",
        active_ms=1000,
        keystrokes=3,
    )
    plain = write(stage, query, "Rome it is, and has been for long.", worker="A3", active_ms=60_000)
    settle(stage)
    assert (flags_of(pasted), flags_of(fast), flags_of(plain)) == (["pasted"], ["typing-rate"], [])


def test_the_tab_stands_at_stages_of_this_kind_only(stage, manager):
    from tests.taskpage.world import make_stage as stage_of

    assert (
        at(stage, "answers")
        in manager.get(f"/desk/projects/{stage.project.slug}/stages/{stage.slug}/").content.decode()
    )
    poll = stage_of("poll", project=stage.project, endpoint=stage.endpoint)
    page = manager.get(f"/desk/projects/{stage.project.slug}/stages/poll/").content.decode()
    assert "/answers/" not in page
    assert manager.get(at(poll, "answers")).status_code == 404


def test_one_query_shows_passages_answers_flags_and_evidence(stage, manager, answers):
    page = manager.get(at(stage, "answers_of_query", pk=answers[0].query_id))
    said = words(page)
    assert "2 answers" in said
    assert "copied run 33 words in a row (limit 12); passage 1" in said
    assert "Definitions and names can be the same by necessity." in said
    assert f'<mark title="copied run, copied share">{PASSAGE[:-1]}</mark>.' in page.content.decode()
    assert "The work is paid, unless you reject it." in said
    assert re.search(r"Characters: least, median, most 4, [0-9.]+, \d+", said)[0].endswith("4, 91.5, 179")


def test_every_flag_can_be_shown_with_its_evidence(manager, stage):
    from annotation.selectors.answers import material
    from annotation.services.query_answers import canary_phrase

    stage.config = {"canary": True, "check_language": False, "length_z": 1.5, "listed_words": ["millennia"]}
    stage.save()
    query = make_query(stage)
    longer = "It has been said that the city on the Tiber is where the ministers of the country sit. "
    texts = [
        PASSAGE,
        longer,
        longer,
        longer + "Indeed.",
        f"Rome, {canary_phrase(stage, material(query.pk))}.",
        "Roem si teh captial ciyt fo Itlay adn hsa bene.",
        "La capitale de l'Italie est bien entendu la ville de Rome, comme tout le monde le sait.",
        " ".join(f"{longer}{number}" for number in range(21)),
        "See above, please.",
        "nothing",
    ]
    for number, text in enumerate(texts):
        write(stage, query, text, worker=f"A{number}")
    tiber = "A city on the Tiber, of three millennia."
    write(stage, query, tiber, worker="B1", active_ms=60_000, pasted_characters=30)
    write(stage, query, tiber, worker="B2", active_ms=1000, keystrokes=3)
    stage.config["check_language"] = True
    stage.save()
    settle(stage)
    raised = set(AnswerFlag.objects.filter(answer__stage=stage).values_list("name", flat=True))
    assert raised == set(FLAGS)
    said = words(manager.get(at(stage, "answers_of_query", pk=query.pk)))
    assert [name for name in raised if FLAGS[name].label not in said] == []
    for writer in Answer.objects.filter(stage=stage).values_list("worker", flat=True):
        assert manager.get(at(stage, "answers_of_worker", pk=writer)).status_code == 200


def test_pairs_that_are_alike_stand_in_a_table(stage, manager):
    query = make_query(stage)
    for name, text in (("A1", "Rome is the capital"), ("A2", "the capital is Rome"), ("A3", "Milan")):
        write(stage, query, text, worker=name)
    settle(stage)
    assert "Answers Alike 1 and 2 1.00" in words(manager.get(at(stage, "answers_of_query", pk=query.pk)))


def test_telemetry_and_opinions_are_shown(stage, manager):
    query = make_query(stage, yes_no=True)
    write(stage, query, "It is.", worker="A1", active_ms=12_345, keystrokes=9)
    said = words(manager.get(at(stage, "answers_of_query", pk=query.pk)))
    assert "active 12.3 s" in said
    assert "keys 9" in said
    assert "Yes 1 No 0 Depends 0" in said


def test_all_answers_of_one_person_stand_on_one_page(stage, manager, answers):
    other = make_query(stage, "another question")
    write(stage, other, "Another answer", worker="A2")
    assert "A2 2 1 0" in words(manager.get(at(stage, "answer_writers")))
    page = words(manager.get(at(stage, "answers_of_worker", pk=answers[1].worker_id)))
    assert "Another answer" in page
    assert "copied share" in page
    assert "Not checked yet." in page


def test_hostile_text_is_escaped_everywhere(stage, manager):
    query = make_query(stage, HOSTILE, (HOSTILE * 3 + "\n" + PASSAGE,), type="ENTITY")
    answer = write(stage, query, f"{HOSTILE} {PASSAGE} {HOSTILE}", worker="A1")
    Answer.objects.update(entities=[{"start": 0, "end": 3, "text": HOSTILE}])
    settle(stage)
    decide(manager, stage, "exclude_answer", answer, reason=HOSTILE)
    for address in (
        at(stage, "answers") + "?state=all",
        at(stage, "answers_of_query", pk=query.pk),
        at(stage, "answer_writers"),
        at(stage, "answers_of_worker", pk=answer.worker_id),
        at(stage, "spread_of_answers"),
    ):
        response = manager.get(address)
        assert response.status_code == 200
        assert "<script>alert" not in response.content.decode()


def test_pieces_joined_are_the_text():
    text = "one two three four"
    flags = [
        AnswerFlag(name="copy-run", evidence={"spans": [{"start": 0, "end": 7}]}),
        AnswerFlag(name="spelling", evidence={"spans": [{"start": 4, "end": 13}, {"start": 17, "end": 99}]}),
    ]
    assert [(piece.text, piece.title) for piece in pieces(text, flags)] == [
        ("one ", "copied run"),
        ("two", "copied run, spelling"),
        (" three", "spelling"),
        (" fou", ""),
        ("r", "spelling"),
    ]


def test_approving_is_written_down_and_two_reviewers_do_not_overwrite_each_other(stage, manager, me, answers):
    for odd in ("nonsense", "replaced", "\0"):
        decide(manager, stage, "approve_answer", answers[0], seen=odd)
    assert state(answers[0]) == "undecided"
    response = decide(manager, stage, "approve_answer", answers[0])
    assert response.headers["Location"].endswith(f"#answer-{answers[1].pk}")
    assert state(answers[0]) == "approved"
    review = AnswerReview.objects.get()
    assert (review.action, review.actor, review.reason) == ("approve", me, "")
    response = decide(manager, stage, "exclude_answer", answers[0], seen="undecided", reason="Bad")
    page = words(manager.get(response.headers["Location"]))
    assert "Somebody decided about this answer in the meantime" in page
    assert state(answers[0]) == "approved"
    assert AnswerReview.objects.count() == 1
    with pytest.raises(ReviewError, match="that cannot be done with it"):
        review_decisions.approve(answer=answers[0], actor=me, seen="excluded")


def test_an_exclusion_needs_a_reason_and_its_query_one_more_answer(stage, manager, answers):
    query = answers[0].query
    query.refresh_from_db()
    assert query.status == Query.Status.ANSWERED
    decide(manager, stage, "exclude_answer", answers[1], reason="  ")
    assert state(answers[1]) == "undecided"
    decide(manager, stage, "exclude_answer", answers[1], reason="Copied from the passage")
    query.refresh_from_db()
    assert state(answers[1]) == "excluded"
    assert (query.status, query.status_reason) == (
        Query.Status.CURATED,
        "It lacks one answer: an answer was excluded, Copied from the passage",
    )
    assert pending(stage) == {of_query(query.pk): 1}
    assert query.steps.order_by("-pk").first().actor.username == "manager"
    event = Event.objects.get(action="answer.excluded")
    assert event.details["why"] == "Copied from the passage"


def test_an_exclusion_leaves_the_pay_and_its_query_is_answered_by_another_or_when_it_is_taken_back(
    stage, manager, answers
):
    decide(manager, stage, "exclude_answer", answers[1], reason="Copied")
    assert Assignment.objects.get(pk=answers[1].assignment_id).state == Assignment.State.STORED
    assert not MarketOperation.objects.exists()
    decide(manager, stage, "reopen_answer", answers[1])
    assert state(answers[1]) == "undecided"
    assert Query.objects.get().status == Query.Status.ANSWERED
    assert list(AnswerReview.objects.order_by("pk").values_list("action", flat=True)) == ["exclude", "reopen"]
    decide(manager, stage, "exclude_answer", answers[1], reason="Copied")
    write(stage, answers[0].query, "The city of Rome", worker="A3")
    assert settle(stage)["answered"] == 1
    assert pending(stage) == {}


def test_everything_without_flags_is_approved_at_once(stage, manager, answers):
    late = write(stage, answers[0].query, "Roma", worker="A3")
    response = manager.post(at(stage, "approve_unflagged", pk=answers[0].query_id), follow=True)
    assert "One answer is approved." in words(response)
    assert [state(answer) for answer in (*answers, late)] == ["approved", "undecided", "undecided"]
    assert AnswerReview.objects.get().action == "approve"
    decide(manager, stage, "ask_rewrite", answers[1], reason="In your own words.")
    assert state(answers[1]) == "rewrite"


def test_overlap_is_the_mean_jaccard_of_all_pairs_and_lengths_have_quartiles():
    assert overlap(["rome is old", "Rome is big"]) == 0.5
    assert overlap(["rome", "rome", "milan"]) == pytest.approx(1 / 3)
    assert overlap(["罗马首都", "罗马首府"]) == 0.5
    assert overlap(["rome"]) is None
    found = lengths([1, 2, 3, 4, 100])
    assert (found.least, found.lower, found.middle, found.upper, found.most) == (1, 2.0, 3, 4.0, 100)
    assert lengths([]) is None
    assert lengths([7]).upper == 7


def test_a_stages_figures_leave_excluded_answers_out(stage, manager, answers):
    other = make_query(stage, "another question")
    for name in ("A1", "A2"):
        write(stage, other, "the same words", worker=name)
    found = stage_spread(stage)
    assert (found.sampled, found.of, found.lengths.count) == (2, 2, 4)
    assert found.most_alike[0].overlap == 1.0
    decide(manager, stage, "exclude_answer", answers[1], reason="Copied")
    assert stage_spread(stage).overlap == 1.0
    assert "Overlap of two answers to a query, mean 1.00" in words(
        manager.get(at(stage, "spread_of_answers"))
    )


def test_answers_of_another_project_are_not_found(stage, manager, answers):
    other = make_stage()
    set_role(project=other.project, user=User.objects.get(username="stranger"), role="owner")
    for name, pk in (
        ("approve_answer", answers[0].pk),
        ("answers_of_query", answers[0].query_id),
        ("answers_of_worker", answers[0].worker_id),
    ):
        client = as_("stranger")
        method = client.post if name == "approve_answer" else client.get
        assert method(at(other, name, pk=pk)).status_code == 404
