"""Rows of verdicts and scores are those that one model instance per row gave, on worlds drawn by seed."""

import random
from math import isnan

import pytest
from django.contrib.auth.models import User

from core import bulk_rows
from judgments.models import FilterRun, Score, Verdict
from judgments.services import filter_decisions, filter_runs
from judgments.services.filter_decisions import decide, recipe_named
from tests.cases import apart
from tests.judgments.desk_world import check, judge, make_place

pytestmark = pytest.mark.django_db

RECIPES = {
    "kpqa-2021": {},
    "default": {"checks_least": 2, "kappa_least": 3, "kappa_below": 0.4},
    "z alone": {"rules": ["z"], "z_limit": 1, "z_least": 2, "z_keep": 0},
    "checks and z": {"rules": ["technical", "checks", "kappa", "z"], "kappa_least": 2, "z_least": 3},
}


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(bulk_rows, "BATCH", 7)
    monkeypatch.setattr(filter_decisions, "BATCH", 5)


def drawn(seed):
    """Six answers, eight judges of whom some repeat themselves and some fail checks."""
    chance = random.Random(seed)
    place = make_place()
    rows = [
        (f"q{item}", f"W{worker}", chance.randint(1, 5))
        for item in range(6) for worker in range(8) if chance.random() < 0.8
    ]  # fmt: skip
    rows += [(item, worker, chance.randint(1, 5)) for item, worker, _ in chance.sample(rows, 3)]
    chance.shuffle(rows)
    judge(place, rows)
    for worker in range(4):
        check(place, f"W{worker}", [chance.random() < 0.4 for _ in range(4)])
    return place


def number(value):
    return None if isnan(float(value)) else float(value)


def old_verdicts(decided):
    """The rule as it was written for one instance per row."""
    run, columns = decided.run, decided.columns
    for place, verdict in enumerate(run.verdicts):
        mine = run.removed_by == place
        for code in (mine | (verdict.undetermined & ~run.removed_workers)).nonzero()[0].tolist():
            yield (
                int(columns.workers[code]), None, verdict.rule, bool(mine[code]), number(verdict.value[code]),
                None, verdict.reason(code)[:300],
            )  # fmt: skip
    because = run.removed_because(columns.ratings)
    for row in (~run.kept).nonzero()[0].tolist():
        code, place = int(columns.ratings.workers[row]), int(because[row])
        value, rank = None, None
        if 0 < place <= len(run.verdicts):
            about = run.verdicts[place - 1]
            value, reason = number(about.value[code]), about.reason(code)[:300]
        elif place == 0:
            reason = "repeats an earlier judgment of the same worker on the same answer"
        else:
            value, rank = number(run.z[row]), int(run.rank[row])
            reason = (
                f"lies {abs(run.z[row]):.2f} standard deviations from the mean of its answer; "
                f"the limit is {run.recipe.z_limit:g}"
            )
        yield (
            int(columns.workers[code]), int(columns.judgments[row]), run.reasons[place], True, value, rank,
            reason,
        )  # fmt: skip


def old_scores(decided):
    found = filter_decisions.scores_of(decided)
    items = found.items
    for code, key in enumerate(decided.columns.candidates.tolist()):
        yield (
            key, int(items.n_raw[code]), int(items.n_kept[code]), number(items.mean[code]),
            number(items.sd[code]), number(items.median[code]), number(items.trimmed[code]),
            number(found.adjusted.quality[code]) if found.adjusted.settled else None,
        )  # fmt: skip


@pytest.mark.long
def test_rows_are_those_of_one_instance_per_row(subtests):
    for seed in range(3):
        with apart(subtests, seed=seed):
            place = drawn(seed)
            me = User.objects.create_user("ada")
            removed = set()
            for name, parameters in RECIPES.items():
                recipe = name if not parameters.get("rules") else "default"
                run = filter_runs.apply(stage=place.stage, recipe=recipe, parameters=parameters, actor=me)
                decided = decide(place.stage, recipe_named(recipe, parameters))
                rows = Verdict.objects.filter(run=run).order_by("pk")
                assert list(
                    rows.values_list("worker_id", "judgment_id", "rule", "removes", "value", "rank", "reason")
                ) == list(old_verdicts(decided))
                scores = Score.objects.filter(run=run).order_by("pk")
                assert list(
                    scores.values_list(
                        "candidate_id", "n_raw", "n_kept", "mean", "sd", "median", "trimmed", "adjusted"
                    )
                ) == list(old_scores(decided))
                removed |= set(rows.filter(judgment__isnull=False).values_list("rule", flat=True))
            assert {"duplicate", "z"} < removed
            assert FilterRun.objects.filter(stage=place.stage, state="in force").count() == 1
