"""Plots of an evaluation: what is drawn of its report, and how a page takes it in."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from django.test import RequestFactory

from evaluations.report.model import read_report
from evaluations.report.plots import figures_of
from tests.evaluations.reports import NAMES, figure, make_points, make_report
from web import chart_files
from web.charts import Look, Plot, colour_rules, inline, specification, svg
from web.evaluation_charts import correlations

REPORT = make_report(
    protocols={
        "resample_overall": {
            "times": 100, "questions": 30,
            "metrics": {
                key: {"rule": "mean", "overall": figure(0.8), "numeric": figure(None)} for key in NAMES
            },
        },
        "adem-table14": {
            "times": 100,
            "questions": {
                "meteor": [
                    {"questions": 30, "pearson": {"value": 0.40, "middle": [0.2, 0.6], "n": 100}},
                    {"questions": 300, "pearson": {"value": 0.42, "middle": None, "n": 1}},
                ]
            },
            "ratings": {"value": None, "reason": "there are no single ratings"},
        },
    },
)  # fmt: skip
SHEET = Path(__file__).resolve().parents[2] / "static" / "report.css"


@pytest.fixture(scope="module")
def plots():
    """Every plot of the report by its key: drawn up when a test looks, for it takes a second."""
    return {plot.key: plot for plot in figures_of(read_report(REPORT), make_points(REPORT, 120))}


def marks(plot, role):
    root = ElementTree.fromstring(svg(plot))
    return [each.get("aria-label", "") for each in root.iter() if each.get("aria-roledescription") == role]


def test_a_report_has_these_plots_in_this_order(plots):
    assert list(plots) == [
        "correlation-1", "correlation-2", "significance-1", "significance-2",
        *(f"scatter-{at}" for at in range(1, 6)), "types", *(f"systems-{at}" for at in range(1, 6)),
        "length-bias", "learning-questions-1", "resample-overall",
    ]  # fmt: skip


@pytest.mark.long
def test_every_plot_is_drawn_in_every_look(plots, subtests):
    for look in list(Look):
        for key in plots:
            with subtests.test(look=look, key=key):
                assert ElementTree.fromstring(svg(plots[key], look)).tag == "{http://www.w3.org/2000/svg}svg"


def test_every_plot_says_what_it_shows_and_how_it_was_made(plots, subtests):
    for key in plots:
        with subtests.test(key=key):
            plot = plots[key]
            assert re.fullmatch(r"[^\n]{30,}\.", plot.says)
            assert plot.signature.endswith("|distillery=0.7.0")
            assert plot.twin
            json.dumps(specification(plot), allow_nan=False)


def test_every_plot_has_a_file_of_its_data(plots, subtests):
    for key in plots:
        with subtests.test(key=key):
            answer = chart_files.answer(RequestFactory().get("/plot"), plots[key], key, "csv")
            first, *rows = answer.content.decode().splitlines()
            assert first == f"# {plots[key].signature}"
            assert len(list(csv.reader(io.StringIO("\n".join(rows))))) == len(plots[key].rows) + 1


def test_every_metric_has_a_dot_and_every_pair_a_number(plots):
    dots = marks(plots["correlation-1"], "point")
    assert len(dots) == 10
    assert sum("METEOR" in dot for dot in dots) == 2
    drawing = svg(plots["correlation-1"])
    assert (drawing.count(">ceiling<"), drawing.count(">floor (length-difference)<")) == (1, 1)
    said = plots["correlation-1"].says.replace("\u00a0", " ")
    assert said.endswith("; ceiling .710, n = 900; floor (length-difference) .180, n = 900.")
    drawing = ElementTree.fromstring(svg(plots["significance-1"]))
    said = [each.text or "" for each in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert sum(bool(re.fullmatch(r"<?1?\.\d{3}", each)) for each in said) == 20


def test_jitter_moves_dots_and_no_figure(plots):
    plot = plots["scatter-1"]
    answers = [row for row in plot.rows if row["what"] == "answer"]
    given = set(make_points(REPORT, 120).pairs("meteor"))
    assert {(row["metric"], row["human"]) for row in answers} == given
    assert any(row["human"] != row["y"] for row in answers)
    assert all(abs(row["human"] - row["y"]) <= 0.1 for row in answers)


def test_the_table_of_a_scatter_plot_is_about_fifths_and_dots_are_written_short(plots):
    table = plots["scatter-1"].twin
    assert [row["answers"] for row in table] == [24] * 5
    assert [row["human"] for row in table] == sorted(row["human"] for row in table)
    plot = plots["scatter-1"]
    drawing = inline(plot)
    assert drawing.count("<circle") == 120
    assert len(drawing) < len(svg(plot)) / 2


@pytest.mark.long
def test_a_metric_that_is_always_the_same_has_one_group():
    report = make_report({"exact": 0.1})
    points = make_points(report, 30)
    points = type(points)(points.human, {"exact": [0.0] * 30}, of=30)
    (plot,) = [each for each in figures_of(read_report(report), points) if each.key == "scatter-1"]
    assert [row["answers"] for row in plot.twin] == [30]
    assert ElementTree.fromstring(svg(plot)).tag


def test_figures_that_are_missing_leave_no_empty_plot():
    assert figures_of(read_report(make_report(dict.fromkeys(NAMES)))) == []
    assert figures_of(read_report({})) == []


def test_a_page_takes_in_a_drawing_without_names_of_its_own_and_colours_all_of_it(plots, subtests):
    ours = set(re.findall(r'\[(?:fill|stroke)="(#\w+)"\]', colour_rules("svg")))
    for key in plots:
        with subtests.test(key=key):
            drawing = inline(plots[key])
            assert drawing.startswith("<svg ")
            assert 'aria-hidden="true"' in drawing
            assert not re.search(r"xmlns|http|role=|aria-label|style=|class=|font-family", drawing)
            assert set(re.findall(r'"(#\w+)"', drawing)) <= ours
    assert colour_rules(".plotted svg") in SHEET.read_text(encoding="utf-8")


def names_beside(names: list[str]) -> Plot:
    rows = [{"metric": name, "grouping": "one", "value": 0.4, "low": 0.3, "high": 0.5} for name in names]
    return correlations(rows, title="r", marks={}, groupings=["one"], says="", signature="")


#: Pixels of names in DejaVu Sans at 12 pixels, which many browsers put in Arial's place.
def test_a_name_that_is_cut_shows_all_of_itself_under_the_pointer():
    name = "a system <b>whose name</b> no margin could ever hold"
    drawn = svg(names_beside([name, "short"]))
    (cut,) = [each for each in ElementTree.fromstring(drawn).iter() if "…" in (each.text or "")]
    assert name.startswith(cut.text.removesuffix("…"))
    assert [each.text for each in cut] == [name]
    assert "<title>" in inline(names_beside([name, "short"]))
