"""The study file that docs/judging.md links: it can be applied."""

from pathlib import Path

import pytest

from crowd.models import Stage
from crowd.study.explain import StudyError
from crowd.study.planning import apply, plan
from crowd.study.reader import read
from judgments.judging_config import judging_config, training_config
from judgments.kinds import passing
from tests.study.conftest import KEYS

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/judging.toml"


def test_the_example_makes_both_protocols_and_the_training():
    study = read(str(EXAMPLE))
    apply(study, plan(study, KEYS, to_apply=True), KEYS)
    stages = {stage.slug: stage for stage in Stage.objects.all()}
    kpqa, survey, training = stages["kpqa"], stages["survey"], stages["training"]
    assert (kpqa.units_per_hit, kpqa.redundancy, judging_config(kpqa).reference) == (1, 10, "one")
    assert (survey.units_per_hit, survey.checks_per_hit) == (180, 4)
    assert judging_config(survey).shared_queries == 5
    assert [aspect.name for aspect in judging_config(survey).aspects] == ["topicality"]
    lessons = training_config(training)
    assert len(lessons.lessons) == training.units_per_hit == 3
    assert passing(len(lessons.lessons), lessons.pass_share) == 2


def test_a_test_that_no_stage_is_is_found_in_the_file(tmp_path):
    wrong = tmp_path / "study.toml"
    wrong.write_text(EXAMPLE.read_text("utf-8").replace('values = ["training"]', 'values = ["trainning"]'))
    with pytest.raises(StudyError) as caught:
        plan(read(str(wrong)), KEYS, to_apply=True)
    assert any("there is no other stage 'trainning'" in each.what for each in caught.value.problems)
