"""How a candidate passage was found, from what it keeps of its search, for people to read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotation.retrieval_options import drawn_below

_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who ranked it and where it stood; parts of the score, options and states as pairs of name and words.

    `found_at` is where the index had it by BM25, `raw` are the parts before they were made comparable;
    `below` says that it was drawn from below the cut, and of how many.
    """

    ranker: str
    rank: int | None
    found_at: int | None
    parts: tuple[tuple[str, str], ...]
    raw: tuple[tuple[str, str], ...]
    parameters: tuple[tuple[str, str], ...]
    generation: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    below: str


def provenance_of(kept: Any) -> Provenance | None:
    """Of `CandidatePassage.retrieval`; None where nothing is known, as for imported ones."""
    if not isinstance(kept, dict) or not kept.get("ranker"):
        return None
    below = drawn_below(kept)
    notes = kept.get("notes")
    return Provenance(
        ranker=str(kept["ranker"]),
        rank=kept["rank"] if isinstance(kept.get("rank"), int) else None,
        found_at=kept["found_at"] if isinstance(kept.get("found_at"), int) else None,
        parts=tuple(_pairs(kept.get("parts"))),
        raw=tuple(_pairs(kept.get("raw"))),
        parameters=tuple(_pairs(kept.get("parameters"))),
        generation=tuple(_pairs(kept.get("generation"))),
        notes=tuple(str(note) for note in notes) if isinstance(notes, list) else (),
        below=f"one of {below[0]} drawn at random from {below[1]:,} below the cut" if below else "",
    )


def _pairs(found: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """Names and values in the order of the names, those in an inner object with its name before them."""
    if not isinstance(found, Mapping):
        return
    for name, value in sorted(found.items()):
        words = f"{before}{name}".replace("_", " ")
        if isinstance(value, Mapping):
            yield from _pairs(value, f"{words}: ")
        elif isinstance(value, float):
            yield words, f"{value:.{_DIGITS}g}"
        else:
            yield words, str(value)
