"""Pages of evaluations on the desk: lists, the form, one evaluation with its files, two compared."""

import csv
import io
import re
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.jobs.runner import run
from core.projects.models import Event
from evaluations import services
from evaluations.models import Evaluation, ExternalScores
from evaluations.plans import EvaluationPlan, plan_of
from evaluations.selectors import stages_of
from releases.models import Release
from tests.evaluations.desk_world import make_evaluation, make_release
from tests.releases.shelf_world import as_, make_project

pytestmark = pytest.mark.django_db
LIST = "/desk/projects/capitals/evaluations/"
ONE, TWO = f"{LIST}1.0.0/1/", f"{LIST}1.0.0/2/"
NEW = {
    "profile": "default", "metrics": ["bleu-1"], "stage": "judging", "seed": "0", "replicates": "20",
    "draws": "99", "gap": "2", "once": "5e7b7f0e-4d92-4a58-9b80-1b62ab0ef0a4",
}  # fmt: skip


@pytest.fixture
def release(evaluated_release: Release) -> Release:
    """A release whose evaluation 1 is ready."""
    return evaluated_release


def text(answer: Any) -> str:
    """The words of a page in one line."""
    page = answer.content.decode()
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_a_project_without_releases_says_what_is_missing(settings, tmp_path):
    settings.RELEASES_STORAGE = str(tmp_path)
    make_project()
    assert "It needs a release with human scores" in text(as_("viewer").get(LIST))


def test_lists_are_narrowed_and_sorted_by_their_address(release):
    make_evaluation(release, ran=False)
    viewer = as_("viewer")
    ready = text(viewer.get(f"{LIST}?state=ready"))
    assert "No. 1 1.0.0 Ready default bleu-1 , rouge-l" in ready
    assert "No. 2" not in ready
    rows = csv.DictReader(io.StringIO(viewer.get(f"{LIST}?order=-number&format=csv").getvalue().decode()))
    assert [row["number"] for row in rows] == ["1", "2"]
    assert "No. 2" in text(viewer.get("/desk/evaluations/"))


@pytest.mark.long
def test_a_list_costs_the_same_for_one_and_for_many(release):
    viewer = as_("viewer")
    queries = []
    for number in (1, 5):
        for _ in range(number):
            make_evaluation(release, ran=False)
        cache.clear()  # figures of the sidebar
        with CaptureQueriesContext(connection) as captured:
            viewer.get(LIST)
        queries.append(len(captured))
    assert queries[0] == queries[1]


def test_the_newest_stage_that_has_scores_is_chosen_unless_another_is(release):
    stages = [{"stage": name, "title": name.capitalize()} for name in ("first", "judging", "begun")]
    steps = [
        {"what": f"judgments of {name}", "step": "kept", "before": 4, "after": kept, "reasons": {}}
        for name, kept in (("first", 3), ("judging", 90), ("begun", 0))
    ]
    release.manifest = {**release.manifest, "stages": stages, "steps": steps}
    assert list(stages_of(release)) == ["judging", "first", "begun"]


def test_the_form_offers_metrics_and_begins_nothing_with_a_mistake(release, subtests):
    manager = as_("manager")
    page = manager.get(f"{LIST}new/").content.decode()
    assert 'name="metrics" value="rouge-l"' in page
    assert 'name="profile" value="default" checked' in page
    assert "Release 1.0.0 has 90 answers with human scores." in page
    answer = manager.post(f"{LIST}new/", {**NEW, "do": "estimate"})
    assert "What you have chosen takes some seconds" in text(answer)
    for asked, words in (
        ({"draws": "5"}, "Permutation draws"),
        ({"differences": "chrf"}, "chrf is not among the metrics that are chosen."),
        ({"sweep_alpha": "0:10:1"}, "Choose a metric that it changes: adapted"),
        ({"sweep_beta": "much"}, "Write from:to:step, such as 0:10:1"),
        ({"reference_samples": "99999999"}, "Ensure this value is less than or equal to 1000."),
    ):
        with subtests.test(asked=asked):
            answer = manager.post(f"{LIST}new/", {**NEW, **asked})
            assert answer.status_code == 422
            assert words in text(answer)
    assert Evaluation.objects.count() == 1


