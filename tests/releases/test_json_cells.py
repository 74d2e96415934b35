"""Cells of JSON are made column by column, with the bytes that one value after the other gives."""

import random

import pyarrow as pa
import pytest
from pydantic_core import to_json

from releases.formats.arrow import json_texts, type_of
from releases.tables import RECORDS, Kind

TEXTS = [
    None,
    "",
    "plain",
    'quo"te',
    "back\\slash",
    "a\nb\tc",
    "\u2028\u0085",
    "क\u0301 \U0001f600",
    "\x01",
    ",}]",
]


def drawn(kind, chance):
    """A value of this kind; what is not known is None."""
    if kind == Kind.TEXT:
        return chance.choice(TEXTS)
    if kind == Kind.INTEGER:
        return chance.choice([None, 0, -7, 2**53])
    if kind == Kind.NUMBER:
        return chance.choice([None, 4.0, 0.1, -2.5e-9, 1e300, 3.3333333333333335])
    if kind == Kind.FLAG:
        return chance.choice([True, False])
    inner = {Kind.INTEGERS: Kind.INTEGER, Kind.NAMES: Kind.TEXT}.get(kind)
    if chance.random() < 0.15:
        return None
    count = chance.choice([0, 0, 1, 2, 5])
    if inner:
        return [drawn(inner, chance) for _ in range(count)]
    return [{name: drawn(field, chance) for name, field in RECORDS[kind]} for _ in range(count)]


LISTS = [kind for kind in Kind if kind not in {Kind.TEXT, Kind.INTEGER, Kind.NUMBER, Kind.FLAG}]


@pytest.mark.parametrize("kind", LISTS)
def test_cells_are_those_of_one_value_after_the_other(kind):
    chance = random.Random(kind.value)
    for size in (0, 1, 3, 40, 40, 40):
        values = pa.array([drawn(kind, chance) for _ in range(size + 6)], type_of(kind))
        for column in (values, values.slice(3, size)):
            expected = ["[]" if not each else to_json(each).decode() for each in column.to_pylist()]
            assert json_texts(column).to_pylist() == expected


def test_a_column_of_empty_lists_is_made_without_looking_at_each():
    empty = pa.array([[], None, []], type_of(Kind.ASPECTS))
    assert json_texts(empty).to_pylist() == ["[]"] * 3
    assert json_texts(empty).type == pa.string()
