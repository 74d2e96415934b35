"""The figures of a questionnaire: each field's counts, agreement and systems; pairs, support and nuggets.

Figures of pairs, support and nuggets are those that the commands make of the same tables.
"""

import tempfile
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from django.db import DEFAULT_DB_ALIAS
from django.utils import timezone

from crowd.models import Stage
from judgments.answer_measures import measure_nuggets, measure_support
from judgments.models import QuestionnaireUnit
from judgments.pair_table import read_pairs
from judgments.questionnaire.config import QuestionnaireConfig, QuestionnaireField, questionnaire_config
from judgments.questionnaire.prompts import text_marked
from judgments.questionnaire.rows import (
    STYLES,
    FieldAnswer,
    Table,
    csv_lines,
    field_answers_of,
    item_of,
    pair_table,
    protocol_of,
    protocol_table,
    responses_of,
    system_of,
)
from judgments.table_command import bootstrap_options, sign, version
from metrics.agreement.labels import LabelAlpha, Labels, label_alpha, level_distances, set_distances
from metrics.agreement.spans import MarkedText, span_f1, unitized_alpha
from metrics.item_means import mean_by_system
from metrics.preferences.report import ModelChoice
from metrics.preferences.report import report as preference_report

REPLICATES, SEED = 1000, 0
#: Grows when the report has other figures.
VERSION = 1
_OPTIONS: Mapping[str, Any] = {
    "replicates": REPLICATES, "seed": SEED, "encoding": "utf-8", "sheet": "", "header_row": 0,
}  # fmt: skip
SIMULATED = (
    "SIMULATED DATA: programs gave {n:,} of {of:,} responses in place of people. These figures say nothing "
    "about people; do not use them as evidence."
)
NO_RESPONSES = "no responses yet"
_NO_LEVEL = "texts and rankings have no alpha"
#: Points of errors: Freitag et al. 2021, section 3.
_SEVERITY = {"neutral": 0.0, "minor": 1.0, "major": 5.0, "critical": 25.0}
_NO_ANSWER, _MINOR_PUNCTUATION = 25.0, 0.1
_MOST_ERRORS = 5


@dataclass(slots=True)
class _FieldRows:
    """What people answered about one field."""

    of: QuestionnaireField
    items: list[str] = field(default_factory=list)
    workers: list[int] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    #: By question and system, the values by unit.
    by_answer: dict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    texts: dict[str, tuple[int, dict[str, Sequence[tuple[int, int, str]]]]] = field(default_factory=dict)

    def add(self, field_answer: FieldAnswer) -> None:
        unit, worker = field_answer.unit, field_answer.response.worker_id
        self.items.append(f"{unit.key}\x1f{field_answer.prompt.part}")
        self.workers.append(worker)
        self.values.append(field_answer.value)
        number = number_of(self.of, field_answer.value)
        if number is not None and unit.other_id is None and (system := system_of(unit)):
            self.by_answer[item_of(unit), system].append(number)

    def add_spans(self, unit: QuestionnaireUnit, worker: int, spans: Sequence[Mapping[str, Any]]) -> None:
        """What a person marked, also nothing."""
        text = text_marked(unit, self.of)
        marked = [(span["start"], span["end"], str(span["label"])) for span in spans]
        self.texts.setdefault(unit.key, (len(text), {}))[1][str(worker)] = marked


def number_of(of: QuestionnaireField, value: Any) -> float | None:
    """A value as a number whose mean says something; yes is 1, errors are their points."""
    match of.type:
        case "scale" | "slider" | "number":
            return float(value)
        case "yesno":
            return float(value == "yes")
        case "spans":
            return error_points(value) if of.severities else None
    return None


def error_points(spans: Sequence[Mapping[str, Any]]) -> float:
    """MQM's points of the worst five errors: minor 1, major 5, minor punctuation .1, no answer 25."""
    points = []
    for span in spans:
        label, severity = str(span["label"]).casefold(), str(span.get("severity", "")).casefold()
        if label in ("no answer", "non-translation"):
            points.append(_NO_ANSWER)
        elif label == "punctuation" and severity == "minor":
            points.append(_MINOR_PUNCTUATION)
        else:
            points.append(_SEVERITY.get(severity, 0.0))
    return sum(sorted(points, reverse=True)[:_MOST_ERRORS])


