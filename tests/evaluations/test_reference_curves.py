"""`manage.py evaluate` with a curve of references and the answers where a metric and people differ most."""

import csv
import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command


def table(path):
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    """The folder of an evaluation with a curve of references and the largest differences."""
    folder = tmp_path_factory.mktemp("evaluated")
    call_command(
        "evaluate",
        "examples/papers/000.csv",
        metrics=("pa-bleu-4", "exact"),
        reference_curve=3,
        differences=("pa-bleu-4",),
        replicates=20,
        draws=49,
        processes=1,
        report=folder,
        stdout=io.StringIO(),
    )
    return folder


def test_a_curve_of_references_is_in_json_page_and_csv(evaluated):
    curve = json.loads((evaluated / "report.json").read_text())["reference_curve"]
    assert (curve["most"], curve["answers"], curve["questions"], curve["times"]) == (8, 36, 12, 3)
    points = curve["metrics"]["pa-bleu-4"]["points"]
    assert [(point["references"], point["pearson"]["n"]) for point in points] == [
        *((k, 3) for k in (1, 2, 3, 4, 5, 6)),
        (8, 1),
    ]
    low, high = points[0]["pearson"]["middle"]
    assert low <= points[0]["pearson"]["value"] <= high
    assert points[-1]["pearson"]["value"] > points[0]["pearson"]["value"]
    rows = table(evaluated / "reference-curve.csv")
    assert float(rows[0]["pearson"]) == points[0]["pearson"]["value"]
    assert [row["references"] for row in rows[:7]] == ["1", "2", "3", "4", "5", "6", "8"]
    assert "References for the next data set" in (evaluated / "report.html").read_text()


def test_all_references_give_the_figure_of_the_whole_table(evaluated):
    report = json.loads((evaluated / "report.json").read_text())
    whole = report["metrics"]["pa-bleu-4"]["pearson"]["global"]["value"]
    last = report["reference_curve"]["metrics"]["pa-bleu-4"]["points"][-1]
    assert last["pearson"]["value"] == pytest.approx(whole, abs=1e-12)


def test_the_largest_differences_are_in_json_page_and_csv(evaluated):
    listed = json.loads((evaluated / "report.json").read_text())["differences"]["metrics"]["pa-bleu-4"]
    sizes = [abs(each["difference"]) for each in listed["answers"]]
    assert len(sizes) == 36
    assert sizes == sorted(sizes, reverse=True)
    assert listed["types"] == {"(no type)": 36}
    first = listed["answers"][0]
    row = table(Path("examples/papers/000.csv"))[first["row"] - 1]
    assert (first["answer"], first["references"][0]) == (row["answer"], row["reference1"])
    rows = table(evaluated / "differences.csv")
    assert rows[0]["answer"] == first["answer"]
    assert "Where metric and people differ most" in (evaluated / "report.html").read_text()


def test_answers_with_one_reference_have_no_curve_and_say_why(tmp_path):
    (tmp_path / "one.csv").write_text(
        "question,answer,reference1,scores\na,x y,x,5\nb,y,x,1\nc,x,x,4\n", encoding="utf-8"
    )
    call_command(
        "evaluate",
        str(tmp_path / "one.csv"),
        metrics=("f1",),
        reference_curve=3,
        replicates=20,
        draws=49,
        processes=1,
        report=tmp_path / "out",
        stdout=io.StringIO(),
    )
    report = json.loads((tmp_path / "out/report.json").read_text())
    assert "single reference" in report["reference_curve"]["reason"]


def test_differences_of_a_metric_that_is_not_evaluated_are_refused(tmp_path):
    with pytest.raises(CommandError, match="--differences chrf: that metric is not evaluated"):
        call_command(
            "evaluate", "examples/scores.csv", metrics=("f1",), differences=("chrf",), report=tmp_path / "out"
        )
    assert not (tmp_path / "out").exists()
