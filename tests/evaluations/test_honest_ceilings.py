"""No ceiling is made by a filter: noise has none, whichever recipe went over it and however it comes here."""

import csv
import io
import json

import pytest
from django.core.management import call_command

from evaluations.answer_table import gather
from evaluations.errors import EvaluationError
from evaluations.table_sources import opened
from metrics.agreement.data import Ratings
from metrics.agreement.planning import CROWDS, simulated
from metrics.agreement.recipes import named
from metrics.metaeval.ceiling import ceiling
from tests.evaluations.release_folders import as_release, rows_of

SEEDS = range(2)


def noise(seed: int) -> Ratings:
    """Two hundred items with ten ratings each by sixty workers who do not look."""
    return simulated(CROWDS["noise"], items=200, per_item=10, workers=60, seed=seed).ratings


def ceilings(given, **options):
    """Every figure of the ceiling by its name, and the sentences about what was taken."""
    with opened(str(given), scored=True, **options) as table:
        gathered = gather(table)
        found = ceiling(gathered.join_scores({}, signatures={}), seed=0, splits=20)
    figures = {
        f"{way} {name}": figure
        for way, of_way in found.items()
        for name, figure in of_way.items()
        if isinstance(figure, dict)
    }
    return figures, gathered.notes


def kept_by_the_command(ratings: Ratings, recipe: str, folder) -> list[dict[str, str]]:
    """What `manage.py filter --kept` writes."""
    raw, kept = folder / "ratings.csv", folder / "kept.csv"
    lines = [f"{item},{worker},{score}" for item, worker, score in rows_of(ratings)]
    raw.write_text("item,worker,score\n" + "\n".join(lines) + "\n")
    call_command("filter", str(raw), recipe=recipe, kept=kept, replicates=0, stdout=io.StringIO())
    return list(csv.DictReader(kept.read_text().splitlines()))


def as_table(kept, folder, *, marked=True):
    """The kept ratings as a table of answers, as somebody would make it for `evaluate`."""
    answers: dict[str, dict] = {}
    for row in kept:
        answer = answers.setdefault(
            row["item"], {"question": row["item"], "answer": "a", "reference1": "b", "ratings": []}
        )
        answer["ratings"].append({"worker": row["worker"], "score": float(row["score"])})
        if marked:
            answer["response_filter"] = row["response_filter"]
    path = folder / f"answers-{marked}.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in answers.values()))
    return path


@pytest.mark.parametrize("seed", SEEDS)
def test_noise_has_no_ceiling_by_a_table_that_the_filter_wrote(tmp_path, seed):
    path = as_table(kept_by_the_command(noise(seed), "kpqa-2021", tmp_path), tmp_path)
    found, _ = ceilings(path)
    assert all(figure["value"] is None for figure in found.values())
    assert "response filter (z (kpqa-2021 v1))" in found["split_half highest"]["reason"]


@pytest.mark.parametrize("seed", SEEDS)
def test_noise_has_no_ceiling_by_a_release(tmp_path, seed):
    found, _ = ceilings(as_release(noise(seed), named("kpqa-2021"), tmp_path / "release"))
    assert all(figure["value"] is None or figure["value"] < 0.1 for figure in found.values())
    assert found["split_half highest"]["reason"] == "the halves do not agree above chance"


def test_a_release_without_all_ratings_has_no_ceiling_behind_a_response_filter(tmp_path):
    found, _ = ceilings(as_release(noise(1), named("kpqa-2021"), tmp_path / "release", all_ratings=False))
    assert all(figure["value"] is None for figure in found.values())
    assert "needs the table `ratings`" in found["split_half highest"]["reason"]


def test_a_release_without_ratings_and_report_says_what_was_assumed(tmp_path):
    clean = simulated(CROWDS["clean"], items=60, workers=20, seed=1).ratings
    found, notes = ceilings(
        as_release(clean, named("none"), tmp_path / "release", all_ratings=False, told=False)
    )
    assert found["split_half pearson"]["value"] > 0.8
    assert any("takes the kept ratings as if" in note for note in notes)


def test_the_ceiling_of_a_clean_crowd_is_that_of_its_ratings_whatever_z_removed(tmp_path):
    clean = simulated(CROWDS["clean"], items=150, workers=40, seed=1).ratings
    plain, _ = ceilings(as_release(clean, named("none"), tmp_path / "none"))
    behind_z, _ = ceilings(as_release(clean, named("kpqa-2021"), tmp_path / "z"))
    by_table, notes = ceilings(as_table(kept_by_the_command(clean, "none", tmp_path), tmp_path))
    assert behind_z == plain
    assert plain["split_half pearson"]["value"] == pytest.approx(0.94, abs=0.02)
    for name, figure in by_table.items():
        assert figure["value"] == pytest.approx(plain[name]["value"], abs=0.02)
    assert not any("The table does not say" in note for note in notes)


def test_workers_whom_a_filter_removed_are_not_in_the_ceiling(tmp_path):
    study = simulated(CROWDS["heavy"], items=150, workers=40, seed=1).ratings
    raw, _ = ceilings(as_release(study, named("none"), tmp_path / "none"))
    cleaned, _ = ceilings(as_release(study, named("default"), tmp_path / "default"))
    assert cleaned["split_half pearson"]["value"] > raw["split_half pearson"]["value"] + 0.1


def test_a_table_of_unknown_origin_says_what_was_assumed_and_can_be_told(tmp_path):
    clean = simulated(CROWDS["clean"], items=60, workers=20, seed=1).ratings
    path = as_table(kept_by_the_command(clean, "kpqa-2021", tmp_path), tmp_path, marked=False)
    found, notes = ceilings(path)
    assert found["split_half pearson"]["value"] is not None
    assert any("The table does not say whether single ratings were removed" in note for note in notes)
    found, notes = ceilings(path, response_filter="z by hand")
    assert "(z by hand)" in found["leave_one_out pearson"]["reason"]
    found, notes = ceilings(path, response_filter="none")
    assert found["split_half pearson"]["value"] is not None
    assert not any("The table does not say" in note for note in notes)


def test_the_option_does_not_contradict_the_column(tmp_path):
    clean = simulated(CROWDS["clean"], items=30, workers=12, seed=1).ratings
    path = as_table(kept_by_the_command(clean, "kpqa-2021", tmp_path), tmp_path)
    with pytest.raises(EvaluationError, match="says which filter it was"):
        ceilings(path, response_filter="none")
