"""JSON columns of the database as a release has them, decoded only where something is in them."""

import json
from collections.abc import Iterable
from typing import Any

from django.db.models import TextField
from django.db.models.functions import Cast

from releases.scope import fit

#: An empty list, as `as_text` has it.
NONE_MARKED = "[]"
_EMPTY = len(NONE_MARKED)


def as_text(name: str) -> Cast:
    """A JSON column as the database writes it; `decoded` reads it."""
    return Cast(name, TextField())


def decoded(text: str | None) -> Any:
    """The value of a column that was read with `as_text`; None for an empty list or object."""
    return json.loads(text) if text is not None and len(text) > _EMPTY else None


def entities_of(marked: Any, text: str) -> list[dict[str, Any]]:
    """Spans that a writer marked, with the words as they are published; what is no span is passed over."""
    entities = []
    for each in marked if isinstance(marked, list) else ():
        start, end = (each.get("start"), each.get("end")) if isinstance(each, dict) else (None, None)
        if isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(text):
            entities.append({"start": start, "end": end, "text": text[start:end]})
    return entities


def marked_in(text: str, marked: str | None) -> list[dict[str, Any]]:
    """`entities_of` a column that was read with `as_text`."""
    spans = decoded(marked)
    return entities_of(spans, text) if spans else []


def aspects_of(scores: Any) -> list[dict[str, Any]]:
    """Scores of further aspects by name, which databases give back in different orders."""
    pairs: Iterable[tuple[Any, Any]] = sorted(scores.items()) if isinstance(scores, dict) else ()
    return [{"name": fit(name), "score": score} for name, score in pairs if isinstance(score, int)]
