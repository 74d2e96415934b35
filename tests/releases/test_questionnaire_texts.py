"""Texts that people wrote into questionnaires: in releases as the privacy check left them, else not there."""

import json

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from core.projects.services import record
from judgments.models import UnitResponse
from judgments.questionnaire.report import make_report
from releases.build import build_here, plan_release
from releases.errors import ReleaseError
from releases.models import PrivacyFinding
from releases.options import options_of
from releases.privacy import accept_findings, check_project, redact_findings
from tests.judgments.questionnaire_world import answer_all, make_study, write_answers
from tests.judgments.test_questionnaire_examples import keep_report

pytestmark = pytest.mark.django_db
WORDS = ("Write to ann@example.org, please", "Nothing is missing.", "The year")


@pytest.fixture
def study(db, tmp_path, settings):
    """Six answers, to three of which one person wrote something, one sentence by sentence."""
    settings.RELEASES_STORAGE = str(tmp_path / "shelf")
    owner = User.objects.create_superuser("researcher")
    study = make_study(write_answers(tmp_path / "a.jsonl"), "ais", owner, people=1)
    answer_all(study.stage, people=1)
    fields = [
        *study.stage.config["fields"],
        {"name": "why", "type": "text", "label": "Why?", "per": "sentence"},
    ]
    study.stage.config |= {"fields": fields}
    study.stage.save()
    for response, text in zip(UnitResponse.objects.order_by("pk"), WORDS, strict=False):
        response.values |= {"why": {"1": text}}
        response.save()
    keep_report(study.stage, make_report(study.stage, replicates=0))
    return study


def release(study):
    """The rows of texts of a release, its card and its manifest."""
    files = {}

    def copy(folder):
        for path in ("jsonl/responses-train.jsonl", "README.md", "manifest.json"):
            files[path] = (folder / path).read_text(encoding="utf-8")

    options = options_of({"formats": ["jsonl"]})
    build_here(
        plan_release(project=study.project, version="", notes="", options=options, actor=None), copy=copy
    )
    rows = [json.loads(line) for line in files["jsonl/responses-train.jsonl"].splitlines()]
    texts = [json.loads(row["value"]) for row in rows if row["field"] == "why"]
    steps = json.loads(files["manifest.json"])["steps"]
    return texts, files["README.md"], [each for each in steps if each["what"] == "texts of questionnaires"]


def test_what_the_check_found_waits_for_a_person_and_is_blacked_out(study, client):
    check_project(project=study.project)
    finding = PrivacyFinding.objects.get(rule="email")
    response = UnitResponse.objects.earliest("pk")
    assert (finding.subject, finding.field) == (f"response:{response.pk}:1", "why")
    with pytest.raises(ReleaseError):
        release(study)
    client.force_login(User.objects.get(username="researcher"))
    page = client.get(reverse("releases:privacy", args=[study.project.slug])).content.decode()
    assert "Text in a questionnaire" in page
    redact_findings(findings=PrivacyFinding.objects.filter(pk=finding.pk), actor=None)
    accept_findings(findings=PrivacyFinding.objects.filter(state="open"), reason="A test.", actor=None)
    texts, card, steps = release(study)
    assert texts == ["Write to " + "\u2588" * len("ann@example.org") + ", please", *WORDS[1:]]
    assert steps == [
        {"what": "texts of questionnaires", "step": "released", "before": 3, "after": 3, "reasons": {}}
    ]
    assert "texts of questionnaires: released" in card


def test_texts_that_no_check_has_read_are_left_out_and_counted(study):
    last = UnitResponse.objects.order_by("pk")[2]
    check_project(project=study.project)
    accept_findings(findings=PrivacyFinding.objects.filter(state="open"), reason="A test.", actor=None)
    earlier = {"last_response": last.pk - 1}  # as if the third had come after it
    record(project=study.project, action="privacy.checked", subject="study-ais", details=earlier)
    texts, _, steps = release(study)
    assert texts == list(WORDS[:2])
    assert steps[0]["before"] - steps[0]["after"] == 1
    assert steps[0]["reasons"] == {"not read by the privacy check": 1}
