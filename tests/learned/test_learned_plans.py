"""Evaluations on the desk with models: chosen in the form, pinned in the plan, refused when they changed."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from core.jobs.runner import run
from core.storage import shared_store
from evaluations.choices import ModelOptions, choose
from evaluations.errors import EvaluationError
from evaluations.executor import pack, unpack
from evaluations.model_shelf import model_named, models_for, models_of
from evaluations.models import Evaluation
from evaluations.plans import plan_of
from evaluations.services import begin, begin_again
from evaluations.table_sources import opened
from metrics.texts import Metric
from tests.evaluations.desk_world import make_evaluation, make_release
from tests.evaluations.model_folders import model
from tests.evaluations.test_desk_pages import LIST, NEW, text
from tests.learned import tiny
from tests.releases.shelf_world import as_, make_project

pytestmark = pytest.mark.django_db
METRIC = "bleu-1-kpqa"


@pytest.fixture(scope="module")
def predictor(tmp_path_factory: Any) -> Path:
    return tiny.kpqa(tmp_path_factory.mktemp("predictor") / "tiny").path


@pytest.fixture
def models(settings: Any, tmp_path: Path) -> Path:
    settings.METRIC_MODELS, settings.BERTSCORE_ENCODER = tmp_path / "models", ""
    settings.RELEASES_STORAGE, settings.DATA_DIR = str(tmp_path / "shelf"), tmp_path
    return settings.METRIC_MODELS


@pytest.fixture
def release(models: Path) -> Any:
    return make_release(make_project())


@pytest.fixture
def there(models: Path, predictor: Path) -> Path:
    """The tiny predictor among the installation's models."""
    return Path(shutil.copytree(predictor, models / "tiny"))


def plan(**given: Any) -> dict[str, Any]:
    kept = model_named("tiny")
    assert kept is not None
    return {
        "metrics": ["bleu-1", METRIC],
        "models": [{"kind": kept.kind, "name": kept.name, "digest": kept.digest}],
        **given,
    }


def boxes(page: str) -> dict[str, bool]:
    """Metrics of the form and whether each can be ticked."""
    found = re.findall(r'name="metrics" value="([^"]+)"([^>]*)>', page)
    return {name: "disabled" not in rest for name, rest in found}


@pytest.mark.long
def test_without_models_learned_metrics_are_offered_with_what_is_missing(release):
    answer = as_("manager").get(f"{LIST}new/")
    assert not boxes(answer.content.decode())[METRIC]
    page = text(answer)
    assert "Not here: there is no KPQA model" in page
    assert "This installation has no KPQA model and no ADEM model and no encoder for BERTScore." in page
    assert "docs/metrics.md" in page


@pytest.mark.long
def test_a_model_that_comes_while_the_process_lives_is_offered(release, predictor, models):
    manager = as_("manager")
    manager.get(f"{LIST}new/")
    shutil.copytree(predictor, models / "tiny")
    page = manager.get(f"{LIST}new/").content.decode()
    assert boxes(page)[METRIC]
    assert '<select name="model_kpqa"' in page
    assert 'value="tiny" selected' in page


def test_without_their_package_the_form_and_an_evaluation_say_what_to_install(
    release, there, without_package
):
    answer = as_("manager").get(f"{LIST}new/")
    assert not boxes(answer.content.decode())[METRIC]
    remedy = "distillery-learned is not installed: pip install ./distributions/learned"
    assert f"Not here: {remedy}" in text(answer)
    planned = make_evaluation(release, **plan())
    assert (planned.state, planned.why) == (
        "failed",
        f"{METRIC} cannot be scored here: {remedy}. Or leave the metric out.",
    )


def test_the_form_pins_the_model(release, there):
    kept = model_named("tiny")
    sent = {**NEW, "metrics": ["bleu-1", METRIC], "model_kpqa": "tiny", "do": "begin"}
    assert as_("manager").post(f"{LIST}new/", sent).status_code == 302
    made = plan_of(Evaluation.objects.get().plan)
    assert [(each.kind, each.name, each.digest) for each in made.models] == [("kpqa", "tiny", kept.digest)]
    page = text(as_("viewer").get(f"{LIST}1.0.0/1/"))
    assert f"KPQA model tiny ( {kept.signature} )" in page


def test_a_model_that_is_chosen_is_there_for_the_host_that_computes(release, there, settings, tmp_path):
    settings.DATA_STORAGE = str(tmp_path / "shared")
    sent = {**NEW, "metrics": ["bleu-1", METRIC], "model_kpqa": "tiny", "do": "begin"}
    manager = as_("manager")
    answer = manager.post(f"{LIST}new/", sent)
    assert answer.status_code == 422
    assert "The model tiny cannot be given to other hosts: The storage" in text(answer)
    assert Evaluation.objects.count() == 0
    shared_store().prepare()
    assert manager.post(f"{LIST}new/", sent).status_code == 302
    digest = model_named("tiny").digest
    settings.METRIC_MODELS = tmp_path / "models of another host"
    [folder] = models_of(plan_of(Evaluation.objects.get().plan)).folders
    assert (folder.path.parent, folder.digest) == (settings.METRIC_MODELS, digest)


