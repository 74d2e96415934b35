"""Scores out of fold as columns: a row for each row of the tables, in their order."""

from collections.abc import Iterator, Sequence

import numpy as np

from evaluations.scores import Part
from evaluations.training.sources import Material
from evaluations.training.study import CrossValidation
from metrics.metaeval.data import Floats, ScoredAnswers

_LINE = "line"


def parts_of(material: Material, judged: ScoredAnswers, crossed: CrossValidation) -> Iterator[Part]:
    """Row, line, id, fold, then people, trained forms and other metrics, empty in rows that are not used."""
    places = material.places
    used = np.array([place.used for place in places])
    texts: dict[str, Sequence[str | int | None]] = {"row": _rows(material)}
    if len(material.sources) > 1:
        texts["source"] = [material.sources[place.source].title for place in places]
    units = {source.unit for source in material.sources}
    if any(units):
        texts[units.pop() if len(units) == 1 else _LINE] = [place.line for place in places]
    if any(place.id for place in places):
        texts["id"] = [place.id for place in places]
    fold = np.zeros(len(places), dtype=np.intp)
    fold[used] = crossed.fold + 1
    texts["fold"] = [number or None for number in fold.tolist()]

    def spread(values: Floats) -> Floats:
        found = np.full(len(places), np.nan)
        found[used] = values
        return found

    values = {"human": judged.human, **crossed.scores, **judged.metrics}
    yield texts, {name: spread(column) for name, column in values.items()}


def _rows(material: Material) -> list[int]:
    """Numbers from 1 within each table."""
    counts = [0] * len(material.sources)
    found = []
    for place in material.places:
        counts[place.source] += 1
        found.append(counts[place.source])
    return found
