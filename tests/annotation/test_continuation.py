"""Continuation: people write the next message of a dialogue, a candidate of the system human."""

import random

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from annotation.continuation import ContinuationConfig, messages_of, read_message, simulated_message
from annotation.models import Answer, HeldOutWorker, Query
from annotation.selectors.answers import Material, references
from annotation.services import review_decisions
from annotation.services.review_decisions import draw
from annotation.units import of_query
from core.projects.services import set_role
from crowd.kinds import HitTerms, kind_of
from crowd.models import Exclusion
from crowd.services.publication import bundles_to_publish
from crowd.simulation.answers import PROFILES, SimulatedPerson, answer_unit, read_form
from judgments.models import Candidate, System
from judgments.selectors.candidates import to_judge
from tests.annotation.distilling import (
    flags_of,
    make_query,
    make_stage,
    pending,
    reject,
    send,
    settle,
    visitor,
    worker_named,
)
from tests.judgments.judging_world import make_stage as judging_stage
from tests.taskpage.world import text as words

pytestmark = pytest.mark.django_db

TURNS = [{"text": "were the oysters worth the wait?"}, {"text": "they were!", "answer": "lucky you"}]
LAST = "just beat the last level of that game, want a cookie?"


def continuing(**values):
    """An open stage: two different people continue each dialogue."""
    return make_stage(kind="continuation", **values)


def dialogue(stage, text=LAST, context=TURNS, **values):
    """A dialogue by its last message; nobody curated it."""
    return make_query(stage, text, passages=(), **({"context": context, "status": "waiting"} | values))


def says(stage, query, text, *, worker, **telemetry):
    who = visitor(stage, query, worker=worker)
    if telemetry:
        who.save(who.ticket(), {}, visit="v1", **telemetry)
    assert send(who, query, text=text).status_code == 200
    return Answer.objects.get(query=query, worker__external_id=worker, revises=None)


def test_a_worker_sees_the_turns_the_last_message_and_what_becomes_of_theirs():
    stage = continuing()
    page = words(visitor(stage, dialogue(stage)).open())
    for said in (*(turn["text"] for turn in TURNS), "lucky you", LAST, "The next message"):
        assert said in page
    assert "write a message that could come next" in page
    assert "Other people read it beside messages of programs, without your name" in page
    assert "Passages" not in page


def test_different_people_continue_a_dialogue_until_it_has_as_many_messages_as_the_stage_wants():
    stage = continuing()
    query = dialogue(stage)
    assert pending(stage) == {of_query(query.pk): 2}
    says(stage, query, "yes please, chocolate if you have some", worker="A1")
    assert pending(stage) == {of_query(query.pk): 1}
    assert visitor(stage, query, worker="A1").open().status_code == 403
    assert Answer.objects.count() == 1
    second = says(stage, query, "no way, how did you do that?", worker="A2")
    assert pending(stage) == {}
    reject(second)
    assert pending(stage) == {of_query(query.pk): 1}


def test_what_was_sent_can_be_looked_at_again_and_is_kept_once():
    stage = continuing()
    query = dialogue(stage)
    rosa = visitor(stage, query, worker="A1")
    ticket = rosa.ticket()
    for _ in range(2):
        sent = send(rosa, query, ticket=ticket, text="yes please, chocolate if you have some")
        assert sent.status_code == 200
    assert rosa.open().status_code == 200
    assert Answer.objects.count() == HeldOutWorker.objects.count() == 1


def test_what_is_no_continuation_is_refused_in_words_and_nothing_is_kept():
    stage = continuing()
    query = dialogue(stage)
    rosa = visitor(stage, query)
    ticket = rosa.ticket()
    for text, why in [
        ("  ", "Write the next message."),
        ("?!", "Write the next message."),
        ("ha ha ha ha", "the same over and over"),
        ("yes please", "at least 3 different words"),
        ("They WERE", "This was said before in the dialogue."),
        ("Lucky you!", "This was said before in the dialogue."),
        (f"{LAST} ", "This was said before in the dialogue."),
        ("word " * 101, "Your message has 504 characters; at most 500 fit."),
        ("Да, конечно, большое спасибо", "another script"),
    ]:
        response = send(rosa, query, ticket=ticket, text=text)
        assert (response.status_code, why in words(response)) == (422, True), text
        assert not Answer.objects.exists()
    material_in_chinese = Material(Query(text="你吃饭了吗", context=[]), ())
    config = ContinuationConfig()
    assert not read_message(material_in_chinese, config, "zh", {"text": "还没有吃"}).good
    assert read_message(material_in_chinese, config, "zh", {"text": "还没有吃呢你饿吗"}).good


