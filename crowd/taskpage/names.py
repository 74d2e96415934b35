"""What the fields of a unit are called in the page."""

from collections.abc import Sequence

from crowd.kinds import kind_of
from crowd.models import Hit


def names_in_page(hit: Hit, units: Sequence[str]) -> dict[str, str]:
    """By unit, what stands before the bar in the names of its fields.

    It is the unit itself, and for kinds that hide it the unit's place in the HIT: that says neither what is
    a check nor in what order things were stored.
    """
    if not kind_of(hit.stage).blind:
        return {unit: unit for unit in units}
    places = dict(hit.units.values_list("unit", "position"))
    return {unit: str(places[unit]) for unit in units if unit in places}
