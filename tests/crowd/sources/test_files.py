"""Sources in a study's file: applied, shown again, refused where they cannot be."""

import pytest

from crowd.models import Endpoint, Stage, StageSource
from crowd.services import stages
from crowd.study.documents import study_toml
from crowd.study.explain import StudyError
from crowd.study.planning import apply, plan
from crowd.study.reader import read
from tests.cases import apart

pytestmark = pytest.mark.django_db
FILE = """
[project]
slug = "mixed"
title = "Mixed"
budget = "20.00"

[endpoints.links]
preset = "link"

[endpoints.more]
preset = "link"

[[stages]]
slug = "poll"
title = "Poll"
kind = "poll"
endpoint = "links"
reward = "0.10"
redundancy = 2
budget = "10.00"
task = {title = "A question", description = "Choose one."}
config = {question = "Good?", options = ["yes", "no"], items = ["tea"], checks = {}}

[[stages.sources]]
endpoint = "more"
answers = 40
reward = "0.20"
move_after = "2h"

[[stages.sources]]
endpoint = "links"
share = 70
"""


@pytest.fixture
def applied(tmp_path):
    def applied(text):
        path = tmp_path / "study.toml"
        path.write_text(text, "utf-8")
        study = read(str(path))
        apply(study, plan(study, {}, to_apply=True), {})
        return study

    return applied


def test_a_file_with_sources_is_applied_and_shown_as_it_is(applied, tmp_path):
    applied(FILE)
    rows = StageSource.objects.order_by("position")
    assert list(
        rows.values_list("endpoint__name", "share", "most_answers", "reward_cents", "move_after_seconds")
    ) == [
        ("links", 70, None, None, None),
        ("more", None, 40, 20, 7200),
    ]
    stage = Stage.objects.select_related("project").get()
    shown = tmp_path / "shown.toml"
    shown.write_text(study_toml(stage.project), "utf-8")
    for text in (FILE, shown.read_text("utf-8")):
        (tmp_path / "study.toml").write_text(text, "utf-8")
        again = read(str(tmp_path / "study.toml"))
        assert plan(again, {}, to_apply=True).empty
    applied(FILE.replace("answers = 40", "share = 30"))
    assert StageSource.objects.get(position=1).share == 30


def test_a_file_that_cannot_be_names_the_field(applied, subtests):
    for before, after, field in [
        ('endpoint = "more"\nanswers', 'endpoint = "mor"\nanswers', "stages[0].sources[0].endpoint"),
        ('endpoint = "more"\nanswers', 'endpoint = "links"\nanswers', "stages[0].sources[1].endpoint"),
        ("answers = 40\n", "answers = 40\nshare = 3\n", "stages[0].sources[0]"),
        ('[[stages.sources]]\nendpoint = "links"\nshare = 70', "", "stages[0].sources"),
        (
            'preset = "link"\n\n[[stages]]',
            'preset = "link"\ncurrency = "EUR"\n\n[[stages]]',
            "stages[0].sources[0].endpoint",
        ),
    ]:
        with apart(subtests, before=before, after=after):
            with pytest.raises(StudyError) as refused:
                applied(FILE.replace(before, after, 1))
            assert field in {problem.field for problem in refused.value.problems}
            assert not Stage.objects.exists()


def test_an_open_stage_gets_no_new_source_from_a_file(applied):
    alone = FILE[: FILE.index("[[stages.sources]]")]
    applied(alone)
    stages.open_stage(stage=Stage.objects.select_related("project", "endpoint").get())
    with pytest.raises(StudyError) as refused:
        applied(FILE)
    assert any("Pause the stage" in problem.remedy for problem in refused.value.problems)
    assert not StageSource.objects.exists()
    assert Endpoint.objects.count() == 2
