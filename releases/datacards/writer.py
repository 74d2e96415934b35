"""The files that describe a release: data card, Croissant, citation."""

from collections.abc import Callable, Mapping
from pathlib import Path

from releases.datacards.card import card
from releases.datacards.croissant import croissant
from releases.datacards.facts import Facts
from releases.datacards.head import citation


def describe(folder: Path, facts: Facts) -> tuple[str, ...]:
    """Write them into the release's folder; their names."""

    texts: Mapping[str, Callable[[Facts], str]] = {
        "README.md": card,
        "croissant.json": croissant,
        "CITATION.cff": citation,
    }
    for name, make in texts.items():
        (folder / name).write_text(make(facts), encoding="utf-8", newline="\n")
    return tuple(texts)
