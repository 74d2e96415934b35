"""Pages of evaluations on the desk: lists, the form, one evaluation with its files, two compared."""

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from core.jobs.runner import run
from core.projects.models import Event
from evaluations import services
from evaluations.models import Evaluation, ExternalScores
from evaluations.plans import EvaluationPlan, plan_of
from evaluations.selectors import stages_of
from tests.evaluations.desk_world import make_evaluation, make_release
from tests.releases.shelf_world import as_, make_project

pytestmark = pytest.mark.django_db
LIST = "/desk/projects/capitals/evaluations/"
ONE = f"{LIST}1.0.0/1/"
NEW = {
    "profile": "default", "metrics": ["bleu-1"], "stage": "judging", "seed": "0", "replicates": "20",
    "draws": "99", "gap": "2", "once": "5e7b7f0e-4d92-4a58-9b80-1b62ab0ef0a4",
}  # fmt: skip


@pytest.fixture
def release(settings: Any, tmp_path: Path) -> Any:
    settings.RELEASES_STORAGE, settings.DATA_DIR = str(tmp_path / "shelf"), tmp_path
    return make_release(make_project())


def text(answer: Any) -> str:
    """The words of a page in one line."""
    page = answer.content.decode()
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_a_project_without_releases_says_what_is_missing(settings, tmp_path):
    settings.RELEASES_STORAGE = str(tmp_path)
    make_project()
    assert "It needs a release with human scores" in text(as_("viewer").get(LIST))


def test_the_list_is_narrowed_and_sorted_by_its_address(release):
    make_evaluation(release, ran=False)
    make_evaluation(release)
    viewer = as_("viewer")
    ready = text(viewer.get(f"{LIST}?state=ready"))
    assert "No.&nbsp;2 1.0.0 Ready default bleu-1 , rouge-l" in ready
    assert "No.&nbsp;1" not in ready
    rows = csv.DictReader(io.StringIO(viewer.get(f"{LIST}?order=-number&format=csv").getvalue().decode()))
    assert [row["number"] for row in rows] == ["1", "2"]


@pytest.mark.long
def test_a_list_costs_the_same_for_one_and_for_many(release, django_assert_max_num_queries):
    for _ in range(6):
        make_evaluation(release, ran=False)
    viewer = as_("viewer")
    with django_assert_max_num_queries(11):
        viewer.get(LIST)


def test_everywhere_lists_what_one_may_see(release):
    make_evaluation(release, ran=False)
    assert "No.&nbsp;1" in text(as_("viewer").get("/desk/evaluations/"))


def test_the_form_offers_metrics_profiles_and_stages(release):
    page = as_("manager").get(f"{LIST}new/").content.decode()
    assert 'name="metrics" value="rouge-l"' in page
    assert 'name="profile" value="default" checked' in page
    assert "Release 1.0.0 has 90 answers with human scores." in page


def test_the_newest_stage_that_has_scores_is_chosen_unless_another_is(release):
    stages = [{"stage": name, "title": name.capitalize()} for name in ("first", "judging", "begun")]
    steps = [
        {"what": f"judgments of {name}", "step": "kept", "before": 4, "after": kept, "reasons": {}}
        for name, kept in (("first", 3), ("judging", 90), ("begun", 0))
    ]
    release.manifest = {**release.manifest, "stages": stages, "steps": steps}
    assert list(stages_of(release)) == ["judging", "first", "begun"]


def test_a_form_with_a_mistake_begins_nothing(release):
    answer = as_("manager").post(f"{LIST}new/", {**NEW, "draws": "5"})
    assert answer.status_code == 422
    assert "Permutation draws" in text(answer)
    assert Evaluation.objects.count() == 0


def test_how_long_it_takes_begins_nothing(release):
    answer = as_("manager").post(f"{LIST}new/", {**NEW, "do": "estimate"})
    assert "What you have chosen takes some seconds" in text(answer)
    assert Evaluation.objects.count() == 0


@pytest.mark.long
def test_begun_it_waits_and_then_shows_what_was_found(release):
    manager = as_("manager")
    answer = manager.post(f"{LIST}new/", {**NEW, "do": "begin", "title": "First"})
    assert (answer.status_code, answer.headers["Location"]) == (302, ONE)
    assert "Starting" in text(manager.get(f"{ONE}live/"))
    run(job_id=Evaluation.objects.get().job)
    assert "The evaluation is ready." in text(manager.get(f"{ONE}live/"))
    page = text(manager.get(ONE))
    assert "agrees with people" in page
    assert "First" in page


