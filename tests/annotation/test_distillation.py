"""Distillation through the task page: what editors see, what is refused and kept, when a query is done."""

import random

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.models import Answer, Query, QueryStep
from annotation.units import of_query
from annotation.writing_config import distillation_config
from crowd.kinds import kind_of
from crowd.models import Exclusion, Stage, Worker
from crowd.services.publication import bundles_to_publish
from crowd.simulation.answers import PROFILES, SimulatedPerson, answer_unit, read_form
from tests.annotation.distilling import (
    HOSTILE,
    PASSAGE,
    make_query,
    make_stage,
    pending,
    reject,
    send,
    settle,
    visitor,
    write,
)
from tests.taskpage.world import text as words

pytestmark = pytest.mark.django_db
ARABIC_PASSAGE = "روما هي عاصمة إيطاليا وأكبر مدنها، وتقع على ضفاف نهر التيبر."
CHINESE_PASSAGE = "罗马是意大利的首都,也是该国最大的城市,位于台伯河畔。"


def test_an_editor_sees_the_query_its_turns_the_passages_and_what_is_measured():
    stage = make_stage()
    query = make_query(stage, context=[{"text": "tell me about italy", "answer": "A country."}])
    page = words(visitor(stage, query).open())
    assert "what is the capital of italy" in page
    assert "tell me about italy" in page
    assert "A country." in page
    assert PASSAGE in page
    assert "answer the question in your own words" in page
    assert "Copying, pasting, speed and length are measured, never which keys you press." in page
    assert "language model" not in page


def test_one_word_or_several_lines_are_an_answer_in_the_script_of_query_or_passages():
    stage = make_stage()
    answer = write(stage, make_query(stage), " Rome ", worker="A1")
    assert (answer.text, answer.opinion) == ("Rome", "")
    lines = write(stage, make_query(stage), "Rome.\r\nIt lies on the Tiber.", worker="A1")
    assert lines.text == "Rome.\nIt lies on the Tiber."
    stage = make_stage(language="zh")
    query = make_query(stage, "谁做了第一台个人电脑", ("IBM 在一九八一年推出了个人电脑。",))
    assert write(stage, query, "IBM", worker="A1").text == "IBM"
    stage = make_stage(config={"check_language": False})
    assert write(stage, make_query(stage), "Рим является столицей Италии", worker="A1").pk


def test_what_is_no_answer_is_said_at_once_and_nothing_is_kept():
    stage = make_stage()
    query = make_query(stage)
    rosa = visitor(stage, query)
    ticket = rosa.ticket()
    for text, why in [
        ("   ", "Write your answer; one word can be enough."),
        ("?!", "Write your answer"),
        ("word " * 401, "Your answer has 2,004 characters; at most 2,000 fit."),
        ("What is the capital of ITALY?", "This is the question itself."),
        ("Рим является столицей Италии", "another script"),
    ]:
        response = send(rosa, query, ticket=ticket, text=text)
        assert (response.status_code, why in words(response)) == (422, True), text
        assert not Answer.objects.exists()


def test_another_language_in_the_same_script_is_asked_about_once_and_then_taken():
    stage = make_stage()
    query = make_query(stage)
    german = (
        "Die Hauptstadt von Italien ist seit langer Zeit eine sehr alte und sehr schöne Stadt am Ufer des "
        "Flusses, der durch die Mitte des Landes fließt."
    )
    rosa = visitor(stage, query)
    ticket = rosa.ticket()
    asked = send(rosa, query, ticket=ticket, text=german)
    assert asked.status_code == 422
    assert "This seems to be in another language than the question" in words(asked)
    assert 'name="0|seen" value="yes"' in asked.content.decode()
    assert send(rosa, query, ticket=ticket, text=german, seen="yes").status_code == 200
    assert Answer.objects.get().text == german


@pytest.mark.parametrize(
    ("language", "query", "passage", "answer", "wrong"),
    [
        ("zh-Hans", "意大利的首都是哪里", CHINESE_PASSAGE, "意大利的首都是罗马。", "The capital is Rome"),
        ("ar", "ما هي عاصمة إيطاليا", ARABIC_PASSAGE, "عاصمة إيطاليا هي مدينة روما.", "The capital is Rome"),
    ],
)
def test_chinese_and_arabic_need_no_segmentation(language, query, passage, answer, wrong):
    stage = make_stage(language=language)
    row = make_query(stage, query, (passage,))
    rosa = visitor(stage, row)
    ticket = rosa.ticket()
    assert "another script" in words(send(rosa, row, ticket=ticket, text=wrong))
    assert "the question itself" in words(send(rosa, row, ticket=ticket, text=f"{query}؟"))
    assert send(rosa, row, ticket=ticket, text=answer).status_code == 200
    assert Answer.objects.get().text == answer
    assert f'<div lang="{language}">' in rosa.client.get(rosa.path).content.decode()