def test_begun_it_waits_and_then_shows_what_was_found_with_all_that_was_asked_for(release):
    manager = as_("manager")
    given = {**NEW, **ASKED, "metrics": ["bleu-1", "adapted-rouge-l"], "do": "begin", "title": "Second"}
    answer = manager.post(f"{LIST}new/", given)
    assert (answer.status_code, answer.headers["Location"]) == (302, TWO)
    assert "Starting" in text(manager.get(f"{TWO}live/"))
    evaluation = Evaluation.objects.get(number=2)
    run(job_id=evaluation.job)
    evaluation.refresh_from_db()
    assert evaluation.state == Evaluation.State.READY, evaluation.why
    assert "The evaluation is ready." in text(manager.get(f"{TWO}live/"))
    assert {"sweep-alpha", "yang-bootstrap", "adem-table5"} <= set(evaluation.report["protocols"])
    assert evaluation.report["differences"]["metrics"]["bleu-1"]["answers"]
    assert evaluation.report["reference_curve"]
    assert {"differences.csv", "sweep.csv"} <= {each["name"] for each in evaluation.files}
    page = text(manager.get(TWO))
    for words in ("best with people", "Second", "Sweeps alpha=0:2:1", "Curve of references 2 samples"):
        assert words in page


ASKED = {
    "paired_bootstrap": "on", "reference_samples": "2", "differences": "bleu-1", "sweep_alpha": "0:2:1",
    "protocols": ["yang-bootstrap", "adem-table5"],
}  # fmt: skip


def test_a_plan_without_later_options_is_stored_as_before_them():
    """Hosts of the version before can still read it during an upgrade."""
    assert set(EvaluationPlan().as_json()) == {
        "stage", "profile", "metrics", "external", "models", "encoder", "encoder_digest", "seed",
        "replicates", "draws", "gap", "protocols",
    }  # fmt: skip
    asked = EvaluationPlan(sweeps=("alpha=0:2:1",), reference_samples=3)
    assert plan_of(asked.as_json()) == asked


def test_what_failed_says_why_and_is_begun_again_and_one_that_waits_is_cancelled(release):
    make_evaluation(release, lacks="no-such")
    manager = as_("manager")
    assert "It could not be computed. There is no metric" in text(manager.get(TWO))
    manager.post(f"{TWO}again/")
    assert Evaluation.objects.get(number=2).state == "planned"
    as_("owner").post(f"{TWO}leaderboard/show/")  # not finished
    assert not Evaluation.objects.get(number=2).leaderboard
    manager.post(f"{TWO}cancel/")
    assert "It was cancelled." in text(manager.get(TWO))


def test_its_files_are_what_was_listed(ready_evaluation):
    listed = next(each for each in ready_evaluation.files if each["name"] == "scores.csv")
    answer = as_("viewer").get(f"{ONE}files/scores.csv")
    body = b"".join(answer.streaming_content)
    assert len(body) == listed["bytes"]
    assert answer.headers["Content-Disposition"].startswith("attachment;")
    assert as_("viewer").get(f"{ONE}files/points.json").status_code == 404
    assert "Two finished evaluations are needed" in text(as_("viewer").get(f"{LIST}compare/"))


