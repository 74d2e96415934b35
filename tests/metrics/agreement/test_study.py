"""The quality study runs, and draws what it measured."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks import quality_quotes, quality_study
from benchmarks.quality_figures import covered, measured, stopped
from metrics.agreement.planning import CROWDS

ROOT = Path(__file__).resolve().parents[3]
SVG = "{http://www.w3.org/2000/svg}"


def test_the_study_writes_its_tables_and_its_plot():
    one = quality_study.collected(["moderate"], range(1), lambda name, seed: measured(name, seed, items=40))
    early = quality_study.collected(["moderate"], range(1), lambda name, seed: stopped(name, seed, items=40))
    filters = dict.fromkeys(CROWDS, one["moderate"])
    stops = dict.fromkeys(("clean", "moderate"), early["moderate"])
    page = list(quality_study.page(filters, stops, covered(2, items=20, workers=15), "here."))
    picture = ElementTree.fromstring(quality_study.picture(filters))
    texts = [text.text for text in picture.iter(f"{SVG}text")]

    assert sum(line.startswith("## ") for line in page) == 10
    assert "nan" not in "\n".join(page)
    assert {"pure noise", "heavy, 35 % spam", "moderate, contested"} <= set(texts)
    assert len(list(picture.iter(f"{SVG}title"))) > 30


@pytest.mark.long
def test_the_study_refreshes_the_tables_of_the_guide_and_nothing_else():
    one = measured("moderate", 0, items=40)
    filters = {name: {what: quality_study.Spread(value, 0) for what, value in one.items()} for name in CROWDS}
    before = (ROOT / "docs/quality.md").read_text(encoding="utf-8").splitlines()
    after = quality_quotes.refreshed("\n".join(before), filters).splitlines()
    changed = [new for old, new in zip(before, after, strict=True) if old != new]

    assert len(changed) == 10
    assert all(line.startswith("| ") for line in changed)