def test_copies_of_the_dialogue_likeness_haste_and_listed_words_are_flagged():
    stage = continuing(config={"listed_words": ["darn", "shut up"], "copy_run": 6}, redundancy=4)
    query = dialogue(stage)
    copied = says(stage, query, "beat the last level of that game, want a", worker="A1")
    rude = says(stage, query, "oh SHUT up, I never win a darn thing", worker="A2")
    same = says(stage, query, "oh SHUT up, I never win a darn thing", worker="A3")
    pasted = says(
        stage,
        query,
        "pasting is quicker than writing it here",
        worker="A4",
        pasted_characters=39,
        keystrokes=2,
    )
    settle(stage)
    assert flags_of(copied) == ["copy-run"]
    assert flags_of(rude) == ["listed-word"]
    assert flags_of(same) == ["listed-word"]
    assert flags_of(pasted) == ["pasted"]
    flag = rude.flags.get()
    assert flag.value == 2
    assert [rude.text[span["start"] : span["end"]] for span in flag.evidence["spans"]] == ["darn", "SHUT up"]


def test_a_continuation_is_no_reference_and_moves_no_query():
    stage = continuing(redundancy=1)
    query = dialogue(stage, status="curated")
    says(stage, query, "yes please, chocolate if you have some", worker="A1")
    assert kind_of(stage).count_waiting_decisions(stage) == 1
    settle(stage)
    assert kind_of(stage).count_waiting_decisions(stage) == 0
    query.refresh_from_db()
    assert query.status == "curated"
    assert references([query.pk]) == {}
    assert HeldOutWorker.objects.filter(query=query).count() == 1


def test_opening_a_judging_stage_makes_those_that_count_candidates_beside_the_systems():
    stage = continuing()
    query = dialogue(stage)
    now = timezone.now()
    machine = System.objects.create(project=stage.project, name="hred", created_at=now)
    Candidate.objects.create(query=query, system=machine, text="i do not know", created_at=now)
    first = says(stage, query, "yes please, chocolate if you have some", worker="A1")
    says(stage, query, "no way, how did you do that?", worker="A2")
    judging = judging_stage(stage.project, redundancy=1)
    kind_of(judging).prepare(judging)
    assert sorted(to_judge(stage.project).values_list("system__name", "system__kind")) == [
        ("hred", "program"),
        ("human", "human"),
        ("human", "human"),
    ]
    assert len(pending(judging)) == 3
    reject(first)
    kind_of(judging).prepare(judging)
    assert len(pending(judging)) == 2


def test_a_project_without_continuations_gets_no_candidates_by_itself():
    stage = continuing()
    judging = judging_stage(stage.project)
    kind_of(judging).prepare(judging)
    assert not System.objects.exists()
    listing = kind_of(stage).listing(HitTerms(units=20, minutes=20))
    assert listing.title == "Continue up to 20 dialogues (about 20 minutes)"


def test_who_wrote_a_continuation_judges_none_of_the_dialogue_and_writes_no_reference_to_it():
    stage = continuing()
    query = dialogue(stage, status="curated")
    says(stage, query, "yes please, chocolate if you have some", worker="A1")
    assert sorted(Exclusion.objects.values_list("scope", flat=True)) == [
        f"query:{query.pk}:distil",
        f"query:{query.pk}:judge",
    ]
    judging = judging_stage(stage.project)
    kind_of(judging).prepare(judging)
    units = list(pending(judging))
    assert kind_of(judging).all_scopes(judging, units) == {f"query:{query.pk}:judge"}
    answering = make_stage(stage.project, endpoint=stage.endpoint)
    assert visitor(answering, query, worker="A1").open().status_code == 403
    assert visitor(answering, query, worker="A2").open().status_code == 200
    assert send(visitor(answering, query, worker="A3"), query, text="Rome").status_code == 200
    assert visitor(stage, query, worker="A3").open().status_code == 403, "nor the other way round"


