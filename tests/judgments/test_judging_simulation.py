"""Simulated judges: what is true, who sees it, and who does not look."""

import pytest
from django.core.cache import cache
from django.urls import reverse

from crowd.kinds import kind_of
from crowd.models import Worker
from crowd.simulation.answers import PROFILES, SimulatedPerson, answer_unit, read_form
from judgments.judging_config import JudgingConfig
from judgments.kinds import true_score
from judgments.models import Judgment
from judgments.units import of_candidate
from tests.judgments.candidates_world import judge
from tests.judgments.judging_world import (
    CORRECT,
    make_candidate,
    make_project,
    make_query,
    make_stage,
    visitor,
)

pytestmark = pytest.mark.django_db
CONFIG = JudgingConfig()


def scores(stage, unit, profile, people=40):
    """What so many people of one profile choose."""
    who = visitor(stage, unit, worker=f"A{profile}".upper())
    form = read_form(who.open().content.decode(), "http://task.example.org/")
    form.behind = {"0": unit}
    chosen = [answer_unit(stage, form, unit, SimulatedPerson(n, PROFILES[profile], 7)) for n in range(people)]
    return [int(fields["0|score"]) for fields in chosen]


def candidate_of_truth(score):
    project = make_project()
    query = make_query(project, extra={"columns": {"truth": {"scores": {"unilm": score}}}})
    return make_stage(project), of_candidate(make_candidate(query).pk)


def test_the_truth_of_a_query_names_scores_by_system():
    query = make_query(make_project(), extra={"truth": {"scores": {"unilm": 2.5, "mhpgm": 9}}})
    assert true_score(make_candidate(query, "unilm").pk, CONFIG) == 2.5
    assert true_score(make_candidate(query, "mhpgm").pk, CONFIG) == 5


def test_without_it_the_truth_is_how_much_is_shared_with_a_reference():
    query = make_query(make_project())
    assert true_score(make_candidate(query, "same", CORRECT).pk, CONFIG) == 5
    assert true_score(make_candidate(query, "nothing", "Blue whales sing").pk, CONFIG) == 1
    assert 1 < true_score(make_candidate(query, "some", "Natural gas comes from Canada").pk, CONFIG) < 5


def test_diligent_judges_are_near_the_truth_and_differ():
    chosen = scores(*candidate_of_truth(3), "diligent")
    assert 2.6 < sum(chosen) / len(chosen) < 3.4
    assert len(set(chosen)) > 1


def test_people_differ_in_how_strict_they_are_everywhere_by_the_same():
    people = [SimulatedPerson(number, PROFILES["diligent"], 7).own_profile.bias for number in range(200)]
    assert SimulatedPerson(3, PROFILES["diligent"], 7).own_profile.bias == people[3]
    assert abs(sum(people) / 200) < 0.1
    assert 0.3 < (sum(bias**2 for bias in people) / 200) ** 0.5 < 0.5


def test_spammers_see_nothing_of_it():
    assert set(scores(*candidate_of_truth(1), "random")) == {1, 2, 3, 4, 5}
    always = [scores(*candidate_of_truth(truth), "constant", people=5) for truth in (1, 5)]
    assert always[0] == always[1]


def test_aspects_are_answered_and_the_comment_stays_empty():
    project = make_project()
    aspect = {"name": "topicality", "question": "Is it about it?", "labels": ["no", "yes"]}
    stage = make_stage(project, config={"aspects": [aspect], "comment": True})
    unit = of_candidate(make_candidate(make_query(project)).pk)
    form = read_form(visitor(stage, unit).open().content.decode(), "http://task.example.org/")
    form.behind = {"0": unit}
    filled = answer_unit(stage, form, unit, SimulatedPerson(1, PROFILES["diligent"], 7))
    assert filled["0|topicality"] in ("1", "2")
    assert "0|comment" not in filled


@pytest.mark.parametrize(("extra", "said"), [({}, True), ({"truth": {"scores": {"unilm": 2.5}}}, False)])
def test_pages_say_that_scores_of_simulated_judges_without_a_truth_mean_nothing(admin_client, extra, said):
    project = make_project()
    stage = make_stage(project)
    judgment = judge(make_candidate(make_query(project, extra=extra), "unilm"), stage=stage)
    assert kind_of(stage).simulated_caution(stage) == ""
    Worker.objects.filter(pk=judgment.worker_id).update(simulated=True)
    assert ("mean nothing" in kind_of(stage).simulated_caution(stage)) is said
    for page in ("judgments:agreement", "judgments:scores", "desk:stage"):
        shown = admin_client.get(reverse(page, args=[project.slug, stage.slug])).content.decode()
        assert ("every figure from them mean nothing" in shown) is said


def test_one_answer_without_a_truth_behind_many_with_one_is_not_missed():
    project = make_project()
    stage = make_stage(project)
    known = {"truth": {"scores": {"unilm": 2.5}}}
    answers = [make_candidate(make_query(project, extra=known), "unilm") for _ in range(102)]
    first = judge(answers[0], stage=stage)
    Worker.objects.filter(pk=first.worker_id).update(simulated=True)
    others = [
        Judgment(
            stage=stage,
            assignment=first.assignment,
            worker=first.worker,
            candidate=each,
            score=3,
            at=first.at,
        )
        for each in answers[1:]
    ]
    Judgment.objects.bulk_create(others)
    assert kind_of(stage).simulated_caution(stage) == ""
    last = make_candidate(make_query(project, extra={}), "unilm")
    others[-1].candidate = last
    others[-1].save()
    cache.clear()
    assert "mean nothing" in kind_of(stage).simulated_caution(stage)
