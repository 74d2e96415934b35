"""What is shown of the database, applied, changes nothing."""

import itertools
import tomllib

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.money import cents, dollars
from core.projects.services import create_project, set_role
from crowd.models import Endpoint
from crowd.services.endpoints import PRESETS, create_endpoint
from crowd.services.stages import create_stage
from crowd.study.documents import study_toml
from crowd.study.explain import table
from crowd.study.planning import plan
from crowd.study.reader import read
from crowd.study.schema import duration, seconds
from tests.scale import limit_cases

characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
texts = st.text(characters, min_size=1, max_size=40).filter(lambda text: text.strip())
rules = st.sampled_from(
    [
        {"kind": "country", "op": "In", "values": ["US", "US-PA"], "hide": "preview"},
        {"kind": "approval_rate", "op": "GreaterThanOrEqualTo", "values": [95], "hide": "accept"},
        {"kind": "adult", "op": "EqualTo", "values": [1], "hide": "discover"},
        {"kind": "raw", "op": "Exists", "values": ["3ABC"], "hide": "discover"},
    ]
)
stages = st.fixed_dictionaries(
    {
        "title": texts,
        "kind": st.just("poll"),
        "task_title": texts,
        "task_description": texts,
        "task_keywords": st.text(characters, max_size=20),
        "reward_cents": st.integers(0, 1_000_000),
        "redundancy": st.integers(1, 10_000),
        "units_per_hit": st.integers(1, 1000),
        "checks_per_hit": st.integers(0, 100),
        "max_hits_per_worker": st.none() | st.integers(1, 2**31 - 1),
        "expected_seconds": st.none() | st.integers(1, 6000).map(lambda tenths: tenths * 6),
        "work_seconds": st.integers(30, 365 * 86400),
        "open_seconds": st.integers(30, 365 * 86400),
        "auto_approve_seconds": st.integers(0, 30 * 86400),
        "eligibility": st.lists(rules, max_size=8),
        "approve_at_once": st.booleans(),
        "hold_failed_checks": st.booleans(),
        "seed": st.integers(-(2**62), 2**62),
        "budget_cents": st.integers(0, 1_000_000_000),
        "config": st.fixed_dictionaries(
            {
                "question": texts,
                "options": st.lists(texts, min_size=2, max_size=5),
                "items": st.lists(st.text(characters, max_size=20), min_size=1, max_size=12),
                "checks": st.dictionaries(st.text(characters, max_size=20), texts, max_size=4),
            }
        ),
    }
)
numbers = itertools.count()


@pytest.mark.long
@pytest.mark.django_db
@settings(
    max_examples=limit_cases(30),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    title=texts,
    licence=st.text(characters, max_size=20),
    money=st.tuples(st.integers(0, 1_000_000), st.integers(0, 1_000_000_000)),
    made=st.lists(stages, max_size=3),
    preset=st.sampled_from([*PRESETS, None]),
    label=st.text(characters, max_size=20),
)
def test_what_is_shown_and_applied_changes_nothing(write, title, licence, money, made, preset, label):
    with transaction.atomic():
        url = "" if preset else "https://market.example.org/api"
        endpoint = create_endpoint(
            name="there", access_key="k", secret="s", preset=preset, url=url, label=label
        )
        project = create_project(
            slug="p",
            title=title,
            licence=licence,
            wage_floor_cents=money[0],
            budget_cents=money[1],
            owner=User.objects.create_user(f"ada{next(numbers)}"),
        )
        for number, fields in enumerate(made):
            earlier = [f"stage-{before}" for before in range(number)]
            create_stage(
                project=project, slug=f"stage-{number}", endpoint=endpoint, apart_from=earlier, **fields
            )
        study = read(write(study_toml(project)))
        found = plan(study, {}, to_apply=True)
        assert [change.fields for change in found.changes if change.action != "unchanged"] == []
        transaction.set_rollback(True)


@pytest.mark.django_db
def test_names_of_people_that_need_quotes_are_quoted(write):
    project = create_project(slug="p", title="P")
    for name in ("mira.k@example.org", "plain"):
        set_role(project=project, user=User.objects.create_user(name), role="owner")
    text = study_toml(project)
    assert '"mira.k@example.org" = "owner"\nplain = "owner"' in text
    assert plan(read(write(text)), {}, to_apply=True).empty


@pytest.mark.django_db
def test_keys_are_never_shown(write, applied, example):
    applied(example)
    text = study_toml(Endpoint.objects.get().stages.get().project)
    assert "DSTLAAAA" not in text
    assert "a secret" not in text


@pytest.mark.long
@given(
    st.recursive(
        st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(characters, max_size=8),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text(characters, max_size=6), inner, max_size=4)
        ),
        max_leaves=12,
    ).map(lambda value: {"value": value, "table": {"inner": value}})
)
def test_whatever_json_holds_is_written_as_toml_that_reads_the_same(data):
    assert tomllib.loads("\n".join(table("t", data)))["t"] == data


@given(st.integers(0, 10**8))
def test_amounts_and_durations_read_as_they_are_written(number):
    assert cents(dollars(number)) == number
    assert seconds(duration(number)) == number


def test_durations_are_written_in_the_largest_whole_unit_and_anything_else_is_none():
    written = {0: "0s", 59: "59s", 90: "90s", 1800: "30m", 5400: "90m", 7200: "2h", 604800: "7d"}
    assert {number: duration(number) for number in written} == written
    for text in ("", "30", "m", "1.5h", "-1h", "1h30m", "1 h", "٣m", "1H"):
        with pytest.raises(ValueError, match="is not a duration"):
            seconds(text)
