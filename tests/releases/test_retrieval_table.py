"""How passages were found, from the candidate to the release: table, card, Croissant description."""

import json

import pytest
from django.db import DEFAULT_DB_ALIAS
from django.utils import timezone

from annotation.models import CandidatePassage
from releases.options import Options
from releases.row_reader import tables_of
from releases.scope import scope_of
from releases.tables import RETRIEVAL
from retrieval.models import Corpus
from tests.releases.test_building import built, rows

pytestmark = pytest.mark.django_db
KEPT = {
    "ranker": "balanced",
    "parameters": {"query_model": "cq2", "alpha": 0.75},
    "generation": {"index": 3, "network": 2},
    "rank": 4,
    "found_at": 9,
    "parts": {"bm25": 0.75, "coverage": 0.25},
    "raw": {"bm25": 7.5},
}


@pytest.fixture
def world(made_world):
    world = made_world
    better = world.passages["q1/p1"]
    more = [
        {"rank": 3, "key": "book-7", "retrieval": KEPT, "score": 0.9, "origin": "index:books"},
        {"rank": 4, "key": "book-8", "retrieval": KEPT | {"rank": 5}, "folded_into": better},
        {"rank": 5, "key": "book-9", "retrieval": KEPT | {"below": {"drawn": 2, "of": 40}, "rank": 61}},
    ]
    for fields in more:
        CandidatePassage.objects.create(
            query=world.queries["q1"], text="Found.", **{"origin": "index:books"} | fields
        )
    return world


def released(world):
    filled = tables_of(scope_of(world.project, Options(), DEFAULT_DB_ALIAS))["retrieval"]
    found = [dict(zip(RETRIEVAL.names, row, strict=True)) for batch in filled.batches() for row in batch]
    return {(row["query_id"], row["passage_id"]): row for row in found}


def test_every_candidate_has_a_row_with_how_it_was_found(world):
    row = released(world)["q1", "book-7"]
    assert row == {
        "query_id": "q1",
        "passage_id": "book-7",
        "rank": 3,
        "position": None,
        "origin": "index:books",
        "folded_into": "",
        "probability": 1.0,
        "score": 0.9,
        "ranker": "balanced",
        "search_rank": 4,
        "found_at": 9,
        "parts": [{"name": "bm25", "value": 0.75}, {"name": "coverage", "value": 0.25}],
        "raw": [{"name": "bm25", "value": 7.5}],
        "parameters": '{"alpha": 0.75, "query_model": "cq2"}',
        "generation": '{"index": 3, "network": 2}',
        "split": "train",
    }
    found = released(world)
    assert [found["q1", key]["position"] for key in ("p1", "p2")] == [1, 2]
    assert (found["q1", "p1"]["origin"], found["q1", "p1"]["ranker"]) == ("imported", "")
    assert (found["q1", "p1"]["parts"], found["q1", "p1"]["search_rank"]) == ([], None)
    assert (found["q1", "book-8"]["folded_into"], found["q1", "book-8"]["probability"]) == ("p1", 0.0)
    assert (found["q1", "book-9"]["probability"], found["q1", "book-9"]["search_rank"]) == (0.05, 61)


def test_only_released_queries_are_in_it_and_provenance_that_is_none_does_no_harm(world):
    odd = {"ranker": 7, "rank": "x", "parts": [1], "parameters": {}, "generation": None}
    CandidatePassage.objects.create(query=world.queries["q2"], rank=9, key="odd", text="Odd.", retrieval=odd)
    found = released(world)
    assert {query for query, _ in found} <= {query.key for query in world.queries.values()}
    row = found["q2", "odd"]
    assert (row["ranker"], row["search_rank"], row["parts"], row["parameters"]) == ("", None, [], "")


def test_all_formats_card_and_description_have_it(world, tmp_path):
    Corpus.objects.create(
        project=world.project, slug="books", title="Two <books>", licence="CC BY 4.0",
        attribution="OpenStax, Rice University", created_at=timezone.now(),
    )  # fmt: skip
    built(world, tmp_path / "a", Options(formats=("jsonl", "csv", "parquet")))
    found = {row["passage_id"]: row for row in rows(tmp_path / "a", RETRIEVAL) if row["query_id"] == "q1"}
    assert found["book-7"]["parts"][0] == {"name": "bm25", "value": 0.75}
    assert (tmp_path / "a/csv/retrieval-train.csv").read_text().count("balanced") == 3
    card = (tmp_path / "a/README.md").read_text()
    assert "## Where the passages come from" in card
    assert "| Two &lt;books&gt; | balanced | 3 | 1 | CC BY 4.0 |" in card
    assert "Two &lt;books&gt;: OpenStax, Rice University" in card
    assert "### `retrieval`" in card
    croissant = json.loads((tmp_path / "a/croissant.json").read_text())
    assert "retrieval" in {each["@id"] for each in croissant["recordSet"]}