def make_report(
    stage: Stage, *, replicates: int = REPLICATES, using: str = DEFAULT_DB_ALIAS
) -> dict[str, Any]:
    """All figures of a stage as JSON; what is undefined is null with its reason."""
    options = {**_OPTIONS, "replicates": replicates}
    config = questionnaire_config(stage)
    rows = {each.name: _FieldRows(each) for each in config.fields}
    n_responses = n_simulated = 0
    units, people = set(), set()
    for response in responses_of(stage, using=using):
        n_responses, n_simulated = n_responses + 1, n_simulated + response.worker.simulated
        units.add(response.unit_id)
        people.add(response.worker_id)
        for field_answer in field_answers_of(response, config):
            rows[field_answer.prompt.field.name].add(field_answer)
        for each in config.fields:
            if each.type == "spans":
                spans = response.values.get(each.name) or []
                rows[each.name].add_spans(response.unit, response.worker_id, spans)
                if each.severities and not spans and (system := system_of(response.unit)):
                    rows[each.name].by_answer[item_of(response.unit), system].append(0.0)
    facts: dict[str, Any] = {
        "kind": "questionnaire",
        "version": VERSION,
        "unit": config.unit,
        "preset": config.preset,
        "n_units": len(units),
        "n_responses": n_responses,
        "n_people": len(people),
        "simulated": n_simulated,
        "seed": SEED,
        "replicates": replicates,
        "made_at": timezone.now().isoformat(timespec="seconds"),
        "fields": [_describe(of, options) for of in rows.values()],
        "warnings": [SIMULATED.format(n=n_simulated, of=n_responses)] if n_simulated else [],
    }
    if not n_responses:
        return facts | {"reason": NO_RESPONSES}
    if any(each.compares for each in config.fields):
        facts["preferences"] = _preferences(stage, config, options, using)
    protocol, table = protocol_of(config), protocol_table(stage, config, using)
    if table is not None:
        facts[protocol if protocol in ("nuggets", "rubric") else "support"] = _measured(
            table, protocol, options
        )
    return facts


def _describe(rows: _FieldRows, options: Mapping[str, Any]) -> dict[str, Any]:
    of, bootstrap = rows.of, bootstrap_options(options)
    alpha, reason_without = _alpha(rows, bootstrap)
    facts: dict[str, Any] = {
        "name": of.name, "label": of.label, "type": of.type, "per": of.per, "level": of.level,
        "n": len(rows.values), "counts": _counts(rows), **_agreement(alpha, reason_without, of, options),
    }  # fmt: skip
    if of.type == "spans" and rows.texts:
        f1 = span_f1([MarkedText(spans, length) for length, spans in rows.texts.values()])
        facts |= {"f1_macro": f1.macro, "f1_micro": f1.micro}
    if rows.by_answer:
        means = {answer: fmean(values) for answer, values in rows.by_answer.items()}
        systems = mean_by_system(means, **bootstrap)
        facts["systems"] = [
            {"system": name, **mean.as_json(), "n": sum(system == name for _, system in means)}
            for name, mean in systems.items()
        ]
    return facts


def _counts(rows: _FieldRows) -> dict[str, int]:
    """How often each value was given; of spans each label, of texts and numbers nothing."""
    of = rows.of
    if of.type == "spans":
        counts = Counter(
            "/".join(filter(None, (span["label"], span.get("severity"))))
            for spans in rows.values
            for span in spans
        )
        return dict(sorted(counts.items()))
    if of.type == "choices":
        counts = Counter(value for values in rows.values for value in values)
    elif of.values:
        counts = Counter(map(str, rows.values))
    else:
        return {}
    return {value: counts[value] for value in of.values}


def _alpha(rows: _FieldRows, bootstrap: Mapping[str, int]) -> tuple[LabelAlpha | None, str]:
    of = rows.of
    if not of.level:
        return None, _NO_LEVEL
    if of.level == "spans":
        texts = [MarkedText(spans, length) for length, spans in rows.texts.values()]
        return (unitized_alpha(texts, **bootstrap), "") if texts else (None, NO_RESPONSES)
    if not rows.values:
        return None, NO_RESPONSES
    values = [_comparable(of, value) for value in rows.values]
    if of.level == "sets":
        categories: list[Any] = sorted(set(values), key=sorted)
        distances = set_distances(categories, "masi")
    elif of.level == "interval":
        categories = sorted(set(values))
        distances = level_distances(categories, "interval")
    else:
        categories = list(of.values)
        distances = level_distances(range(len(categories)), of.level)  # type: ignore[arg-type]  # of the two
    codes = {category: code for code, category in enumerate(categories)}
    labels = Labels(
        _codes(rows.items),
        _codes(rows.workers),
        np.array([codes[value] for value in values]),
        len(categories),
    )
    return label_alpha(labels, distances, **bootstrap), ""


