from pathlib import Path

from metrics.metaeval.papers import PROTOCOLS
from metrics.metaeval.report import Plan, evaluate
from tests.metrics.metaeval.studies import known

PAGE = (Path(__file__).parents[3] / "docs" / "meta-evaluation.md").read_text(encoding="utf-8")
REPORT = evaluate(known(questions=8), Plan(replicates=20, draws=19))


def undocumented(names) -> list[str]:
    return [name for name in names if f"`{name}`" not in PAGE]


def test_every_field_of_the_report_is_explained():
    assert undocumented(REPORT) == []


def test_every_field_of_a_metric_is_explained():
    assert undocumented(REPORT["metrics"]["seen-0"]) == []


def test_every_floor_is_explained():
    assert undocumented(REPORT["floors"]) == []


def test_every_protocol_is_explained():
    assert undocumented(PROTOCOLS) == []


def test_the_signature_on_the_page_is_that_of_a_default_plan():
    assert evaluate(known(questions=3), Plan(draws=9999, replicates=1000))["signature"] in PAGE
