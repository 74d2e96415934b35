"""What the fields of a unit are called in the page."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from crowd.models import Hit

_Value = TypeVar("_Value")


def names_in_page(hit: Hit, units: Sequence[str]) -> dict[str, str]:
    """By unit, what stands before the bar in the names of its fields: its place in the HIT.

    Nothing that a worker's browser receives has the unit itself, whose name says whether it is a check and in
    what order things were stored.
    """
    places = dict(hit.units.values_list("unit", "position"))
    return {unit: str(places[unit]) for unit in units if unit in places}


def with_places(hit: Hit, fields: Mapping[str, _Value]) -> dict[str, _Value]:
    """Fields as pages name them now; some may come from a page that still named them after their units."""
    old = {name for name in fields if name.partition("|")[0] and not name.partition("|")[0].isdecimal()}
    if not any("|" in name for name in old):
        return dict(fields)
    places = dict(hit.units.values_list("unit", "position"))
    renamed = {name: _with_place(name, places) if name in old else name for name in fields}
    return {renamed[name]: value for name, value in fields.items()}


def _with_place(name: str, places: Mapping[str, int]) -> str:
    unit, bar, rest = name.partition("|")
    return f"{places[unit]}{bar}{rest}" if bar and unit in places else name
