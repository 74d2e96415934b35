"""Systems of a judging stage: chosen from those that exist, refused elsewhere, counted as they are asked."""

import pytest
from django.test import Client
from django.utils import timezone

from core.projects.models import Project
from crowd.desk.stageform import StageForm
from crowd.errors import CrowdError
from crowd.kinds import kind_named
from crowd.models import Hit, Stage
from crowd.services.publication import quote
from crowd.services.stages import change_stage, open_stage
from crowd.study.documents import study_toml
from crowd.study.explain import StudyError
from crowd.study.planning import apply, plan
from crowd.study.reader import read
from judgments.models import Candidate
from tests.annotation.world import make_project
from tests.judgments.judging_world import CORRECT, make_candidate, make_query, make_stage
from tests.study.conftest import KEYS

pytestmark = pytest.mark.django_db
UnjudgedReason = Candidate.UnjudgedReason


@pytest.fixture
def project() -> Project:
    """Two systems: `unilm` with two answers to judge of four, `t5` with one."""
    made = make_project()
    for number, values in enumerate(
        ({}, {}, {"aside": UnjudgedReason.EMPTY}, {"aside": UnjudgedReason.WITHDRAWN})
    ):
        make_candidate(make_query(made, f"question {number}"), "unilm", f"answer {number}", **values)
    make_candidate(made.queries.first(), "t5", "another answer")
    return made


def draft(project: Project, **values) -> Stage:
    return make_stage(project, **{"status": Stage.Status.DRAFT, "opened_at": None, **values})


def test_the_form_has_a_box_for_each_system_with_how_many_answers_it_has(project):
    form = StageForm(kind=kind_named("judging"), project=project)
    boxes = dict(form.fields["config.systems"].choices)
    assert boxes == {"t5": "t5: 1 of 1 answers to judge", "unilm": "unilm: 2 of 4 answers to judge"}
    assert str(form["config.systems"]).count('type="checkbox"') == 2


def test_a_stored_name_that_is_no_system_is_shown_and_must_be_unticked(project):
    stage = draft(project, config={"systems": ["unilm", "baseline T5"]})
    form = StageForm(kind=kind_named("judging"), stage=stage)
    assert "baseline T5: not there" in dict(form.fields["config.systems"].choices).values()
    sent = StageForm({"config.systems": ["unilm", "baseline T5"]}, kind=kind_named("judging"), stage=stage)
    assert sent.errors["config.systems"] == ["The project has none called 'baseline T5'. Untick it."]
    other = StageForm({"config.systems": ["T-5"]}, kind=kind_named("judging"), stage=stage)
    assert "T-5 is not one of the available choices" in str(other.errors["config.systems"])


def test_a_stage_of_an_unknown_system_is_not_opened(project):
    stage = draft(project, config={"systems": ["unilmm"]})
    with pytest.raises(CrowdError, match="none called 'unilmm'"):
        open_stage(stage=stage)
    stage.refresh_from_db()
    assert stage.status == Stage.Status.DRAFT


def test_a_study_file_with_an_unknown_system_is_refused_with_its_line(project, tmp_path):
    draft(project, slug="judging", config={"systems": ["unilm"]})
    path = tmp_path / "study.toml"
    text = study_toml(project).replace('"unilm"', '"unilmm"')
    path.write_text(text, encoding="utf-8")
    with pytest.raises(StudyError) as caught:
        plan(read(str(path)), KEYS, to_apply=True)
    (problem,) = (each for each in caught.value.problems if not each.caution)
    assert (problem.code, problem.remedy) == ("no-such-name", "Did you mean 'unilm'?")
    assert problem.line == next(n for n, line in enumerate(text.split("\n"), 1) if "unilmm" in line)
    assert "no systems called 'unilmm'" in problem.what


def test_before_any_answer_is_imported_a_study_may_name_systems(tmp_path):
    project = make_project()
    stage = draft(project, slug="judging")
    path = tmp_path / "study.toml"
    Stage.objects.filter(pk=stage.pk).update(config={"systems": ["unilm"]})
    path.write_text(study_toml(project), encoding="utf-8")
    study = read(str(path))
    planned = plan(study, KEYS, to_apply=True)
    assert any("no systems called 'unilm'" in each.what for each in planned.cautions)
    apply(study, planned, KEYS)


def test_the_quote_counts_what_is_asked_and_says_why_the_rest_is_not(project, django_user_model):
    reference = make_query(project, "a copied question")
    make_candidate(reference, "unilm", CORRECT)
    Project.objects.filter(pk=project.pk).update(budget_cents=100_000)
    project.refresh_from_db()
    stage = draft(project, slug="judging", config={"systems": ["unilm"]})
    client = Client()
    client.force_login(django_user_model.objects.create_superuser("chief"))
    page = client.get(f"/desk/projects/{project.slug}/stages/judging/open/")
    assert page.context["offer"].units == 2
    assert page.context["left_out"] == {
        "the same as a reference": 1,
        "the system gave no answer": 1,
        "taken out by a researcher": 1,
        "of systems that are not chosen": 1,
    }
    assert "Not asked about: the same as a reference" in page.content.decode()
    assert open_stage(stage=stage, typed_cents=stage.budget_cents).units == 2


def test_systems_can_be_changed_until_hits_are_planned(project):
    stage = draft(project, config={"systems": ["unilm"]}, opened_at=timezone.now())
    change_stage(stage=stage, changes={"config": {"systems": ["t5"]}})
    assert quote(stage).units == 1
    assert not StageForm(kind=kind_named("judging"), stage=stage).fields["config.systems"].disabled
    Hit.objects.create(stage=stage, ordinal=1, places=1, reward_cents=1, fee_cents=0)
    with pytest.raises(CrowdError, match="HITs of the stage are published, so config cannot change"):
        change_stage(stage=stage, changes={"config": {"systems": ["unilm"]}})
    assert StageForm(kind=kind_named("judging"), stage=stage).fields["config.systems"].disabled
