"""Surveys: several answers per query in one HIT, and queries that everybody gets."""

import pytest

from crowd.kinds import HitTerms, config_of, kind_of
from crowd.models import Exclusion
from crowd.services.arrivals import units_of
from crowd.services.publication import bundles_to_publish
from judgments.models import AttentionCheck
from judgments.units import candidate_of
from tests.judgments.judging_world import (
    make_project,
    make_stage,
    make_topics,
    pending,
    send,
    send_all,
    visitor,
)

pytestmark = pytest.mark.django_db


def survey(**values):
    """Six queries with the answers of three systems."""
    project = make_project()
    make_topics(project, "a", "b", "c")
    given = {"units_per_hit": 6, "redundancy": 1, "checks_per_hit": 1, "config": {"shared_queries": 2}}
    return make_stage(project, **(given | values))


def queries_of(stage, units):
    return [kind_of(stage).together(stage, [unit])[unit] for unit in units]


def test_shared_answers_come_with_every_hit_wait_for_nobody_and_are_drawn_by_the_seed():
    stage = survey()
    shared = kind_of(stage).overlap(stage)
    assert len(shared) == 6
    assert len(set(queries_of(stage, shared))) == 2
    assert len(pending(stage)) == 12
    assert not set(pending(stage)).intersection(shared)
    others = [make_stage(stage.project, seed=seed, config=stage.config) for seed in (1, 1, 2, 3)]
    drawn = [kind_of(other).overlap(other) for other in others]
    assert drawn[0] == drawn[1]
    assert len({tuple(units) for units in drawn}) > 1
    most = make_stage(stage.project, config={"shared_queries": 50})
    assert len(pending(most)) == 3  # at least one query is left that is not shared


def test_a_hit_has_whole_queries_and_what_everybody_gets_and_a_check():
    stage = survey()
    made = bundles_to_publish(stage)
    assert len(made) == 2
    for bundle in made:
        roles = [role for _, role in bundle.units]
        queries = queries_of(stage, [unit for unit, role in bundle.units if role == "unit"])
        assert [queries.count(query) for query in set(queries)] == [3, 3]
        assert (roles.count("overlap"), roles.count("check")) == (6, 1)


def test_every_judge_has_an_order_of_their_own_with_answers_to_one_query_side_by_side():
    stage = survey()
    units = [unit for unit, _ in bundles_to_publish(stage)[0].units if unit.startswith("candidate:")]
    seen = []
    for worker in ("A1", "A2"):
        rosa = visitor(stage, *units, worker=worker)
        rosa.open()
        seen.append(units_of(rosa.row))
        queries = queries_of(stage, seen[-1])
        assert [len(set(queries[start : start + 3])) for start in range(0, len(queries), 3)] == [1] * 4
    assert seen[0] != seen[1]
    assert sorted(seen[0]) == sorted(seen[1]) == sorted(units)


def test_the_page_names_places_and_its_order_tells_nothing_about_systems():
    stage = survey()
    units = [unit for unit, _ in bundles_to_publish(stage)[0].units]
    rosa = visitor(stage, *units)
    page = rosa.open().content.decode()
    assert "candidate:" not in page
    keys = [candidate_of(unit) for unit in units if unit.startswith("candidate:")]
    assert keys != sorted(keys)
    assert send_all(rosa, {unit: {"score": "3"} for unit in units}).status_code == 200
    assert stage.judgments.count() == 12


def test_the_check_of_a_query_keeps_its_judge_from_writing_to_it_too():
    stage = survey(config={"reference_checks": 1, "foreign_checks": 0})
    (unit,) = kind_of(stage).checks(stage)
    send(visitor(stage, unit), unit, score="5")
    query = AttentionCheck.objects.get().query_id
    assert list(Exclusion.objects.values_list("scope", flat=True)) == [f"query:{query}:distil"]


def test_a_survey_of_responses_calls_them_so_on_the_page_and_in_the_list():
    stage = survey(config={"shared_queries": 2, "wording": "dialogue", "reference": "none"})
    units = [unit for unit, _ in bundles_to_publish(stage)[0].units]
    page = visitor(stage, *units).open().content.decode()
    assert "The last message" in page
    assert "The response" in page
    assert "Predicted answer" not in page
    listing = kind_of(stage).listing(HitTerms(units=4, minutes=70, config=config_of(stage)))
    assert listing.title == "Judge responses in dialogues (about 70 minutes)"
