"""Results of a questionnaire by the API: what its page and its files have."""

import json

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from core.api.models import Scope
from core.jobs import runner
from judgments.models import UnitResponse
from tests.api.conftest import is_problem, program_of
from tests.judgments.questionnaire_world import answer_all, make_study, write_answers

pytestmark = pytest.mark.django_db


def test_results_are_made_on_request_and_are_those_of_the_page(tmp_path, client):
    owner = User.objects.create_superuser("researcher")
    study = make_study(write_answers(tmp_path / "a.jsonl"), "support", owner, people=1)
    program = program_of(owner, Scope.READ, Scope.DECIDE)
    at = f"/projects/{study.project.slug}/stages/{study.stage.slug}"
    is_problem(program.get(f"{at}/scores.jsonl"), 404, "not_found")
    assert program.get(f"{at}/results").json() == {
        "report": None, "report_is_fresh": False, "report_job": None
    }  # fmt: skip
    answer_all(study.stage, people=1)
    made = program.post(f"{at}/results")
    assert made.status_code == 202
    assert program.get(f"{at}/results").json()["report_job"] == made.json()["job"]
    runner.run(job_id=made.json()["job"])
    results = program.get(f"{at}/results").json()
    assert (results["report_is_fresh"], results["report_job"]) == (True, None)
    assert results["report"]["support"]["protocol"] == "trec"

    client.force_login(owner)
    place = [study.project.slug, study.stage.slug]
    files = {
        name: b"".join(client.get(reverse("judgments:results_file", args=[*place, name])).streaming_content)
        for name in ("results.json", "responses.jsonl")
    }
    assert json.loads(files["results.json"]) == results["report"]
    lines = b"".join(program.get(f"{at}/responses.jsonl").streaming_content).splitlines()
    assert [json.loads(line) for line in lines] == [
        json.loads(line) for line in files["responses.jsonl"].splitlines()
    ]
    assert len({json.loads(line)["unit"] for line in lines}) == UnitResponse.objects.count() > 0
    for address in ("results", "responses.jsonl"):
        assert program_of(owner, Scope.COLLECT).get(f"{at}/{address}").status_code == 403
