"""The quality study runs, and draws what it measured."""

from xml.etree import ElementTree

from benchmarks import quality_study
from benchmarks.quality_figures import covered, measured, stopped
from quality.crowds import CROWDS

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