ASKED = {
    "paired_bootstrap": "on", "reference_samples": "2", "differences": "bleu-1", "sweep_alpha": "0:2:1",
    "protocols": ["yang-bootstrap", "adem-table5"],
}  # fmt: skip


def test_what_the_command_offers_on_request_the_form_offers_too(release):
    manager = as_("manager")
    given = {**NEW, **ASKED, "metrics": ["bleu-1", "adapted-rouge-l"], "do": "begin"}
    assert manager.post(f"{LIST}new/", given).status_code == 302
    evaluation = Evaluation.objects.get()
    run(job_id=evaluation.job)
    evaluation.refresh_from_db()
    assert evaluation.state == Evaluation.State.READY, evaluation.why
    assert {"sweep-alpha", "yang-bootstrap", "adem-table5"} <= set(evaluation.report["protocols"])
    assert evaluation.report["differences"]["metrics"]["bleu-1"]["answers"]
    assert evaluation.report["reference_curve"]
    assert {"differences.csv", "sweep.csv"} <= {each["name"] for each in evaluation.files}
    page = text(manager.get(ONE))
    assert "Sweeps alpha=0:2:1" in page
    assert "Curve of references 2 samples" in page


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ({"differences": "chrf"}, "chrf is not among the metrics that are chosen."),
        ({"sweep_alpha": "0:10:1"}, "Choose a metric that it changes: adapted"),
        ({"sweep_beta": "much"}, "Write from:to:step, such as 0:10:1"),
        ({"reference_samples": "99999999"}, "Ensure this value is less than or equal to 1000."),
    ],
)
def test_what_is_asked_of_metrics_that_are_not_there_is_refused(release, asked, answer):
    page = as_("manager").post(f"{LIST}new/", {**NEW, **asked})
    assert page.status_code == 422
    assert answer in text(page)
    assert Evaluation.objects.count() == 0


def test_a_plan_without_later_options_is_stored_as_before_them():
    """Hosts of the version before can still read it during an upgrade."""
    assert set(EvaluationPlan().as_json()) == {
        "stage", "profile", "metrics", "external", "models", "encoder", "encoder_digest", "seed",
        "replicates", "draws", "gap", "protocols",
    }  # fmt: skip
    asked = EvaluationPlan(sweeps=("alpha=0:2:1",), reference_samples=3)
    assert plan_of(asked.as_json()) == asked


def test_what_failed_says_why_and_is_begun_again(release):
    make_evaluation(release, lacks="no-such")
    manager = as_("manager")
    assert "It could not be computed. There is no metric" in text(manager.get(ONE))
    manager.post(f"{ONE}again/")
    assert Evaluation.objects.get().state == "planned"


def test_one_that_waits_is_cancelled(release):
    make_evaluation(release, ran=False)
    manager = as_("manager")
    manager.post(f"{ONE}cancel/")
    assert "It was cancelled." in text(manager.get(ONE))


def test_its_files_are_what_was_listed(release):
    done = make_evaluation(release)
    listed = next(each for each in done.files if each["name"] == "scores.csv")
    answer = as_("viewer").get(f"{ONE}files/scores.csv")
    body = b"".join(answer.streaming_content)
    assert len(body) == listed["bytes"]
    assert answer.headers["Content-Disposition"].startswith("attachment;")
    assert as_("viewer").get(f"{ONE}files/points.json").status_code == 404
    assert "Two finished evaluations are needed" in text(as_("viewer").get(f"{LIST}compare/"))


def test_one_evaluation_at_a_time_is_the_leaderboard(release):
    first, second = make_evaluation(release), make_evaluation(release)
    owner = as_("owner")
    owner.post(f"{ONE}leaderboard/show/")
    owner.post(f"{LIST}1.0.0/2/leaderboard/show/")
    assert list(Evaluation.objects.filter(leaderboard=True)) == [second]
    owner.post(f"{LIST}1.0.0/2/leaderboard/hide/")
    assert not Evaluation.objects.filter(leaderboard=True).exists()
    actions = Event.objects.filter(action__startswith="leaderboard.").order_by("pk")
    assert list(actions.values_list("action", "subject")) == [
        ("leaderboard.shown", f"1.0.0 no. {first.number}"),
        ("leaderboard.shown", f"1.0.0 no. {second.number}"),
        ("leaderboard.hidden", f"1.0.0 no. {second.number}"),
    ]