def _codes(names: Sequence[Hashable]) -> Any:
    places: dict[Hashable, int] = {}
    return np.array([places.setdefault(name, len(places)) for name in names], dtype=np.int64)


def _comparable(of: QuestionnaireField, value: Any) -> Any:
    if of.level == "sets":
        return frozenset(value)
    return float(value) if of.level == "interval" else str(value)


def _agreement(
    alpha: LabelAlpha | None, reason: str, of: QuestionnaireField, options: Mapping[str, Any]
) -> dict[str, Any]:
    if alpha is None:
        return {"alpha": None, "low": None, "high": None, "reason": reason}
    how = {"sets": "distance=masi", "spans": "spans|level=nominal"}.get(of.level, f"level={of.level}")
    facts: dict[str, Any] = {"alpha": alpha.alpha, "low": alpha.low, "high": alpha.high}
    if alpha.low is None:
        facts["reason"] = alpha.reason or alpha.interval_reason
    resampled = "items" if of.level == "spans" else "items x workers"
    return facts | {"signature": sign(f"krippendorff-alpha|{how}", resampled, options)}


def adjust_for_style(stage: Stage, styles: Sequence[str]) -> dict[str, Any]:
    """The figures of fields that compare, with effects of those numbers of style in which answers of a pair
    differ; without intervals. Empty where they differ in none.

    FileRefusedError where they differ in the same way in every pair.
    """
    pairs = QuestionnaireUnit.objects.filter(stage=stage, other__isnull=False)
    texts = list(pairs.values_list("candidate__text", "other__text"))
    differing = [name for name in styles if any(STYLES[name](one) != STYLES[name](two) for one, two in texts)]
    options = {**_OPTIONS, "replicates": 0}
    if not differing:
        return {}
    return _preferences(stage, questionnaire_config(stage), options, DEFAULT_DB_ALIAS, differing)


def win_rates(facts: Mapping[str, Any]) -> dict[str, float]:
    """By system the mean chance of a win against each other system, ties half; empty without an estimate."""
    names, chances = facts["matrix"]["systems"], facts["matrix"]["p_win"]
    if chances is None:
        return {}
    return {
        name: fmean(
            (1 + chances[at][other] - chances[other][at]) / 2 for other in range(len(names)) if other != at
        )
        for at, name in enumerate(names)
    }


def _preferences(
    stage: Stage,
    config: QuestionnaireConfig,
    options: Mapping[str, Any],
    using: str,
    styles: Sequence[str] = (),
) -> dict[str, Any]:
    """Of each field that compares what `manage.py preferences --side` says of its table."""
    names = [each.name for each in config.fields if each.compares]
    with _written(pair_table(stage, config, using)) as path:
        table = read_pairs(path, columns={}, winners=names, styles=styles)
    choice = ModelChoice(side=True, **bootstrap_options(options))
    return {
        name: {
            **preference_report(comparisons, choice, styles=styles, version=version()),
            "counts": table.counts[name],
        }
        for name, comparisons in table.comparisons.items()
    }


def _measured(table: Table, protocol: str, options: Mapping[str, Any]) -> dict[str, Any]:
    with _written(table) as path:
        if protocol in ("nuggets", "rubric"):
            facts = measure_nuggets(path, options, {})
        else:
            facts = measure_support(path, {**options, "protocol": protocol}, {})
    return {name: value for name, value in facts.items() if name not in ("read_as", "warnings")}


@contextmanager
def _written(table: Table) -> Iterator[Path]:
    """A table as a file for as long as it is read."""
    with tempfile.TemporaryDirectory(prefix="distillery-table-") as folder:
        path = Path(folder) / "table.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            file.writelines(csv_lines(table))
        yield path