@pytest.mark.long
def test_a_model_that_no_metric_needs_is_not_pinned(release, there):
    as_("manager").post(f"{LIST}new/", {**NEW, "model_kpqa": "tiny", "do": "begin"})
    assert plan_of(Evaluation.objects.get().plan).models == ()


@pytest.mark.long
def test_of_several_models_one_must_be_chosen(release, there, models):
    model(models, "other")
    answer = as_("manager").post(f"{LIST}new/", {**NEW, "metrics": [METRIC], "do": "begin"})
    assert answer.status_code == 422
    assert f"Choose the model that {METRIC} scores with." in text(answer)
    assert Evaluation.objects.count() == 0


def test_a_model_that_is_not_offered_is_refused(release, there):
    sent = {**NEW, "metrics": [METRIC], "model_kpqa": "../tiny", "do": "begin"}
    assert as_("manager").post(f"{LIST}new/", sent).status_code == 422


@pytest.mark.long
def test_a_damaged_model_is_not_offered(release, there):
    (there / "head.safetensors").unlink()
    assert not boxes(as_("manager").get(f"{LIST}new/").content.decode())[METRIC]


@pytest.mark.long
def test_it_ends_with_a_report_that_names_the_model(release, there):
    done = make_evaluation(release, **plan())
    assert done.state == "ready", done.why
    kept = model_named("tiny")
    (said,) = done.report["models"]
    assert (said["kind"], said["name"], said["digest"]) == ("kpqa", "tiny", kept.digest)
    assert kept.signature in done.report["metrics"][METRIC]["signature"]
    page = text(as_("viewer").get(f"{LIST}1.0.0/1/"))
    assert f"tiny ({kept.signature})" in page


def test_a_plan_that_names_a_metric_without_its_model_is_refused(release, there):
    with pytest.raises(EvaluationError, match=f"{METRIC} needs a KPQA model. Choose one"):
        begin(release=release, plan=plan_of({"metrics": [METRIC]}))
    with pytest.raises(EvaluationError, match="BERTScore needs an encoder"):
        begin(release=release, plan=plan_of({"metrics": ["bertscore"]}))


def test_two_models_of_a_kind_are_no_plan(there):
    with pytest.raises(EvaluationError, match="two models of a kind"):
        plan_of({"models": plan()["models"] * 2})


@pytest.mark.long
def test_a_model_that_is_gone_is_said_and_may_come_back(release, there, tmp_path):
    planned = make_evaluation(release, ran=False, **plan())
    there.rename(tmp_path / "away")
    run(job_id=planned.job)
    planned.refresh_from_db()
    assert (planned.state, planned.why) == (
        "failed",
        "The KPQA model tiny cannot be used: it is no longer there. Put it back and begin again, or make "
        "another plan.",
    )
    (tmp_path / "away").rename(there)
    begin_again(evaluation=planned, actor=None)
    planned.refresh_from_db()
    run(job_id=planned.job)
    planned.refresh_from_db()
    assert planned.state == "ready", planned.why


@pytest.mark.long
def test_another_model_of_that_name_is_refused(release, there, models):
    planned = make_evaluation(release, ran=False, **plan())
    before = model_named("tiny").signature
    shutil.rmtree(there)
    now = model(models, "tiny")
    run(job_id=planned.job)
    planned.refresh_from_db()
    assert planned.why == (
        f"The KPQA model tiny is another one by now: {before} was planned, and {now.signature} is there. "
        "Put it back and begin again, or make another plan."
    )


def test_a_damaged_model_is_refused_before_anything_is_scored(release, there):
    planned = make_evaluation(release, ran=False, **plan())
    (there / "head.safetensors").write_bytes(b"x")
    run(job_id=planned.job)
    planned.refresh_from_db()
    assert planned.state == "failed"
    assert "head.safetensors differs" in planned.why


def test_a_helper_scores_with_the_model_of_the_recipe(release, there, tmp_path):
    """Another worker gets pickled metrics, and refuses a folder that holds another model."""
    table = tmp_path / "answers.csv"
    table.write_text("question,answer,reference1\nwhat does it cost,it costs 10 euros,10 euros\n")
    given = models_of(plan_of(plan()))
    with opened(str(table)) as rows:
        (made,) = choose(rows, metrics=[METRIC], profile="default", models=given).metrics
    again = unpack(pack(made))
    assert isinstance(again, Metric)
    assert again.signature == made.signature
    asked = ["it costs 10 euros"], [["10 euros"]], ["what does it cost"]
    assert again.score(*asked) == pytest.approx(made.score(*asked))


def test_the_command_and_the_desk_score_alike(release, there, tmp_path):
    one = models_for([METRIC], ModelOptions(["tiny"]), named=True)
    other = models_of(plan_of(plan()))
    assert [each.digest for each in one.folders] == [each.digest for each in other.folders]
