"""Attention checks drawn from the data: what they are made of, that they are fair, and that they stay."""

import pytest
from django.utils import timezone

from crowd.errors import CrowdError
from crowd.kinds import kind_of
from crowd.models import Assignment
from judgments.attention_checks import CheckPlan, Item, draw_checks
from judgments.models import AttentionCheck, CheckAnswer, Judgment
from judgments.units import of_candidate, of_check
from metrics.agreement.scale import Scale
from tests.cases import apart
from tests.judgments.judging_world import (
    TOPICS,
    make_candidate,
    make_project,
    make_query,
    make_stage,
    make_topics,
    send,
    send_all,
    visitor,
)
from tests.taskpage.world import text as words

WANTED = CheckPlan(
    foreign=9,
    reference=9,
    instruction=2,
    scale=Scale(1, 5),
    low=(1, 2),
    high=(4, 5),
    instruction_words="Please choose {score}.",
)


def item(pk, text, *, answers=(), references=(), passages=(), yes_no=False):
    return Item(pk, f"q{pk}", text, yes_no, answers, references, passages, references)


def topics():
    return [
        item(number, text, answers=[f"Well: {right}"], references=[right])
        for number, (text, right) in enumerate(TOPICS, 1)
    ]


def drawn(items, source, seed=7):
    return [check for check in draw_checks(items, WANTED, seed) if check.source == source]


def test_a_foreign_answer_is_what_a_system_said_to_another_query():
    own = {each.pk: set(each.answers) for each in topics()}
    every = set().union(*own.values())
    for check in drawn(topics(), "foreign"):
        assert check.text in every - own[check.query]
        assert check.accepted == (1, 2)
    assert len(drawn(topics(), "foreign")) == 6


def test_the_same_seed_draws_the_same_checks_in_whatever_order_the_data_come():
    assert draw_checks(topics(), WANTED, 3) == draw_checks(list(reversed(topics())), WANTED, 3)
    assert drawn(topics(), "foreign", 3) != drawn(topics(), "foreign", 4)


def test_what_could_be_right_by_accident_is_no_foreign_answer(subtests):
    donor = item(2, "where does rome lie", answers=["In central Italy."], references=["Near the sea coast."])
    for case, target in {
        "like a reference": item(1, "where is rome", references=["Rome lies in central Italy."]),
        "like an answer": item(1, "where is rome", answers=["In central Italy, I think."]),
        "in a passage": item(
            1, "where is rome", passages=["The Romans lived in central Italy near the Tiber."]
        ),
        "yes or no": item(1, "is rome in italy", yes_no=True),
        "nearly the same question": item(1, "where does rome lie now", references=["On the Tiber."]),
    }.items():
        with subtests.test(case=case):
            assert [check for check in drawn([target, donor], "foreign") if check.query == 1] == []
    target = item(1, "why do cats purr", references=["It calms them."])
    short = item(2, "how deep is the lake", answers=["90 metres"])
    no_answer = [item(pk, f"topic {pk} word{pk}", answers=["No answer present here."]) for pk in (3, 4)]
    assert drawn([target, short, *no_answer], "foreign") == []


def test_reference_checks_take_one_of_two_that_are_much_alike_and_such_queries_first():
    pair = ["It is made up of methane.", "Natural gas is made up of methane.", "Look at wikipedia yourself"]
    (check,) = drawn([item(1, "what is gas", references=pair)], "reference")
    assert check.text in pair[:2]
    assert check.accepted == (4, 5)
    single = [item(pk, f"question {pk}", references=[f"Answer {pk}"]) for pk in range(1, 30)]
    alike = item(99, "what is gas", references=["It is made of methane.", "It is made up of methane."])
    assert drawn([*single, alike], "reference")[0].query == 99


def test_an_instruction_accepts_the_score_that_it_names():
    for check in drawn(topics(), "instruction"):
        assert check.text == f"Please choose {check.accepted[0]}."


