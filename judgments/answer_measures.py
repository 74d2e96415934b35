"""Figures of tables of labelled answers: support of citations, nuggets and rubrics (docs/preferences.md)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgments.answer_labels import AnswerReader
from judgments.answer_report import agreement_json
from judgments.label_table import open_table
from judgments.table_command import bootstrap_options, reading_options, sign
from metrics.item_means import mean_by_system
from metrics.nuggets import NAMES, nugget_scores, rubric_score
from metrics.support import ais_attribution, alce_support, trec_support

#: Columns that the tables may have.
SUPPORT_FIELDS = (
    "item", "system", "worker", "sentence", "citation", "label", "interpretable", "attributable",
    "simulated",
)  # fmt: skip
NUGGET_FIELDS = (
    "item", "system", "worker", "nugget", "importance", "label", "criterion", "points",
    "met", "simulated",
)  # fmt: skip
#: What each protocol of support measures.
SUPPORT_FIGURES = {
    "ais": ("attributable", "not_interpretable"),
    "alce": ("precision", "recall"),
    "trec": ("precision", "recall"),
}
_COUNTS = ("n_sentences", "n_citations")
_HEADLINE = "vital_strict"


def measure_support(path: Path, options: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """Means of each system, and the figures of each answer, by `options["protocol"]`."""
    bootstrap = bootstrap_options(options)
    table = open_table(
        path,
        columns=columns,
        fields=SUPPORT_FIELDS,
        **reading_options(options),
    )
    reader, protocol = AnswerReader(table, columns, **bootstrap), options["protocol"]
    scores: dict[tuple[str, str], Any]
    if protocol == "ais":
        labelled = reader.read_attributions()
        scores = {answer: ais_attribution(parts) for answer, parts in labelled.parts.items()}
    else:
        cited = reader.read_citations(recall=protocol == "alce")
        score = alce_support if protocol == "alce" else trec_support
        scores = {answer: score(parts) for answer, parts in cited.parts.items()}
        labelled = cited  # type: ignore[assignment]  # of their parts only the number matters from here
    names = SUPPORT_FIGURES[protocol]
    means = {
        name: mean_by_system({answer: getattr(each, name) for answer, each in scores.items()}, **bootstrap)
        for name in names
    }
    systems = sorted({system for _, system in scores})
    return {
        "read_as": table.reading(**labelled.columns).as_json(),
        **bootstrap,
        "protocol": protocol,
        "systems": [
            {
                "system": system,
                **{name: means[name][system].as_json() for name in names},
                "n_answers": sum(of == system for _, of in scores),
            }
            for system in systems
        ],
        "items": [
            {
                "item": item,
                "system": system,
                **{name: getattr(each, name) for name in (*names, *_COUNTS) if hasattr(each, name)},
            }
            for (item, system), each in scores.items()
        ],
        "agreement": agreement_json(labelled.agreement),
        "warnings": [*table.notes(), *labelled.notes],
        "signatures": {
            name: sign(f"support|{protocol}|{name}|mean over answers", "items", options) for name in names
        },
    }


def measure_nuggets(path: Path, options: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """Means of each system, and the scores of each answer, of nuggets or of a rubric."""
    bootstrap = bootstrap_options(options)
    table = open_table(
        path,
        columns=columns,
        fields=NUGGET_FIELDS,
        **reading_options(options),
    )
    reader = AnswerReader(table, columns, **bootstrap)
    is_rubric = reader.has("criterion")
    facts = _score_rubric(reader, bootstrap) if is_rubric else _score_nuggets(reader, bootstrap)
    kind = "rubric|score|cut to 0..1" if is_rubric else f"nuggets|interval={_HEADLINE}"
    labelled = facts.pop("labelled")
    return {
        "read_as": table.reading(**labelled.columns).as_json(),
        **bootstrap,
        **facts,
        "agreement": agreement_json(labelled.agreement),
        "warnings": [*table.notes(), *labelled.notes],
        "signatures": {"systems": sign(f"{kind}|mean over answers", "items", options)},
    }


def _score_nuggets(reader: AnswerReader, bootstrap: Mapping[str, int]) -> dict[str, Any]:
    labelled = reader.read_nuggets()
    scores = {answer: nugget_scores(parts) for answer, parts in labelled.parts.items()}
    means = {
        name: mean_by_system(
            {answer: getattr(each, name) for answer, each in scores.items()},
            replicates=bootstrap["replicates"] if name == _HEADLINE else 0,
            seed=bootstrap["seed"],
        )
        for name in NAMES
    }
    systems = []
    for system in sorted({system for _, system in scores}):
        headline = means[_HEADLINE][system]
        reasons = {name: means[name][system].reason for name in NAMES if means[name][system].value is None}
        if headline.low is None:
            reasons |= {"low": headline.reason, "high": headline.reason}
        systems.append(
            {
                "system": system,
                **{name: means[name][system].value for name in NAMES},
                "low": headline.low,
                "high": headline.high,
                "n": sum(of == system for _, of in scores),
                **({"reason": reasons} if reasons else {}),
            }
        )
    items = [
        {
            "item": item,
            "system": system,
            **{name: getattr(each, name) for name in NAMES},
            "n": len(labelled.parts[item, system]),
        }
        for (item, system), each in scores.items()
    ]
    return {"kind": "nuggets", "systems": systems, "items": items, "labelled": labelled}


def _score_rubric(reader: AnswerReader, bootstrap: Mapping[str, int]) -> dict[str, Any]:
    labelled = reader.read_criteria()
    scores = {answer: rubric_score(parts) for answer, parts in labelled.parts.items()}
    means = mean_by_system(scores, **bootstrap, within=(0.0, 1.0))
    return {
        "kind": "rubric",
        "systems": [
            {"system": system, "score": mean.as_json(), "n": sum(of == system for _, of in scores)}
            for system, mean in means.items()
        ],
        "items": [
            {
                "item": item,
                "system": system,
                "score": score,
                **({} if score is not None else {"reason": "no positive points"}),
            }
            for (item, system), score in scores.items()
        ],
        "labelled": labelled,
    }
