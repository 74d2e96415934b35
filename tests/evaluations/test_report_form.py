"""The report's types: what is worked out fits them to the byte, and older reports are read."""

import json
import lzma
import math
import sqlite3
from dataclasses import replace

import pytest
from pydantic import ValidationError

from evaluations.errors import EvaluationError
from evaluations.report import model
from evaluations.report.model import Report, build_report, read_report
from evaluations.report.protocols import NOT_CALCULATED, ReportPart
from metrics.metaeval.papers import PROTOCOLS
from metrics.metaeval.plan import PAIRED_BOOTSTRAP, Plan, ReportHeader
from metrics.metaeval.report import evaluate
from tests.evaluations.reports import make_report
from tests.metrics.metaeval.studies import known, study
from tests.metrics.metaeval.test_evaluation import DEGENERATE
from tests.upgrades.conftest import DUMPS

PLAN = Plan(replicates=20, draws=19, protocols=tuple(PROTOCOLS))
ABOUT = ReportHeader(
    titles={"seen-0": "Seen"},
    corpus={"seen-0": {"system-0": 0.4}},
    undefined={"seen-0": {"there is no reference": 2}},
    models=[{"kind": "bertscore", "name": "tiny", "digest": "d", "signature": "s", "layer": 3, "idf": True}],
    simulated={"what": "SIMULATED DATA", "rows": {"rows": {"simulated": 1, "of": 2}}},
    alpha=(0.4, None),
)
STUDIES = {
    **DEGENERATE,
    "everything": known(questions=12),
    "two types": replace(known(questions=12), types=["person", "number"] * 6),
    "a type that is called rule": study(
        [("a", "q", 3), ("b", "q", 1), ("a", "r", 2)], {"m": [1, 2, 4]}, types={"q": "rule", "r": "n"}
    ),
}


@pytest.mark.parametrize("judged", STUDIES.values(), ids=STUDIES)
def test_what_a_meta_evaluation_works_out_is_written_as_it_was(judged):
    result = evaluate(judged, PLAN, ABOUT)

    assert json.dumps(build_report(result).as_json()) == json.dumps(result)


@pytest.mark.long
def test_every_part_of_the_report_is_worked_out():
    of_the_table = {"reference_curve", "differences", "read_as"}

    assert set(evaluate(known(questions=9), PLAN)) == set(Report.model_fields) - of_the_table


@pytest.mark.long
def test_statistics_keep_the_order_in_which_they_were_asked_for():
    result = evaluate(known(questions=9), replace(PLAN, statistics=("kendall", "pearson")))

    report = build_report(result)

    assert json.dumps(report.as_json()) == json.dumps(result)
    assert report.metrics["seen-0"].spearman is None
    assert report.metrics["seen-0"].figure("spearman", "global").reason == NOT_CALCULATED


@pytest.mark.long
def test_the_bootstrap_of_pairs_fits_too():
    result = evaluate(known(questions=9), replace(PLAN, comparisons=PAIRED_BOOTSTRAP))

    assert {each.method for each in build_report(result).tests} == {"bootstrap"}


@pytest.mark.parametrize(
    "more",
    [
        {"surprise": 1},
        {"n": {"answers": 1, "guesses": 2}},
        {"gap": math.inf},
        {"title": 7},
        {"report": 2},
    ],
    ids=str,
)
def test_nothing_is_written_that_the_types_do_not_know(more):
    with pytest.raises(ValidationError):
        build_report(make_report() | more)


def test_a_report_never_changes():
    with pytest.raises(ValidationError):
        build_report(make_report()).title = "another"


def test_parts_of_a_later_program_are_left_out_when_a_report_is_read():
    stored = make_report() | {"sweep": {"steps": []}}
    stored["metrics"]["meteor"]["reach"] = 3

    report = read_report(stored)

    assert report.as_json() == build_report(make_report()).as_json()


def test_a_report_of_a_later_form_is_refused_in_a_sentence():
    with pytest.raises(EvaluationError, match="The report has version 2"):
        read_report({"report": 2, "metrics": []})


def test_an_older_form_goes_through_each_step_on_its_way(monkeypatch):
    monkeypatch.setattr(
        model,
        "UPGRADES",
        {
            -1: lambda given: {**given, "report": 0, "heading": given["name"]},
            0: lambda given: {"report": 1, "title": given["heading"]},
        },
    )

    assert read_report({"report": -1, "name": "Capitals"}).title == "Capitals"


@pytest.mark.parametrize("version", ["0.1.0", "0.2.0"])
def test_reports_in_databases_of_earlier_releases_are_read_whole(version):
    (stored,) = stored_reports(version)

    report = read_report(stored)

    assert report.as_json() == stored
    assert report.distillery == version
    assert report.metrics["chrf"].figure("pearson", "global").n == 31


def stored_reports(version: str) -> list[dict]:
    statements = lzma.decompress((DUMPS / f"{version}.sqlite.sql.xz").read_bytes()).decode()
    with sqlite3.connect(":memory:") as database:
        database.executescript(statements)
        rows = database.execute("SELECT report FROM evaluations_evaluation WHERE state = 'ready'").fetchall()
    database.close()
    return [json.loads(report) for (report,) in rows]


def test_every_class_of_the_report_forbids_what_it_does_not_know():
    for each in ReportPart.__subclasses__():
        assert each.model_config["extra"] == "forbid"
        assert each.model_config["frozen"] is True