def test_a_yes_no_query_asks_for_the_opinion():
    stage = make_stage()
    query = make_query(stage, "is rome the capital of italy", yes_no=True)
    rosa = visitor(stage, query)
    ticket = rosa.ticket()
    for opinion in ("", "Maybe"):
        refused = send(rosa, query, ticket=ticket, text="It is.", opinion=opinion)
        assert "Say whether your answer is yes, no, or depends." in words(refused)
    send(rosa, query, ticket=ticket, text="It is.", opinion="Yes")
    assert Answer.objects.get().opinion == "Yes"


def test_entities_are_lines_that_stand_in_the_answer():
    stage = make_stage()
    for kind in ("ENTITY", "PERSON", "LOCATION"):
        query = make_query(stage, type=kind)
        rosa = visitor(stage, query)
        ticket = rosa.ticket()
        refused = send(rosa, query, ticket=ticket, text="Rome, not Milan; Rome.", entities="Paris")
        assert "“\u2068Paris\u2069” does not occur in your answer in this form." in words(refused)
        send(rosa, query, ticket=ticket, text="Rome, not Milan; Rome.", entities="Milan\n\n Rome\nRome")
        assert Answer.objects.get(query=query).entities == [
            {"start": 0, "end": 4, "text": "Rome"},
            {"start": 10, "end": 15, "text": "Milan"},
            {"start": 17, "end": 21, "text": "Rome"},
        ]


def test_words_in_no_dictionary_are_a_hint_that_stops_nothing():
    stage = make_stage()
    query = make_query(stage)
    rosa = visitor(stage, query)
    ticket = rosa.ticket()
    assert "Not in our dictionary" not in words(rosa.open())
    rosa.save(ticket, {"0|text": "The captial is Rome on the Tiber"})
    assert "perhaps misspelt: captial . You can leave" in words(rosa.open())
    assert send(rosa, query, ticket=ticket, text="The captial is Rome on the Tiber").status_code == 200


def test_hostile_text_is_shown_harmlessly():
    stage = make_stage()
    query = make_query(stage, HOSTILE, (HOSTILE + "x" * 10_000,), context=[{"text": HOSTILE}, "odd", {}])
    rosa = visitor(stage, query)
    page = rosa.open().content.decode()
    assert "<script>alert" not in page
    assert "49" not in page.partition("{{7*7}}")[0].rpartition("alert")[2]
    assert page.count("&lt;script&gt;") == 3
    answered = send(rosa, query, text=f"Rome {HOSTILE}")
    assert answered.status_code == 200
    assert Answer.objects.get().text == f"Rome {HOSTILE}"


def test_only_curated_queries_of_the_project_are_asked_until_they_have_their_answers():
    stage = make_stage()
    query = make_query(stage)
    make_query(stage, "another", status="accepted")
    make_query(stage, "a third", status="withdrawn")
    make_query(make_stage().project)
    assert pending(stage) == {of_query(query.pk): 2}
    write(stage, query, "Rome", worker="A1")
    assert pending(stage) == {of_query(query.pk): 1}
    assert "every answer must be from another person" in words(visitor(stage, query, worker="A1").open())
    write(stage, query, "It is Rome", worker="A2")
    assert pending(stage) == {}


def test_who_curated_a_query_does_not_answer_it_and_who_answers_does_not_judge():
    stage = make_stage()
    query = make_query(stage)
    who = visitor(stage, query, worker="ACURATOR")
    worker = Worker.objects.create(
        endpoint=stage.endpoint, external_id="ACURATOR", first_seen_at=timezone.now()
    )
    Exclusion.objects.create(
        worker=worker, scope=f"query:{query.pk}:distil", reason="Curated it", created_at=timezone.now()
    )
    assert "You cannot do this HIT" in words(who.open())
    answer = write(stage, query, "Rome", worker="A1")
    scopes = Exclusion.objects.filter(worker=answer.worker).values_list("scope", flat=True)
    assert list(scopes) == [f"query:{query.pk}:judge"]


def test_a_query_with_all_its_answers_is_answered_until_one_is_rejected():
    stage = make_stage()
    query = make_query(stage)
    answers = [write(stage, query, f"Rome, says {name}", worker=name) for name in ("A1", "A2")]
    assert kind_of(stage).count_waiting_decisions(stage) == 1
    assert settle(stage) == {"checked": 1, "answered": 1, "reopened": 0, "held_out": 0}
    assert kind_of(stage).count_waiting_decisions(stage) == 0
    query.refresh_from_db()
    assert (query.status, query.status_reason) == (Query.Status.ANSWERED, "It has 2 answers.")
    step = QueryStep.objects.get(query=query)
    assert (step.before, step.after, step.stage, step.actor) == ("curated", "answered", stage, None)
    checked = list(Answer.objects.values_list("checked_at", flat=True))
    assert settle(stage) == {"checked": 0, "answered": 0, "reopened": 0, "held_out": 0}
    assert list(Answer.objects.values_list("checked_at", flat=True)) == checked
    assert QueryStep.objects.count() == 1
    settle(make_stage(stage.project, endpoint=stage.endpoint, redundancy=5))
    query.refresh_from_db()
    assert query.status == Query.Status.ANSWERED, "another stage does not take back what this one finished"
    reject(answers[0])
    assert settle(stage)["reopened"] == 1
    query.refresh_from_db()
    assert query.status == Query.Status.CURATED
    assert pending(stage) == {of_query(query.pk): 1}


