"""`manage.py nuggets`: scores of answers from labels of nuggets or criteria, without a project."""

from collections.abc import Iterator, Mapping
from typing import Any

from judgments.answer_labels import AnswerReader
from judgments.answer_report import agreement_json, agreement_sentences, mean_text
from judgments.label_table import open_table
from judgments.table_command import TableCommand, bootstrap_options, draw_table, reading_options, sign
from metrics.figure import NONE
from metrics.item_means import mean_by_system
from metrics.nuggets import NAMES, nugget_scores, rubric_score

_HEADLINE = "vital_strict"


class Command(TableCommand):
    """Reads labels of nuggets, or of a rubric's criteria, and scores answers and systems."""

    help = (
        "Scores of systems from labels of nuggets (item, system, worker, nugget, importance, label) or of a "
        "rubric (criterion, points, met) (docs/preferences.md)."
    )
    fields = (
        "item", "system", "worker", "nugget", "importance", "label", "criterion", "points", "met",
        "simulated",
    )  # fmt: skip
    metavar = "FILE"

    def measure(self, options: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
        """Means of each system, and the scores of each answer."""
        bootstrap = bootstrap_options(options)
        table = open_table(
            options["file"],
            columns=columns,
            fields=self.fields,
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

    def show(self, facts: Mapping[str, Any]) -> Iterator[Any]:
        """A row for each system."""
        if facts["kind"] == "rubric":
            rows = [(each["system"], mean_text(each["score"]), f"{each['n']:,}") for each in facts["systems"]]
            yield draw_table(("system", "score", "answers"), rows)
        else:
            yield draw_table(
                ("system", *(name.replace("_", " ") for name in NAMES), "95 % of vital strict", "answers"),
                [
                    (
                        each["system"],
                        *(NONE if each[name] is None else f"{each[name]:.3f}" for name in NAMES),
                        NONE if each["low"] is None else f"{each['low']:.3f} to {each['high']:.3f}",
                        f"{each['n']:,}",
                    )
                    for each in facts["systems"]
                ],
            )
        yield from agreement_sentences(facts["agreement"])


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
