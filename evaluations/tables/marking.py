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
    parts = [f"{each['simulated']:,} of {each['of']:,} {_WORDS[name]}" for name, each in rows.items()]
    what = f": {', '.join(parts)}" if parts else ""
    sentence = (
        f"SIMULATED DATA: programs took part in place of people{what}. "
        "These figures say nothing about people; do not use them as evidence."
    )
    return {"what": sentence, "rows": rows}
