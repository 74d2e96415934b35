"""The agreement report of a stage whose judges came from several sources: page, CSV, JSON, API, card."""

import csv
import json

import pytest
from django.core.cache import cache
from django.urls import reverse
from django.utils import timezone

from crowd.models import Endpoint, StageSource, Worker
from judgments.models import AgreementReport
from judgments.services import reports
from releases.facts import _by_source
from tests.crowd.sources.worlds import make_links
from tests.judgments.desk_world import as_, judge, make_place, people
from tests.taskpage.world import text as words

pytestmark = pytest.mark.django_db
#: Twelve answers; three judges of the marketplace see all, two of the links all, and one of the pool three.
_SCORES = {"M1": 0, "M2": 0, "M3": 1, "L1": 0, "L2": 2, "P1": 1}


@pytest.fixture
def place():
    """A stage with three sources and its report."""
    cache.clear()
    place = make_place()
    people(place)
    places = [(f"q{number}", 1 + number % 3) for number in range(12)]
    judge(
        place,
        [
            (query, who, base + more)
            for query, base in places
            for who, more in _SCORES.items()
            if who != "P1" or query in {"q0", "q1", "q2"}
        ],
    )
    for name, letter in (("links", "L"), ("pool", "P")):
        endpoint = make_links(name)
        Worker.objects.filter(external_id__startswith=letter).update(endpoint=endpoint)
    own = place.stage.endpoint
    for position, endpoint in enumerate([own, *Endpoint.objects.exclude(pk=own.pk).order_by("name")]):
        StageSource.objects.create(
            stage=place.stage, endpoint=endpoint, position=position, share=1, created_at=timezone.now()
        )
    reports.keep(reports.make(place.stage, lambda *_: None))
    return place


def at(place, name, **parts):
    return reverse(f"judgments:{name}", args=[place.project.slug, place.stage.slug, *parts.values()])


def test_the_page_its_files_the_project_and_the_card_break_down_by_source(place):
    said = AgreementReport.objects.get().report
    rows = {row["source"]: row for row in said["sources"]}
    own = place.stage.endpoint.name
    assert list(rows) == [own, "links", "pool"]
    assert [rows[name]["n_ratings"] for name in rows] == [36, 24, 3]
    assert sum(row["n_ratings"] for row in rows.values()) == said["n_ratings"] == 63
    assert sum(row["n_workers"] for row in rows.values()) == said["n_workers"] == 6
    assert rows[own]["mean"] == pytest.approx(2 + 1 / 3)
    assert rows["pool"]["alpha"] is None
    page = words(as_("viewer").get(at(place, "agreement")))
    assert "Agreement by source" in page
    low, high = rows["links"]["ci"]
    assert f"{rows['links']['alpha']:.3f} {low:.3f} to {high:.3f}" in page
    assert rows["pool"]["reason"]["alpha"] in page
    answer = as_("viewer").get(at(place, "figure_csv", figure="sources")).content.decode().splitlines()
    assert answer[0].startswith("# krippendorff-alpha-by-source|")
    table = list(csv.DictReader(answer[1:]))
    alpha = next(row for row in table if (row["source"], row["figure"]) == ("links", "alpha"))
    assert (float(alpha["value"]), float(alpha["low"])) == (rows["links"]["alpha"], low)
    whole = json.loads(as_("viewer").get(at(place, "report_json")).getvalue())
    assert whole["sources"] == said["sources"]
    address = reverse("desk:agreement", args=[place.project.slug])
    page = words(as_("viewer").get(address))
    assert "from links 24 judgments by 2 judges" in page
    answer = as_("viewer").get(address, {"format": "csv"}).getvalue().decode()
    assert "24 judgments by 2 judges" in answer
    report = AgreementReport.objects.get().report
    own, links, pool = _by_source("judging", report)
    assert (links.judgments, links.workers, links.shared) == (24, 2, 12)
    assert links.alpha.value == report["sources"][1]["alpha"]
    assert own.flagged is None  # no filter is in force
    assert pool.reason


def test_a_stage_of_one_source_has_no_such_part():
    cache.clear()
    alone = make_place()
    people(alone)
    judge(alone, [("q1", who, 3) for who in ("A", "B")])
    reports.keep(reports.make(alone.stage, lambda *_: None))
    assert "sources" not in AgreementReport.objects.get().report
    assert "Agreement by source" not in words(as_("viewer").get(at(alone, "agreement")))
    assert as_("viewer").get(at(alone, "figure_csv", figure="sources")).status_code == 404