def test_a_stage_is_made_on_the_desk_with_every_option_in_words(client):
    stage = make_stage()
    client.force_login(User.objects.create_superuser("root"))
    address = f"/desk/projects/{stage.project.slug}/new-stage/?kind=distillation"
    form = client.get(address).context["form"]
    sent = {name: form[name].value() for name in form.fields if form[name].value() not in (None, False)}
    sent |= {
        "slug": "second",
        "title": "Second",
        "task.title": "Answer",
        "task.description": "Answer it.",
        "endpoint": stage.endpoint.name,
        "reward": "0.20",
        "redundancy": "20",
        "config.copy_share": "0.75",
        "config.canary": "on",
    }
    response = client.post(address, sent)
    assert response.status_code == 302, response.context["form"].errors
    config = distillation_config(Stage.objects.get(slug="second"))
    assert (config.copy_share, config.canary, config.hold_out) == (0.75, True, 0)
    refused = client.post(address, sent | {"config.near_ratio": "2"})
    assert "config.near_ratio" in refused.context["form"].errors


def test_researchers_read_the_query_instead_of_the_units_name_and_bundles_are_published():
    stage = make_stage(units_per_hit=2)
    for number in range(3):
        make_query(stage, f"question {number}")
    assert [len(bundle.units) for bundle in bundles_to_publish(stage)] == [2, 1]
    unit = of_query(make_query(stage).pk)
    assert kind_of(stage).wording(stage, [unit, "query:999999"]) == {
        unit: "what is the capital of italy",
        "query:999999": "query:999999",
    }


def test_simulated_people_of_every_kind_fill_in_the_page():
    stage = make_stage()
    others = [({"yes_no": True}, "diligent"), ({"type": "LOCATION"}, "copy-paster")]
    cases = [*(({}, profile) for profile in sorted(PROFILES)), *others]
    for number, (fields, profile) in enumerate(cases, 1):
        query = make_query(stage, **fields, extra={"truth": {"answers": ["Rome", "The city of Rome."]}})
        rosa = visitor(stage, query)
        form = read_form(rosa.open().content.decode(), "http://127.0.0.1/")
        form.behind = {"0": of_query(query.pk)}
        filled = answer_unit(stage, form, of_query(query.pk), SimulatedPerson(3, PROFILES[profile], 7))
        answer = rosa.client.post(rosa.path, {"ticket": rosa.ticket(), **filled})
        assert (answer.status_code, Answer.objects.count()) == (200, number), profile


@pytest.mark.parametrize(
    ("language", "query", "passage"),
    [("zh", "意大利的首都是哪里", CHINESE_PASSAGE), ("ar", "ما هي عاصمة إيطاليا", ARABIC_PASSAGE)],
)
def test_simulated_answers_without_a_known_truth_are_made_of_the_passages(language, query, passage):
    stage = make_stage(language=language)
    row = make_query(stage, query, (passage,))
    for number in range(5):
        given = kind_of(stage).simulate(stage, of_query(row.pk), PROFILES["diligent"], random.Random(number))
        assert kind_of(stage).parse(stage, of_query(row.pk), given).good, given


def test_the_canary_is_hidden_from_eyes_and_screen_readers_named_in_general_words_and_always_the_same():
    stage = make_stage()
    assert "aside-note" not in visitor(stage, make_query(stage)).open().content.decode()
    stage = make_stage(config={"canary": True})
    query, other = make_query(stage), make_query(stage, "another question")
    response = visitor(stage, query).open()
    page = response.content.decode()
    assert '<p class="aside-note" aria-hidden="true" lang="en">' in page
    assert "tabindex" not in page.partition('class="aside-note"')[2].partition("</p>")[0]
    assert "marks for software that writes answers by itself; they mean nothing to people" in words(response)
    kind = kind_of(stage)
    phrases = [kind.page(stage, of_query(each.pk), 1).context["canary"] for each in (query, query, other)]
    assert phrases[0] == phrases[1]
    assert len(phrases[0].split()) == 2


@pytest.mark.long
def test_flags_are_computed_in_a_fixed_number_of_statements(django_assert_max_num_queries):
    stage = make_stage(redundancy=3)
    for query in [make_query(stage, f"question {n}") for n in range(6)]:
        for name in ("A1", "A2"):
            write(stage, query, f"{PASSAGE} {name}", worker=name)
    with django_assert_max_num_queries(16):
        settle(stage)
