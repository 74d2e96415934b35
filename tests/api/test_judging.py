"""Judging by the API: answers of systems, filters, agreement, scores, a release and its evaluation."""

import json

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from core.jobs import runner
from core.projects.selectors import pseudonym
from crowd.models import Assignment, Worker
from crowd.selectors.pseudonyms import worker_pseudonyms
from crowd.services.endpoints import create_endpoint
from crowd.services.sources import SourcePlan, set_sources
from judgments.models import Candidate, FilterRun, Judgment
from tests.api.conftest import Program, is_problem, program_of
from tests.judgments.desk_world import check, judge, make_place, people

ANSWERS = b"query_id,system,answer\nq1,b,another answer\nq9,b,lost\n"


@pytest.fixture
def place(db):
    """An open judging stage with three judges who agree, and one who fails every check."""
    place = make_place(status="open", redundancy=4)
    people(place)
    scores = (("q1", 5), ("q2", 1))
    judge(place, [(item, worker, score) for item, score in scores for worker in ("A", "B", "C")])
    judge(place, [("q1", "SPAM", 1), ("q2", "SPAM", 5)])
    for name in ("A", "B", "C", "SPAM"):
        check(place, name, [name != "SPAM"] * 4)
    return place


@pytest.fixture
def program(place) -> Program:
    return program_of(User.objects.get(username="owner"))


@pytest.fixture
def at(place):
    return f"/projects/{place.project.slug}/stages/{place.stage.slug}"


def done(answer):
    assert answer.status_code == 202, answer.content
    runner.run(job_id=answer.json()["job"])


def test_systems_and_their_answers_are_listed_and_imported(program, place):
    project = f"/projects/{place.project.slug}"
    (system,) = program.get(f"{project}/systems").json()["items"]
    assert (system["name"], system["answers"], system["judgments"]) == ("a", 2, 8)
    found = program.get(f"{project}/candidates?system=a").json()["items"]
    assert [(row["query_key"], row["judgments"]) for row in found] == [("q1", 4), ("q2", 4)]
    assert program.lines(f"{project}/candidates") == found
    upload = program.ask("PUT", f"{project}/uploads?name=b.csv", ANSWERS).json()["sha256"]
    done(program.post(f"{project}/candidate-imports", {"upload": upload}))
    assert Candidate.objects.filter(system__name="b").count() == 1
    (source,) = program.get(f"{project}/candidate-imports").json()["items"]
    assert source["report"]["refused"] == 1
    number = Candidate.objects.get(system__name="b").pk
    one = f"{project}/candidates/{number}"
    out = program.patch(one, {"aside": "withdrawn", "reason": "Broken."}).json()
    assert (out["aside"], out["aside_reason"]) == ("withdrawn", "Broken.")
    assert program.patch(one, {"aside": "", "reason": "It is whole."}).json()["aside"] == ""


def test_filters_are_previewed_applied_and_undone(program, at, place):
    wish = {"recipe": "default", "parameters": {"rules": ["checks", "kappa"]}}
    preview = program.post(f"{at}/filters/preview", wish).json()
    assert (preview["removed_workers"], preview["removed_ratings"], preview["seen"]) == (1, 2, 0)
    assert FilterRun.objects.count() == 0
    done(program.post(f"{at}/filters", {**wish, "seen": 0, "seed": 7}))
    (run,) = program.get(f"{at}/filters").json()["items"]
    assert (run["state"], run["counts"]["removed_ratings"], run["seed"]) == ("in force", 2, 7)
    is_problem(program.post(f"{at}/filters", {**wish, "seen": 0}), 409, "filters_changed")
    kept = program.lines(f"{at}/judgments.jsonl?kept=true")
    every = program.lines(f"{at}/judgments.jsonl")
    assert (len(kept), len(every)) == (6, 8)
    spam = pseudonym(place.project, "SPAM")
    assert spam in {row["worker"] for row in every} and spam not in {row["worker"] for row in kept}
    scores = program.lines(f"{at}/scores.jsonl")
    assert [(row["query_key"], row["mean"], row["n_kept"], row["n_raw"]) for row in scores] == [
        ("q1", 5.0, 3, 4),
        ("q2", 1.0, 3, 4),
    ]
    undone = program.post(f"{at}/filters/{run['id']}/undo", {"reason": "Too strict."}).json()
    assert (undone["state"], undone["reason"]) == ("undone", "Too strict.")
    assert {row["n_kept"] for row in program.lines(f"{at}/scores.jsonl")} == {4}


