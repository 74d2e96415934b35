"""A whole campaign as a release in all formats: what describes it agrees with what is in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from django.db import transaction

from annotation.importing.detect import open_reader
from core.files.text_source import TextSource
from releases import build
from releases.formats import FORMATS
from releases.options import Options
from releases.tables import RATINGS, REFERENCES
from tests.releases.test_building import rows
from tests.releases.test_datacards import reads_croissant
from tests.releases.world import make_world

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def release(tmp_path_factory, django_db_setup, django_db_blocker) -> Iterator[Path]:
    """All formats of a campaign with simulated workers and hostile texts; only its files are left."""
    folder = tmp_path_factory.mktemp("campaign") / "release"
    with django_db_blocker.unblock(), transaction.atomic():
        options = Options(formats=tuple(FORMATS), seed=1, shares=(0.6, 0.2, 0.2))
        world = make_world(hostile=True, simulated=True)
        stage = world.stages["judging"]
        stage.config = {**stage.config, "aspects": [{"name": "topicality", "question": "Is it about it?"}]}
        stage.save()
        planned = build.plan_release(project=world.project, options=options)
        build.finish(planned, build.build(planned, folder=folder))
        transaction.set_rollback(True)
    yield folder


def test_the_card_tells_the_campaigns_stages_pay_and_filters(release):
    text = (release / "README.md").read_text(encoding="utf-8")
    assert "> **SIMULATED DATA.** Programs and not people did the work of all workers" in text
    for kind in ("Screening", "Curation", "Distillation", "Judging"):
        assert f"**{kind}.**" in text
    assert "0.10 USD" in text
    assert "Krippendorff's alpha, interval" in text
    [aspect] = [line for line in text.splitlines() if "topicality (further aspect)" in line]
    assert "not defined" in aspect
    assert "In judging the recipe adem-2017 removed" in text
    assert "[CC-BY-4.0](https://creativecommons.org/licenses/by/4.0/)" in text
    found = yaml.safe_load((release / "CITATION.cff").read_text(encoding="utf-8"))
    assert (found["title"], found["version"], found["license"]) == ("Capitals", "1.0.0", "CC-BY-4.0")


def test_what_simulated_workers_wrote_and_judged_is_marked_row_by_row(release):
    answers = [answer for row in rows(release, REFERENCES) for answer in row["answers"]]
    # References that came with a query are nobody's.
    assert {(answer["worker"] is None, answer["simulated"]) for answer in answers} == {
        (True, False),
        (False, True),
    }
    assert {row["simulated"] for row in rows(release, RATINGS)} == {True}


@pytest.mark.long
def test_the_hubs_library_opens_all_that_the_card_names(release, datasets, tmp_path):
    configs = yaml.safe_load((release / "README.md").read_text(encoding="utf-8").split("---\n")[1])["configs"]
    assert [each["config_name"] for each in configs] == [
        "references", "answers", "candidates", "scores", "ratings", "retrieval",
    ]  # fmt: skip
    for config in configs:
        found = datasets.load_dataset(str(release), config["config_name"], cache_dir=str(tmp_path))
        for file in config["data_files"]:
            lines = release / f"jsonl/{config['config_name']}-{file['split']}.jsonl"
            assert len(found[file["split"]]) == lines.read_bytes().count(b"\n")


@reads_croissant
def test_croissant_reads_every_table_of_the_campaign(release, mlcroissant):
    found = mlcroissant.Dataset(jsonld=release / "croissant.json")
    assert found.metadata.issues.errors == set()
    for table in ("references", "answers", "candidates", "scores", "ratings"):
        lines = sum(path.read_bytes().count(b"\n") for path in release.glob(f"jsonl/{table}-*.jsonl"))
        assert len(list(found.records(table))) == lines


@pytest.mark.parametrize(("format", "called"), [("msmarco", "marco"), ("dureader", "dureader")])
def test_the_importer_reads_the_campaigns_queries_back(release, tmp_path, format, called):
    ids = []
    for path in sorted((release / format).iterdir()):
        room = tmp_path / path.stem
        room.mkdir()
        reader = open_reader(TextSource(path), room)
        assert reader.format == called
        ids += [each.id for each in reader.records(lambda line, why: pytest.fail(f"{line}: {why}"))]
    assert sorted(ids) == ["q1", "q2", "q3", "q4", "q5"]


def test_metrics_find_the_judged_answers_with_their_means(release):
    folder = release / "mt-metrics-eval"
    segments = (folder / "sources/en-en.txt").read_text(encoding="utf-8").splitlines()
    assert len(segments) == 5
    lines = (folder / "human-scores/en-en.judging.seg.score").read_text(encoding="utf-8").splitlines()
    assert {line.split("\t")[0] for line in lines} == {"alpha", "beta", "human"}
    assert len(lines) == 15
