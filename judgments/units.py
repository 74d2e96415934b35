"""Names of units in the stages of this app: `candidate:17`, and `check:4` for attention checks."""

_CANDIDATE = "candidate:"
_CHECK = "check:"


def of_candidate(pk: int) -> str:
    """The unit of a candidate."""
    return f"{_CANDIDATE}{pk}"


def of_check(pk: int) -> str:
    """The unit of an attention check."""
    return f"{_CHECK}{pk}"


def is_check(unit: str) -> bool:
    """Whether the unit is an attention check."""
    return unit.startswith(_CHECK)


def candidate_of(unit: str) -> int:
    """The candidate of a unit; ValueError where the unit is not one of a candidate."""
    return _key(unit, _CANDIDATE)


def check_of(unit: str) -> int:
    """The attention check of a unit; ValueError where the unit is not one of a check."""
    return _key(unit, _CHECK)


def _key(unit: str, prefix: str) -> int:
    if not unit.startswith(prefix):
        raise ValueError(f"{unit!r} does not begin with {prefix!r}.")
    return int(unit.removeprefix(prefix))
