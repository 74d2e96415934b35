"""The kind `questionnaire`: units, forms, pages and rows, by presets and one file."""

import pytest
from django.contrib.auth.models import User

from judgments.models import QuestionnaireUnit, UnitResponse
from tests.judgments.questionnaire_world import answer_all, make_study, write_answers

pytestmark = pytest.mark.django_db


@pytest.fixture
def researcher(db) -> User:
    return User.objects.create_user("researcher", is_staff=True, is_superuser=True)


@pytest.mark.parametrize(
    "preset", ["pairs", "crowdrag", "support", "alce", "ais", "nuggets", "esa", "mqm", "likert-aspects"]
)
def test_a_file_becomes_a_study_of_each_preset_that_people_answer(preset, researcher, tmp_path):
    study = make_study(write_answers(tmp_path / "answers.jsonl"), preset, researcher, people=2)
    answer_all(study.stage, people=3)
    units = QuestionnaireUnit.objects.filter(stage=study.stage)
    print(preset, units.count(), [(u.key, u.content) for u in units][:3])
    rows = UnitResponse.objects.filter(stage=study.stage)
    print(rows.count(), [(r.unit.key, r.values, r.flipped) for r in rows][:3])
    assert rows.count()
    import json

    from judgments.questionnaire.report import make_report

    print(json.dumps(make_report(study.stage))[:3000])