@pytest.mark.django_db
class TestRows:
    CONFIG = {"foreign_checks": 3, "reference_checks": 2, "instruction_checks": 1}

    def stage(self, config=None, **fields):
        project = make_project()
        make_topics(project)
        return make_stage(project, config=config or self.CONFIG, **{"checks_per_hit": 2, **fields})

    def rows(self, stage):
        return list(AttentionCheck.objects.filter(stage=stage).order_by("key").values_list("key", "text"))

    def test_they_are_made_when_they_are_asked_for_and_follow_the_options_of_a_draft(self):
        assert kind_of(none := self.stage(checks_per_hit=0)).checks(none) == []
        assert not AttentionCheck.objects.exists()
        stage = self.stage()
        units = kind_of(stage).checks(stage)
        assert len(units) == 6
        before = self.rows(stage)
        assert kind_of(stage).checks(stage) == units
        assert self.rows(stage) == before
        stage.config = {"foreign_checks": 1, "reference_checks": 0}
        assert len(kind_of(stage).checks(stage)) == 1

    def test_once_the_stage_was_opened_they_stay_and_only_missing_ones_are_added(self):
        stage = self.stage({**self.CONFIG, "foreign_checks": 40})
        before = self.rows(stage) or (kind_of(stage).checks(stage) and self.rows(stage))
        stage.opened_at = timezone.now()
        stage.save()
        make_candidate(
            make_query(stage.project, "who wrote the trial", ("Kafka did.",), key="kafka"),
            text="Franz Kafka wrote this novel in Prague.",
        )
        kind_of(stage).checks(stage)
        after = self.rows(stage)
        assert set(before) < set(after)

    def test_gold_is_what_the_researcher_wrote(self):
        gold = {"query": "topic-1", "text": "Leonardo did.", "accepted": [2, 1], "reason": "It was not him."}
        stage = self.stage({"foreign_checks": 0, "reference_checks": 0, "gold": [gold]})
        kind_of(stage).checks(stage)
        row = AttentionCheck.objects.get()
        assert (row.query.key, row.text, row.accepted, row.reason) == (
            "topic-1",
            "Leonardo did.",
            [1, 2],
            "It was not him.",
        )

    def test_gold_about_a_query_that_is_not_there_is_named_before_the_stage_opens(self):
        stage = self.stage({"gold": [{"query": "nowhere", "text": "It is.", "accepted": [1]}]})
        with pytest.raises(CrowdError, match="Gold is about the query 'nowhere'"):
            kind_of(stage).checks(stage)

    def test_a_check_looks_like_any_other_answer(self):
        stage = self.stage({"foreign_checks": 0, "reference_checks": 1})
        (unit,) = kind_of(stage).checks(stage)
        check = AttentionCheck.objects.get()
        candidate = make_candidate(check.query, "other", check.text)
        shown = words(visitor(stage, unit).open())
        assert shown == words(visitor(stage, candidate, worker="A2").open())
        both = visitor(stage, unit, candidate, worker="A3").open().content.decode()
        assert "check:" not in both
        assert "candidate" not in both

    def test_a_reference_is_not_shown_beside_itself_where_there_is_another(self):
        project = make_project()
        pair = ("It is made of methane.", "It is made up of methane.")
        make_candidate(make_query(project, references=pair))
        stage = make_stage(project, config={"foreign_checks": 0, "reference_checks": 1}, checks_per_hit=1)
        (unit,) = kind_of(stage).checks(stage)
        page = words(visitor(stage, unit).open())
        assert [page.count(text) for text in pair] == [1, 1]

    def test_an_answer_to_a_check_is_no_judgment_and_counts_as_failed_or_not(self, subtests):
        stage = self.stage({"foreign_checks": 1, "reference_checks": 0})
        (unit,) = kind_of(stage).checks(stage)
        check = AttentionCheck.objects.get()
        assert unit == of_check(check.pk)
        wording = kind_of(stage).wording(stage, [unit])[unit]  # for researchers
        assert wording.startswith("Check, an answer to another query.")
        candidate = stage.project.systems.get().candidates.exclude(query=check.query).first()
        for score, failed in ((1, 0), (2, 0), (3, 1), (5, 1)):
            with apart(subtests, score=score):
                rosa = visitor(stage, unit, candidate)
                send_all(rosa, {unit: {"score": str(score)}, of_candidate(candidate.pk): {"score": "4"}})
                answer = CheckAnswer.objects.get()
                assert (answer.check_item, answer.score, answer.passed) == (check, score, not failed)
                assert Judgment.objects.get().candidate == candidate
                assert Assignment.objects.get().failed_checks == failed
        assert send(visitor(stage, unit), unit, score="1").status_code == 200
