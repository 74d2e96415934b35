"""Names of units in the stages of this app: `query:17`, and `check:…` for attention checks."""

PREFIX = "query:"


def of_query(pk: int) -> str:
    """The unit of a query."""
    return f"{PREFIX}{pk}"


def query_of(unit: str) -> int:
    """The query of a unit; ValueError where the unit is not one of a query."""
    if not unit.startswith(PREFIX):
        raise ValueError(f"{unit!r} is not the unit of a query.")
    return int(unit.removeprefix(PREFIX))
