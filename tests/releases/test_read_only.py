"""A read-only project: its data come from elsewhere, so nothing is collected or changed in it."""

import csv

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from annotation.models import Query
from annotation.services import queries
from annotation.services.importing import ImportRefusedError, import_queries
from annotation.services.review_decisions import draw
from annotation.services.staged_files import stage as stage_upload
from core.projects.services import ProjectError, change_project, set_budget
from crowd.errors import ReadOnlyError
from crowd.services.stages import create_stage
from judgments.models import Candidate, System
from judgments.selectors.candidates import systems
from judgments.selectors.scores import JudgedQueries, count_judged_queries
from judgments.services import candidates
from judgments.services.imports import import_candidates
from releases.score_imports import import_scores
from retrieval.errors import CorpusError
from retrieval.services.corpora import create_corpus
from tests.releases.test_import_scores import TWO_SYSTEMS, write

pytestmark = pytest.mark.django_db
WHY = "is read-only: its data come from elsewhere and stay as they are."


@pytest.fixture
def ada():
    return get_user_model().objects.create_user("ada")


@pytest.fixture
def project(tmp_path, ada):
    return import_scores(path=write(tmp_path / "scores.csv", TWO_SYSTEMS), owner=ada).project


def test_it_takes_no_stage_import_or_money_but_better_words(project, tmp_path):
    with pytest.raises(ReadOnlyError, match=WHY):
        create_stage(project=project, slug="judging", kind="judging")
    assert not project.stages.exists()
    log = write(tmp_path / "log.csv", [["query"], ["another question"]])
    with pytest.raises(ImportRefusedError, match=WHY):
        import_queries(project=project, path=log)
    with pytest.raises(ImportRefusedError, match=WHY):
        import_candidates(project=project, path=log)
    with pytest.raises(ImportRefusedError, match=WHY):
        stage_upload(project=project, name="log.csv", pieces=[b"query\n"])
    with pytest.raises(CorpusError, match=WHY):
        create_corpus(project=project, slug="books")
    assert Query.objects.count() == 2
    with pytest.raises(ProjectError, match=WHY):
        set_budget(project=project, budget_cents=100)
    with pytest.raises(ProjectError, match=WHY):
        change_project(project=project, changes={"wage_floor_cents": 1})
    change_project(project=project, changes={"licence": "CC-BY-4.0", "title": "Kitchen"})
    project.refresh_from_db()
    assert (project.licence, project.title) == ("CC-BY-4.0", "Kitchen")


def test_its_queries_and_answers_stay_as_they_are(project, ada):
    candidate, system, query = Candidate.objects.first(), System.objects.first(), Query.objects.first()
    for change in (
        lambda: candidates.withdraw(candidate=candidate, reason="wrong", actor=ada),
        lambda: candidates.put_back(candidate=candidate, reason="right", actor=ada),
        lambda: candidates.put_back_copies(system=system, reason="right", actor=ada),
        lambda: candidates.human_candidates(project),
        lambda: candidates.refresh_exact(project),
        lambda: queries.withdraw(query=query, reason="wrong", actor=ada),
        lambda: queries.put_back(query=query, reason="right", actor=ada),
        lambda: draw(project=project, people=1, seed=1),
    ):
        with pytest.raises(ReadOnlyError, match=WHY):
            change()
    assert not Candidate.objects.exclude(aside="").exists()


def test_its_pages_offer_its_owner_nothing_to_collect(client, project, ada, tmp_path):
    client.force_login(ada)
    for page in ("desk:project", "judgments:systems", "annotation:queries"):
        shown = client.get(reverse(page, args=[project.slug]))
        assert shown.status_code == 200
        words = shown.content.decode()
        for offer in ("New stage", "Import answers", "Import queries", "Change the budget"):
            assert offer not in words, page
    with write(tmp_path / "log.csv", [["query"], ["another question"]]).open("rb") as file:
        shown = client.post(reverse("annotation:import_new", args=[project.slug]), {"file": file})
    assert shown.status_code == 422
    assert WHY in shown.content.decode().replace("&#x27;", "'")


def test_its_scores_are_counted_where_judgments_are(client, project, ada):
    assert count_judged_queries(project) == JudgedQueries(queries=2, scored=2)
    first, second = systems(project)
    assert [(each.judged, each.judgments, each.mean) for each in (first, second)] == [
        (2, 0, pytest.approx(4.8)),
        (2, 0, pytest.approx(1.125)),
    ]
    client.force_login(ada)
    address = reverse("judgments:system_csv", args=[project.slug, first.system.pk])
    rows = list(csv.DictReader(client.get(f"{address}?order=mean").getvalue().decode().splitlines()))
    assert [(row["mean"], row["simulated"]) for row in rows] == [("5.0", "false"), ("4.6", "false")]
