"""Adaptive redundancy: more judges only where the scores so far leave it open."""

import pytest

from judgments.units import of_candidate
from tests.cases import apart
from tests.judgments.candidates_world import judge
from tests.judgments.judging_world import make_candidate, make_project, make_query, make_stage, pending

pytestmark = pytest.mark.django_db


def judged(config, *, clear=(5, 5, 5, 4), split=(1, 5, 5, 1)):
    """What is left to ask of an answer with clear scores and of one that judges disagree about."""
    project = make_project()
    stage = make_stage(project, redundancy=1, config={"least_judgments": 4, "most_judgments": 6, **config})
    names = {}
    for name, scores in (("clear", clear), ("split", split), ("new", ())):
        candidate = make_candidate(make_query(project, f"question about {name}"))
        names[of_candidate(candidate.pk)] = name
        for score in scores:
            judge(candidate, score, stage)
    return {names[unit]: missing for unit, missing in pending(stage).items()}


def test_more_judges_are_asked_only_where_the_scores_leave_it_open(subtests):
    decision = {"redundancy_mode": "decision", "threshold": 3.0}
    precision = {"redundancy_mode": "precision", "half_width": 2.0}
    for case, config, scores, wanted in (
        ("what is left of a fixed redundancy", {}, {}, {"new": 1}),
        ("the mean is not known well", precision, {}, {"split": 1, "new": 4}),
        ("the side of the threshold is open", decision, {}, {"split": 1, "new": 4}),
        ("it ends with the most judgments", decision, {"split": (1, 5, 5, 1, 1, 5)}, {"new": 4}),
        (
            "below the least all that is missing to it at once",
            {"redundancy_mode": "precision"},
            {"clear": (5,), "split": (3, 3, 3)},
            {"clear": 3, "split": 1, "new": 4},
        ),
    ):
        with apart(subtests, case=case):
            assert judged(config, **scores) == wanted