def test_the_same_id_at_two_kinds_of_panels_is_two_people_in_lines(program, at, place):
    def named():
        rows = program.lines(f"{at}/judgments.jsonl")
        return {(row["worker"], row["person"]) for row in rows if row["worker"] == name}

    name = pseudonym(place.project, "A")
    assert named() == {(name, name)}
    links = create_endpoint(name="links", preset="link", access_key="", secret="")
    set_sources(
        stage=place.stage, plans=[SourcePlan(place.stage.endpoint, share=1), SourcePlan(links, share=1)]
    )
    guest = Worker.objects.create(endpoint=links, external_id="A", first_seen_at=timezone.now())
    row = Judgment.objects.filter(worker__external_id="A").order_by("pk").last()
    Assignment.objects.filter(pk=row.assignment_id).update(worker=guest)
    Judgment.objects.filter(pk=row.pk).update(worker=guest)
    other = worker_pseudonyms(place.project, [guest.pk])[guest.pk]
    assert other != name and named() == {(name, name), (name, other)}
    listed = program.get(f"/projects/{place.project.slug}/workers").json()["items"]
    assert {(row["pseudonym"], row["person"]) for row in listed if row["worker"] == "A"} == named()


def test_agreement_has_figures_or_their_reasons_and_a_report_on_request(program, at):
    for address in (f"{at}/filters/preview", f"{at}/filters"):
        is_problem(program.post(address, {"recipe": "magic"}), 422, "filters_refused")
    is_problem(program.get(f"{at}/results"), 404, "not_found")
    now = program.get(f"{at}/agreement").json()
    assert now["counts"] == {"judgments": 8, "items": 2, "workers": 4}
    assert all(each["value"] is not None or each["reason"] for each in now["figures"].values())
    assert now["report"] is None
    done(program.post(f"{at}/agreement"))
    made = program.get(f"{at}/agreement").json()
    assert made["report_is_fresh"] and made["report"]["alpha"]


def test_a_release_is_built_downloaded_and_evaluated(program, place):
    project = f"/projects/{place.project.slug}"
    made = program.post(f"{project}/releases", {"formats": ["jsonl"], "notes": "The first."})
    assert made.status_code == 202, made.content
    runner.run(job_id=made.json()["job"])
    found = program.get(f"{project}/privacy/findings").json()["items"]
    decision = {"ids": [each["id"] for each in found], "decision": "accept"}
    is_problem(program.post(f"{project}/privacy/decisions", decision), 422, "invalid")
    decided = program.post(f"{project}/privacy/decisions", decision | {"reason": "Nobody is named."})
    assert decided.json() == {"done": len(found)}
    done(program.post(f"{project}/releases/1.0.0/retry"))
    release = program.get(f"{project}/releases/1.0.0").json()
    assert (release["state"], release["error"]) == ("ready", "")
    assert (release["state"], release["notes"]) == ("ready", "The first.")
    manifest = next(each for each in release["files"] if each["path"].endswith("manifest.json"))
    file = program.get(f"{project}/releases/1.0.0/files/{manifest['path']}")
    assert file.status_code == 200 and json.loads(file.getvalue())
    is_problem(program.get(f"{project}/releases/1.0.0/files/secrets"), 404, "not_found")
    is_problem(program.post(f"{project}/releases", {"formats": ["word"]}), 422, "invalid")
    for unknown in ({"metrics": ["blue"]}, {"profile": "mine"}, {"protocols": ["ours"]}):
        refused = program.post(f"{project}/releases/1.0.0/evaluations", unknown)
        is_problem(refused, 422, "evaluation_refused")
    begun = program.post(
        f"{project}/releases/1.0.0/evaluations", {"metrics": ["length"], "replicates": 0, "draws": 99}
    )
    assert begun.status_code == 202, begun.content
    assert program.post(f"{project}/releases/1.0.0/evaluations/1/cancel").json()["state"] == "cancelled"
    assert [row["state"] for row in program.get(f"{project}/evaluations").json()["items"]] == ["cancelled"]
    for public in (True, False):
        assert program.patch(f"{project}/releases/1.0.0", {"public": public}).json()["public"] is public
    gone = program.post(f"{project}/releases/1.0.0/withdraw", {"reason": "An error."}).json()
    assert gone["state"] == "withdrawn"
    is_problem(program.get(f"{project}/releases/1.0.0/archive"), 404, "withdrawn")
