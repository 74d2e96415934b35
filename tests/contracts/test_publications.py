"""The golden release and what is evaluated on it are byte for byte what they were, on both databases."""

import json

import pytest

from evaluations.report.model import Report
from tests.contracts import publications
from tests.contracts.snapshots import check_document, check_snapshot
from tests.releases.world import make_world


@pytest.fixture
def release(db, tmp_path, settings):
    """The folder of the golden release; its texts hold formulas, line breaks and right-to-left marks."""
    settings.RELEASES_STORAGE = str(tmp_path / "shelf")
    make_world(hostile=True)
    publications.build_release(tmp_path / "release")
    return tmp_path / "release"


def test_the_golden_release_and_its_evaluation_are_what_they_were(release, tmp_path):
    check_snapshot("release", publications.render_release(release))
    publications.evaluate(release, tmp_path / "report", "--metrics", "bleu-4,rouge-l,chrf")
    check_snapshot("evaluations/release", publications.render_evaluation(tmp_path / "report"))


@pytest.mark.parametrize("name", publications.list_examples())
def test_the_evaluation_of_an_example_is_what_it_was(name, tmp_path):
    source, options = publications.list_examples()[name]
    publications.evaluate(source, tmp_path / "report", *options)
    check_snapshot(f"evaluations/{name}", publications.render_evaluation(tmp_path / "report"))


def test_the_schema_of_reports_is_the_one_in_the_docs():
    check_document("docs/report.schema.json", json.dumps(Report.model_json_schema(), indent=1) + "\n")