def test_one_that_is_not_finished_is_no_leaderboard(release):
    waits = make_evaluation(release, ran=False)
    as_("owner").post(f"{ONE}leaderboard/show/")
    assert not Evaluation.objects.get(pk=waits.pk).leaderboard


def test_two_evaluations_are_compared(release):
    make_evaluation(release)
    other = make_release(release.project, "1.1.0", seed=2)
    make_evaluation(other, metrics=["bleu-1"])
    page = text(as_("viewer").get(f"{LIST}compare/"))
    assert "The two are of different releases" in page
    assert "bleu-1" in page
    assert "it is not in the report" in page


def upload(content: str, **fields: str) -> Any:
    given = {"release": "1.0.0", "name": "judge-1", "direction": "higher", **fields}
    file = SimpleUploadedFile("judge.csv", content.encode())
    return as_("manager").post(f"{LIST}external/new/", {**given, "file": file})


def test_scores_from_elsewhere_are_looked_at_and_kept(release):
    answer = upload("candidate_id,score\nq0-good,0.5\nq1-bad,0.25\n")
    scores = ExternalScores.objects.get()
    manager = as_("manager")
    page = text(manager.get(answer.headers["Location"]))
    assert "88 candidates of the release have no score" in page
    manager.post(f"{LIST}external/{scores.pk}/keep/")
    assert "judge-1" in text(as_("viewer").get(f"{LIST}external/"))


def test_kept_scores_join_an_evaluation(release):
    lines = "".join(f"q{number}-good,{number}\n" for number in range(30))
    upload(f"candidate_id,score\n{lines}", direction="lower")
    scores = ExternalScores.objects.get()
    as_("manager").post(f"{LIST}external/{scores.pk}/keep/")
    done = make_evaluation(release, external=[{"name": "judge-1", "digest": scores.digest}])
    assert done.state == "ready", done.why
    assert done.report["metrics"]["judge-1"]["n"] == 30


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("candidate_id,score\nnobody,0.5\n", "line 2, candidate_id: the release has no candidate"),
        ("candidate_id,score\nq0-good,0.5\nq0-good,0.6\n", "line 3: candidate q0-good has a score already"),
        ("candidate_id,score\nq0-good,high\n", "line 2, score: &#x27;high&#x27; is no number"),
        ("query_id,system,score\nq0,none,1\n", "line 2, query_id and system: the release has no answer"),
        ("text,score\nhello,1\n", "It needs a column candidate_id, or the columns query_id and system"),
        ("candidate_id,a,b\nq0-good,1,2\n", "which column holds the scores?"),
        ("candidate_id,score\nq0-good,\n", "has no scores in the column"),
    ],
)
def test_a_file_with_a_mistake_is_refused_as_a_whole(release, content, words):
    answer = upload(content)
    assert answer.status_code == 422
    assert words in text(answer)
    assert ExternalScores.objects.count() == 0


def test_a_name_is_taken_once(release):
    upload("candidate_id,score\nq0-good,0.5\n")
    as_("manager").post(f"{LIST}external/{ExternalScores.objects.get().pk}/keep/")
    assert "has scores called judge-1 already" in text(upload("candidate_id,score\nq0-good,0.5\n"))
    assert "is the name of a metric" in text(upload("candidate_id,score\nq0-good,0.5\n", name="bleu-1"))


def test_scores_that_a_running_evaluation_needs_stay(release):
    upload("candidate_id,score\nq0-good,0.5\n")
    scores = ExternalScores.objects.get()
    manager = as_("manager")
    manager.post(f"{LIST}external/{scores.pk}/keep/")
    waits = make_evaluation(release, ran=False, external=[{"name": "judge-1", "digest": scores.digest}])
    manager.post(f"{LIST}external/{scores.pk}/remove/")
    assert ExternalScores.objects.count() == 1
    services.cancel(evaluation=waits, actor=None)
    manager.post(f"{LIST}external/{scores.pk}/remove/")
    assert ExternalScores.objects.count() == 0
