"""Agreement inside groups of ratings: against krippendorff on each alone, and null where it would mislead."""

import krippendorff
import numpy as np
import pytest

from metrics.agreement.breakdown import LEAST_IN_GROUPS, NO_CHECKS, NO_FILTER
from metrics.agreement.data import RatingGroups, Ratings
from metrics.agreement.filters import Checks
from metrics.agreement.recipes import DEFAULT, NONE
from metrics.agreement.report import report
from tests.metrics.agreement.made import crowd

RATINGS = crowd(items=60, workers=12, per_item=6)
#: Eight workers are from the first source, three from the second, one from the third.
SOURCES = RatingGroups(np.array([0] * 8 + [1] * 3 + [2])[RATINGS.workers], ["market", "links", "pool"])
CHECKS = Checks(np.full(12, 4), np.array([0] * 8 + [4] * 3 + [0]))


def rows_of(recipe=NONE, **more):
    said = report(RATINGS, recipe, sources=SOURCES, **{"replicates": 60, "splits": 3, **more})
    return said, {row["source"]: row for row in said["sources"]}


def only(ratings: Ratings, code: int) -> Ratings:
    return ratings.only(SOURCES.codes == code)


def table_of(ratings: Ratings):
    table = np.full((ratings.n_workers, ratings.n_items), np.nan)
    table[ratings.workers, ratings.items] = ratings.scores
    return table[~np.isnan(table).all(axis=1)]


def test_each_source_has_the_alpha_and_mean_of_its_own_ratings():
    _, rows = rows_of()
    for code, name in enumerate(SOURCES.names[:2]):
        own = only(RATINGS, code)
        expected = krippendorff.alpha(reliability_data=table_of(own), level_of_measurement="interval")
        assert rows[name]["alpha"] == pytest.approx(expected)
        assert rows[name]["mean"] == pytest.approx(own.scores.mean())
        low, high = rows[name]["ci"]
        assert low < expected < high


def test_ratings_and_workers_add_up_and_items_are_counted_in_each():
    said, rows = rows_of(DEFAULT, checks=CHECKS)
    for name in ("n_ratings", "n_workers"):
        assert sum(row[name] for row in rows.values()) == said[name]
    assert sum(row["flagged"] for row in rows.values()) == said["removed"]["removed"]
    assert [row["n_ratings"] for row in said["removed"]["by_source"]] == [
        row["n_ratings"] for row in rows.values()
    ]
    assert sum(row["n_items"] for row in rows.values()) > said["n_items"]
    assert rows["pool"]["items_with_others"] == rows["pool"]["n_items"]


def test_what_filters_and_checks_say_of_a_source():
    _said, rows = rows_of(DEFAULT, checks=CHECKS)
    assert (rows["links"]["flagged_share"], rows["links"]["mean_kept"]) == (1, None)
    assert rows["links"]["failed_checks_share"] == 1
    assert rows["market"]["failed_checks_share"] == 0
    assert rows["links"]["alpha"] is not None  # what people said, before any filter
    _, rows = rows_of()
    assert rows["links"]["reason"]["flagged_share"] == NO_FILTER
    assert rows["links"]["reason"]["failed_checks_share"] == NO_CHECKS


def test_alpha_of_too_few_shared_items_is_null_with_the_reason():
    _, rows = rows_of()
    assert rows["pool"]["alpha"] is None
    assert "one worker" in rows["pool"]["reason"]["alpha"]
    few = np.isin(RATINGS.items, np.arange(LEAST_IN_GROUPS - 1)) | (SOURCES.codes == 0)
    some = RATINGS.only(few)
    sources = RatingGroups(SOURCES.codes[few], SOURCES.names)
    said = report(some, NONE, sources=sources, replicates=20, splits=3)
    links = said["sources"][1]
    assert 1 < links["shared_items"] < LEAST_IN_GROUPS
    assert (links["alpha"], links["ci"]) == (None, None)
    assert f"alpha needs {LEAST_IN_GROUPS}" in links["reason"]["alpha"]
    assert links["reason"]["ci"] == links["reason"]["alpha"]


def test_the_same_seed_gives_the_same_rows_and_a_signature_says_which():
    one, other = rows_of(seed=7)[0], rows_of(seed=7)[0]
    assert one["sources"] == other["sources"]
    assert "krippendorff-alpha-by-source|level=interval" in one["signatures"]["sources"]
    assert "seed=7" in one["signatures"]["sources"]


def test_without_sources_the_report_is_what_it_was():
    said = report(RATINGS, NONE, replicates=0, splits=3)
    assert "sources" not in said
    assert "sources" not in said["signatures"]
    assert "by_source" not in said["removed"]


def test_a_source_without_ratings_has_a_row_of_nothing():
    sources = RatingGroups(SOURCES.codes, [*SOURCES.names, "late"])
    late = report(RATINGS, NONE, sources=sources, replicates=5, splits=3)["sources"][-1]
    assert (late["n_ratings"], late["n_workers"], late["mean"], late["alpha"]) == (0, 0, None, None)
    assert set(late["reason"]) >= {"mean", "alpha", "ci"}
