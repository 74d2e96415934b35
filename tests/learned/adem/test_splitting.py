import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distillery_learned.training.sources import folds, split
from metrics.errors import MetricError
from tests.scale import limit_cases

KEYS = [f"q{number % 40}" for number in range(120)]


def sides(keys, parts):
    return [{keys[row] for row in part} for part in (parts.train, parts.validation, parts.test)]


def test_the_parts_share_no_context_and_hold_every_row_once():
    parts = split(KEYS, seed=3)
    train, validation, test = sides(KEYS, parts)

    assert (len(train), len(validation), len(test)) == (28, 6, 6)
    assert not train & validation and not train & test and not validation & test
    assert sorted([*parts.train, *parts.validation, *parts.test]) == list(range(120))


def test_each_context_is_tested_in_one_fold_and_no_part_knows_another():
    found = folds(KEYS, 5, seed=3)

    assert sorted(row for parts in found for row in parts.test) == list(range(120))
    for parts in found:
        train, validation, test = sides(KEYS, parts)
        assert (len(train), len(validation), len(test)) == (27, 5, 8)
        assert not train & validation and not train & test and not validation & test


def test_the_order_of_rows_and_other_rows_of_a_context_have_no_part_in_it():
    first = sides(KEYS, split(KEYS, seed=3))

    assert sides(KEYS[::-1], split(KEYS[::-1], seed=3)) == first
    assert sides(KEYS[:40], split(KEYS[:40], seed=3)) == first
    assert sides(KEYS, split(KEYS, seed=4)) != first


@settings(max_examples=limit_cases(100))
@given(st.lists(st.integers(0, 9), min_size=1), st.integers(0, 5))
def test_any_keys_are_dealt_apart(keys, seed):
    train, validation, test = sides(keys, split(keys, seed))

    assert not train & validation and not train & test and not validation & test
    assert train | validation | test == set(keys)


def test_wrong_shares_and_too_many_folds_are_refused():
    with pytest.raises(MetricError, match="add up to 1"):
        split(KEYS, 0, (0.5, 0.1, 0.1))
    with pytest.raises(MetricError, match="2 contexts cannot be dealt into 3 parts"):
        folds(["a", "b", "a"], 3, 0)
