"""What researchers read for the units of this app."""

from collections.abc import Iterable

from annotation.models import Query
from annotation.units import PREFIX, query_of


def texts_of(units: Iterable[str]) -> dict[str, str]:
    """The texts of the queries among these units, in one question to the database."""
    keys = {query_of(unit): unit for unit in units if unit.startswith(PREFIX)}
    rows = Query.objects.filter(pk__in=keys).values_list("pk", "text")
    return {keys[pk]: text for pk, text in rows}