def test_answers_to_a_dialogue_that_is_continued_too_are_drawn_from_as_if_it_were_not():
    stage = continuing(redundancy=1)
    query = dialogue(stage, status="curated")
    answering = make_stage(stage.project, endpoint=stage.endpoint)
    says(stage, query, "yes please, chocolate if you have some", worker="A1")
    for worker in ("A2", "A3"):
        assert send(visitor(answering, query, worker=worker), query, text="Rome").status_code == 200
    settle(answering)
    assert draw(project=stage.project, people=1, seed=1).queries == 1
    assert draw(project=stage.project, people=1, seed=1).queries == 0
    held = set(HeldOutWorker.objects.values_list("worker__external_id", flat=True))
    assert len(held) == 2
    assert "A1" in held


def test_only_dialogues_with_turns_are_asked_about_where_the_stage_says_so():
    stage = continuing(config={"only_with_turns": True})
    query = dialogue(stage)
    dialogue(stage, "hello there", context=[])
    dialogue(stage, "taken out", status="withdrawn")
    assert list(pending(stage)) == [of_query(query.pk)]
    assert dict(kind_of(stage).left_out(stage)) == {
        "excluded, taken out, or still being imported": 1,
        "without earlier turns": 1,
    }


def test_a_check_looks_like_any_other_dialogue_and_passes_with_its_word():
    stage = continuing(
        config={"checks": {"Are you there?\nPlease say lantern.": "Lantern"}},
        units_per_hit=2,
        checks_per_hit=1,
    )
    dialogue(stage)
    dialogue(stage, "what about the second one")
    (bundle,) = bundles_to_publish(stage)
    assert sorted(role for _, role in bundle.units) == ["check", "unit", "unit"]
    kind = kind_of(stage)
    page = kind.page(stage, "check:0", 1)
    assert messages_of(page.context["material"]) == ("Are you there?", "Please say lantern.")
    assert kind.wording(stage, ["check:0"]) == {"check:0": "Please say lantern."}
    assert kind.passes(stage, "check:0", {"text": "here is your LANTERN, my friend"})
    assert not kind.passes(stage, "check:0", {"text": "yes I am still there"})
    assert kind.marks(stage, "check:0") == kind.scopes(stage, "check:0") == []


def test_reviewers_see_continuations_and_can_exclude_but_not_make_references_of_them(client):
    stage = continuing()
    owner = User.objects.create_user("ada")
    set_role(project=stage.project, user=owner, role="owner")
    client.force_login(owner)
    query = dialogue(stage)
    answer = says(stage, query, "yes please, chocolate if you have some", worker="A1")
    settle(stage)
    where = [stage.project.slug, stage.slug]
    listing = client.get(reverse("annotation:answers", args=where)).content.decode()
    assert "Continuations are no references" in listing
    assert "Hold-out" not in listing
    detail = client.get(reverse("annotation:answers_of_query", args=[*where, query.pk])).content.decode()
    assert "yes please, chocolate" in detail
    assert "The last message" in detail
    assert "Make it a reference again" not in detail
    worker = worker_named("A1").pk
    assert client.post(reverse("annotation:take_back", args=[*where, query.pk, worker])).status_code == 404
    review_decisions.exclude(answer=answer, actor=owner, seen=answer.state, reason="Off topic")
    assert pending(stage) == {of_query(query.pk): 2}


def test_simulated_people_of_every_kind_fill_in_the_page():
    stage = continuing(redundancy=4)
    truth = {"truth": {"continuations": ["well, I would not say no"]}}
    for number, profile in enumerate(["diligent", "random", "constant", "copy-paster", "diligent"]):
        query = dialogue(stage, extra=truth if number else {})
        rosa = visitor(stage, query)
        form = read_form(rosa.open().content.decode(), "http://127.0.0.1/")
        form.behind = {"0": of_query(query.pk)}
        filled = answer_unit(stage, form, of_query(query.pk), SimulatedPerson(3, PROFILES[profile], 7))
        answer = rosa.client.post(rosa.path, {"ticket": rosa.ticket(), **filled})
        assert (answer.status_code, Answer.objects.count()) == (200, number + 1), profile


def test_what_diligent_simulated_people_write_is_a_continuation():
    config = ContinuationConfig(check_language=False)
    for last in (LAST, "hi", "你吃饭了吗"):
        found = Material(Query(text=last, context=[]), ())
        written = [simulated_message(found, random.Random(seed)) for seed in range(40)]
        assert [text for text in written if not read_message(found, config, "en", {"text": text}).good] == []
