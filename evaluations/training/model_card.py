"""What a trained model's card and read-me say, and its scores out of fold as columns."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from evaluations.report.tables import between, short
from evaluations.scores import Part
from evaluations.training.adem import TrainedModel
from evaluations.training.sources import Material, Parts
from evaluations.training.study import CrossValidation, split_of
from evaluations.training.summary import mapping, value
from metrics.metaeval.data import Floats, ScoredAnswers

# Scores out of fold as columns: a row for each row of the tables, in their order.

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


_FORMS = {"adem": "ADEM", "c-adem": "C-ADEM", "r-adem": "R-ADEM"}


def card_of(
    report: Mapping[str, Any], material: Material, parts: Parts, trained: TrainedModel, seconds: float
) -> dict[str, Any]:
    """Data with digests, counts, results with intervals, what the paper prints, and the time it took.

    `results` are those of the first split, of another model where there was a cross-validation: then the
    model has seen all contexts but its validation, and `cross_validation` says what it is worth.
    """
    printed = mapping(report["printed"])
    found: dict[str, Any] = {
        "data": [source.card() for source in material.sources],
        "scale": report["scale"],
        "answers": report["n"],
        "left_out": report["left_out"],
        "split": split_of(material, parts),
        "results": {
            name: {part: of[part] for part in ("validation", "full", "test") if part in of}
            for name, of in report["table3"]["metrics"].items()
        },
        "results_of": report["split"],
        "printed": {
            "source": printed["source"],
            "table3": {form: mapping(printed["table3"]).get(form) for form in trained.forms},
        },
        "seconds": round(seconds, 1),
        "seed": report["seed"],
        "replicates": report["replicates"],
        "distillery": report["distillery"],
        "versions": report["versions"],
    }
    if "folds" in report:
        found["cross_validation"] = {
            name: report["folds"][name] for name in ("folds", "metrics", "rival", "differences")
        }
    return found


def readme_of(name: str, card: Mapping[str, Any], trained: TrainedModel) -> str:
    """The card in words."""
    crossed = mapping(card.get("cross_validation"))
    lines = [
        f"# {name}",
        "",
        f"ADEM (Lowe et al. 2017), trained on what people said: {', '.join(trained.forms)}.",
        "",
        f"- Encoder: {trained.encoder.name} ({trained.encoder.kind})",
    ]
    lines += [
        f"- {_FORMS.get(form, form)}: n {of.n}, penalty {of.penalty:g}, rate {of.rate:g}, "
        f"epoch {of.best.number}"
        for form, of in trained.chosen.items()
    ]
    lines += [
        f"- {part}: {of['answers']} answers to {of['contexts']} questions"
        for part, of in card["split"].items()
        if of["answers"]
    ]
    lines += [
        "",
        "Agreement with people (Pearson, 95 % interval), on answers to questions it had not seen:",
        "",
    ]
    for form in trained.forms:
        where = (
            (crossed, "metrics", form, "pearson") if crossed else (card["results"], form, "test", "pearson")
        )
        found = value(where[0], *where[1:])
        ends = between(found.low, found.high) if found.low is not None and found.high is not None else ""
        said = "none" if found.value is None else f"{short(found.value)} {ends}".strip()
        lines.append(f"- {_FORMS.get(form, form)}: {said}")
    if crossed:
        lines += ["", f"By {crossed['folds']}-fold cross-validation; this model learned from all folds."]
    return "\n".join([*lines, ""])