def test_one_evaluation_at_a_time_is_the_leaderboard_and_two_are_compared(ready_evaluation):
    first, release = ready_evaluation, ready_evaluation.release
    second = make_evaluation(release, metrics=["bleu-1"])
    owner = as_("owner")
    owner.post(f"{ONE}leaderboard/show/")
    owner.post(f"{TWO}leaderboard/show/")
    assert list(Evaluation.objects.filter(leaderboard=True)) == [second]
    owner.post(f"{TWO}leaderboard/hide/")
    assert not Evaluation.objects.filter(leaderboard=True).exists()
    actions = Event.objects.filter(action__startswith="leaderboard.").order_by("pk")
    assert list(actions.values_list("action", "subject")) == [
        ("leaderboard.shown", f"1.0.0 no. {first.number}"),
        ("leaderboard.shown", f"1.0.0 no. {second.number}"),
        ("leaderboard.hidden", f"1.0.0 no. {second.number}"),
    ]
    make_evaluation(make_release(release.project, "1.1.0", seed=2), metrics=["bleu-1", "bleu-2"])
    page = text(as_("viewer").get(f"{LIST}compare/"))
    assert "The two are of different releases" in page
    assert "bleu-1" in page
    assert "it is not in the report" in page


def upload(content: str, **fields: str) -> Any:
    given = {"release": "1.0.0", "name": "judge-1", "direction": "higher", **fields}
    file = SimpleUploadedFile("judge.csv", content.encode())
    return as_("manager").post(f"{LIST}external/new/", {**given, "file": file})


def test_scores_from_elsewhere_are_looked_at_and_kept_under_a_name_that_is_taken_once(release):
    answer = upload("candidate_id,score\nq0-good,0.5\nq1-bad,0.25\n")
    scores = ExternalScores.objects.get()
    manager = as_("manager")
    page = text(manager.get(answer.headers["Location"]))
    assert "88 candidates of the release have no score" in page
    manager.post(f"{LIST}external/{scores.pk}/keep/")
    assert "judge-1" in text(as_("viewer").get(f"{LIST}external/"))
    assert "has scores called judge-1 already" in text(upload("candidate_id,score\nq0-good,0.5\n"))
    assert "is the name of a metric" in text(upload("candidate_id,score\nq0-good,0.5\n", name="bleu-1"))


def test_kept_scores_join_an_evaluation_and_stay_while_one_needs_them(release):
    lines = "".join(f"q{number}-good,{number}\n" for number in range(30))
    upload(f"candidate_id,score\n{lines}", direction="lower")
    scores = ExternalScores.objects.get()
    manager = as_("manager")
    manager.post(f"{LIST}external/{scores.pk}/keep/")
    needs = {"external": [{"name": "judge-1", "digest": scores.digest}]}
    waits = make_evaluation(release, ran=False, **needs)
    manager.post(f"{LIST}external/{scores.pk}/remove/")
    assert ExternalScores.objects.count() == 1
    services.cancel(evaluation=waits, actor=None)
    done = make_evaluation(release, **needs)
    assert done.state == "ready", done.why
    assert done.report["metrics"]["judge-1"]["n"] == 30
    manager.post(f"{LIST}external/{scores.pk}/remove/")
    assert ExternalScores.objects.count() == 0


def test_a_file_with_a_mistake_is_refused_as_a_whole(release, subtests):
    for content, words in (
        ("candidate_id,score\nnobody,0.5\n", "line 2, candidate_id: the release has no candidate"),
        ("candidate_id,score\nq0-good,0.5\nq0-good,0.6\n", "line 3: candidate q0-good has a score already"),
        ("candidate_id,score\nq0-good,high\n", "line 2, score: &#x27;high&#x27; is no number"),
        ("query_id,system,score\nq0,none,1\n", "line 2, query_id and system: the release has no answer"),
        ("text,score\nhello,1\n", "It needs a column candidate_id, or the columns query_id and system"),
        ("candidate_id,a,b\nq0-good,1,2\n", "which column holds the scores?"),
        ("candidate_id,score\nq0-good,\n", "has no scores in the column"),
    ):
        with subtests.test(words=words):
            answer = upload(content)
            assert answer.status_code == 422
            assert words in text(answer)
            assert ExternalScores.objects.count() == 0
