"""What programs did in place of people in a release, as every report of it says."""

from collections.abc import Mapping
from typing import Any

#: Tables whose rows people write or give, with the words for them.
_WORDS = {"answers": "answers", "ratings": "ratings", "scores": "human scores"}


def simulated_of(manifest: Mapping[str, Any]) -> dict[str, Any] | None:
    """Rows that programs made, by table, with the sentence that warns of them; None where people did it all.

    A release from before rows were counted says only that programs took part.
    """
    if not manifest.get("simulated"):
        return None
    given = manifest.get("simulated_rows")
    counted = given if isinstance(given, Mapping) else {}
    rows = {name: dict(counted[name]) for name in _WORDS if isinstance(counted.get(name), Mapping)}
    return {"what": _sentence(rows), "rows": rows}


def simulated_rows(count: int, total: int) -> dict[str, Any] | None:
    """The same of a plain table, of whose rows a column says so."""
    if not count:
        return None
    rows = {"rows": {"simulated": count, "of": total}}
    return {"what": _sentence(rows), "rows": rows}


def _sentence(rows: Mapping[str, Mapping[str, int]]) -> str:
    parts = [
        f"{each['simulated']:,} of {each['of']:,} {_WORDS.get(name, name)}" for name, each in rows.items()
    ]
    what = f": {', '.join(parts)}" if parts else ""
    return (
        f"SIMULATED DATA: programs took part in place of people{what}. "
        "These figures say nothing about people; do not use them as evidence."
    )
