"""docs/quality.md, docs/judging.md, the study that they quote, and the code say the same."""

import re
from pathlib import Path

import pytest

from metrics.agreement.filters import Checks
from metrics.agreement.planning import CROWDS, simulated
from metrics.agreement.recipes import ORDER, RECIPES
from metrics.agreement.report import report

ROOT = Path(__file__).resolve().parents[3]
GUIDE = "\n".join((ROOT / f"docs/{name}.md").read_text(encoding="utf-8") for name in ("quality", "judging"))
STUDY = (ROOT / "benchmarks/quality_study.md").read_text(encoding="utf-8")


def named(word):
    return f"`{word}`" in GUIDE


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipe_is_explained(recipe):
    assert f"| `{recipe}` |" in GUIDE


@pytest.mark.parametrize("rule", ORDER)
def test_every_rule_is_explained(rule):
    assert named(rule)


def test_every_field_of_the_report_is_explained():
    study = simulated(CROWDS["moderate"], items=30, workers=20, seed=0)
    said = report(
        study.ratings,
        RECIPES["default"],
        checks=Checks(study.presented, study.failed),
        replicates=0,
        splits=2,
    )

    assert [field for field in said if not named(field)] == []


def test_every_figure_with_a_spread_stands_in_the_study():
    quoted = re.findall(r"-?\d\.\d{3} ± \d\.\d{3}", GUIDE)

    assert len(quoted) > 10
    assert [figure for figure in quoted if figure not in STUDY] == []


def test_the_plot_of_the_guide_exists():
    assert "(../benchmarks/quality_study.svg)" in GUIDE
    assert (ROOT / "benchmarks/quality_study.svg").read_text(encoding="utf-8").startswith("<svg")


def test_every_share_of_the_study_in_the_text_stands_in_it():
    quoted = re.findall(r"\d+\.\d %", GUIDE)

    assert quoted == ["94.0 %", "36.0 %", "3.1 %", "3.0 %"]
    assert [share for share in quoted if share not in STUDY] == []
