"""Plots: what is drawn, what the specification says, and what does not get into either."""

import csv
import io
import json
import xml.etree.ElementTree as ElementTree

import pytest
import vl_convert
from django.http import Http404
from django.test import RequestFactory

from web import chart_files, charts
from web.charts import Look, specification, svg

ROWS = [
    {"system": "human", "step": charts.BEFORE, "mean": 4.2, "low": 4.0, "high": 4.4, "answers": 30},
    {"system": "human", "step": charts.AFTER, "mean": 4.4, "low": 4.3, "high": 4.5, "answers": 30},
    {"system": "<b>bert</b>", "step": charts.BEFORE, "mean": 2.1, "low": None, "high": None, "answers": 1},
]
SYSTEMS = charts.scores_by_system(ROWS, low=1, high=5, says="Two systems.", signature="mean|level=0.95")
EVERY = [
    SYSTEMS,
    charts.scores_given([{"score": 1, "step": charts.BEFORE, "judgments": 3}], says="One score."),
    charts.spread([{"deviation": "0", "answers": 2}], says="All agree."),
    charts.sizes([{"judgments": 10, "answers": 2}], says="Ten each."),
    charts.time_and_score([{"time": "≤ 5 s", "score": 3, "judgments": 1}], says="Fast."),
    charts.judge_and_crowd([{"score": 1, "who": "this judge", "percent": 100.0}], says="Always one."),
    charts.submissions([{"hour": "2026-11-20T09:00:00Z", "submissions": 4}], says="Four."),
]


def texts(drawing: str) -> list[str]:
    root = ElementTree.fromstring(drawing)
    return [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.long
@pytest.mark.parametrize("plot", EVERY, ids=lambda plot: plot.title)
@pytest.mark.parametrize("look", list(Look))
def test_every_chart_is_drawn_in_every_look(plot, look):
    assert ElementTree.fromstring(svg(plot, look)).tag == "{http://www.w3.org/2000/svg}svg"


@pytest.mark.parametrize("plot", EVERY, ids=lambda plot: plot.title)
def test_the_specification_with_its_data_draws_the_same_elsewhere(plot):
    said = json.loads(json.dumps(specification(plot)))
    assert said["data"]["values"] == [dict(row) for row in plot.rows]
    assert vl_convert.vegalite_to_svg(said, vl_version="6.4") == svg(plot, Look.PAPER)


SHORT = ["0", "to 0.25", "to 0.5", "to 0.75", "to 1", "to 1.25", "to 1.5", "above 1.5"]
LONG = ["0", "to 0.625", "to 1.25", "to 1.875", "to 2.5", "to 3.125", "to 3.75", "above 3.75"]


@pytest.mark.parametrize(("ends", "angle"), [(SHORT, 0), (LONG, -45)])
def test_labels_that_would_touch_are_turned_and_never_drawn_over_each_other(ends, angle):
    plot = charts.spread([{"deviation": end, "answers": 1} for end in ends], says="Eight classes.")
    axis = specification(plot)["encoding"]["x"]["axis"]
    assert (axis["labelAngle"], axis["labelOverlap"]) == (angle, "greedy")


def test_a_mark_stands_for_every_row():
    root = ElementTree.fromstring(svg(SYSTEMS))
    groups = [each.get("class", "") for each in root.iter("{http://www.w3.org/2000/svg}g")]
    assert sum("mark-symbol role-mark" in name for name in groups) == 1
    marks = [
        each.get("aria-label", "") for each in root.iter() if each.get("aria-roledescription") == "point"
    ]
    assert len(marks) == 3
    assert any("4.4" in label for label in marks)


def test_names_of_systems_are_text_and_a_file_has_a_title_where_a_page_has_a_heading():
    drawing = svg(SYSTEMS)
    assert "<b>" not in drawing
    assert "<b>bert</b>" in texts(drawing)
    assert "Score by system" in texts(svg(SYSTEMS, Look.PAPER))
    assert "Score by system" not in texts(svg(SYSTEMS, Look.LIGHT))


def ask(form, plot=SYSTEMS, **given):
    return chart_files.answer(
        RequestFactory().get("/plot", given.pop("asked", {}), **given), plot, "systems", form
    )


def test_a_narrow_page_gets_a_narrow_drawing():
    def width(asked):
        return float(ElementTree.fromstring(ask("svg", asked=asked).content).get("width"))

    assert width({"look": "light", "narrow": "1"}) < 340 < width({"look": "light"})


def test_the_data_come_as_csv_that_runs_no_formula():
    plot = charts.sizes([{"judgments": "=1+1", "answers": 2}], says="", signature="sizes|v=1")
    first, *rows = ask("csv", plot).content.decode().splitlines()
    assert first == "# sizes|v=1"
    assert list(csv.reader(io.StringIO("\n".join(rows)))) == [["judgments", "answers"], ["'=1+1", "2"]]


def test_who_has_the_plot_already_is_told_so():
    first = ask("svg", asked={"look": "dark"})
    again = ask("svg", asked={"look": "dark"}, HTTP_IF_NONE_MATCH=first["ETag"])
    assert (again.status_code, again.content) == (304, b"")
    assert ask("svg", asked={"look": "light"})["ETag"] != first["ETag"]


@pytest.mark.parametrize(("plot", "form"), [(None, "svg"), (SYSTEMS, "png"), (SYSTEMS, "exe")])
def test_what_there_is_not_is_not_found(plot, form):
    with pytest.raises(Http404):
        ask(form, plot)
