"""Adaptive redundancy: more judges only where the scores so far leave it open."""

import pytest

from judgments.units import of_candidate
from tests.judgments.judging_world import judge, make_candidate, make_project, make_query, make_stage, pending

pytestmark = pytest.mark.django_db


def judged(config, *, clear=(5, 5, 5, 4), split=(1, 5, 5, 1)):
    """What is left to ask of an answer with clear scores and of one that judges disagree about."""
    project = make_project()
    stage = make_stage(project, redundancy=1, config={"least_judgments": 4, "most_judgments": 6, **config})
    names = {}
    for name, scores in (("clear", clear), ("split", split), ("new", ())):
        candidate = make_candidate(make_query(project, f"question about {name}"))
        names[of_candidate(candidate.pk)] = name
        for number, score in enumerate(scores):
            judge(stage, candidate, score, worker=f"A{number}")
    return {names[unit]: missing for unit, missing in pending(stage).items()}


def test_a_fixed_redundancy_asks_for_what_is_left_of_it():
    assert judged({}) == {"new": 1}


def test_precision_asks_on_where_the_mean_is_not_known_well():
    assert judged({"redundancy_mode": "precision", "half_width": 2.0}) == {"split": 1, "new": 4}


def test_decision_asks_on_where_the_side_of_the_threshold_is_open():
    assert judged({"redundancy_mode": "decision", "threshold": 3.0}) == {"split": 1, "new": 4}


def test_it_ends_with_the_most_judgments():
    split = (1, 5, 5, 1, 1, 5)
    assert judged({"redundancy_mode": "decision", "threshold": 3.0}, split=split) == {"new": 4}


def test_below_the_least_all_that_is_missing_to_it_is_asked_at_once():
    assert judged({"redundancy_mode": "precision"}, clear=(5,), split=(3, 3, 3)) == {
        "clear": 3,
        "split": 1,
        "new": 4,
    }
