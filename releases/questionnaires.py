"""Questionnaires in a release: a row for each field that a person answered, and files about each stage.

Texts that people wrote go in once the privacy check has read them; those that came later are left out, and
counted among the steps. Beside the table `responses` there are files in `questionnaires/STAGE/`:
`fields.json` (what was asked), `results.json` (the figures), `soft_labels.jsonl` (how often each value was
given to each unit), for each field with values `lewidi-FIELD.json` in the layout of the LeWiDi task, and for
each field of marks `mu-shroom-FIELD.jsonl` in the layout of Mu-SHROOM.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import Exists, Max, OuterRef

from core.projects.models import Project
from crowd.models import Stage
from judgments.models import AgreementReport, Candidate, QuestionnaireUnit, UnitResponse
from judgments.questionnaire.config import QuestionnaireConfig, QuestionnaireField, questionnaire_config
from judgments.questionnaire.prompts import text_marked
from judgments.questionnaire.rows import (
    FieldAnswer,
    field_answers_of,
    item_of,
    responses_of,
    sides_seen,
    system_of,
)
from judgments.questionnaire.units import counted_responses
from releases import tables
from releases.scope import AT_ONCE, LAST_RESPONSE, Scope, last_checked

_HARD = 0.5


def questionnaires_in(scope: Scope) -> list[Stage]:
    """Questionnaires with responses, in the order in which they were made."""
    stages = Stage.objects.using(scope.using).filter(
        Exists(UnitResponse.objects.filter(stage=OuterRef("pk"))), project=scope.project
    )
    return list(stages.select_related("project", "endpoint").order_by("pk"))


def response_texts(project: Project) -> Iterator[tuple[str, str, str]]:
    """Subject, field and text of all that people wrote into questionnaires, as the privacy check reads it."""
    stages = Stage.objects.filter(project=project, kind="questionnaire").select_related("project", "endpoint")
    for stage in stages.order_by("pk"):
        config = questionnaire_config(stage)
        if all(each.type != "text" for each in config.fields):
            continue
        responses = UnitResponse.objects.filter(stage=stage).select_related("unit").order_by("pk")
        for response in responses.iterator(AT_ONCE):
            for field_answer in field_answers_of(response, config):
                if field_answer.prompt.field.type == "text":
                    yield *_text_place(field_answer), field_answer.value


def _text_place(field_answer: FieldAnswer) -> tuple[str, str]:
    """Subject and field of a text, by which findings name it."""
    prompt, response = field_answer.prompt, field_answer.response
    return f"response:{response.pk}{':' if prompt.part else ''}{prompt.part}", prompt.field.name


def response_rows(scope: Scope) -> tables.Batches:
    """Rows of the table `responses`, stage by stage in the order in which they came."""
    scope.texts.clear()
    last_read = last_checked(scope.project, scope.using, LAST_RESPONSE)
    for stage in questionnaires_in(scope):
        yield from tables.some_of(_rows_of(scope, stage, last_read), AT_ONCE)


def _rows_of(scope: Scope, stage: Stage, last_read: int) -> Iterator[tables.Row]:
    config = questionnaire_config(stage)
    for response in responses_of(stage, using=scope.using):
        split = _split_of(scope, response.unit)
        if split is None:
            continue
        worker = scope.people.names([response.worker_id])[response.worker_id]
        for field_answer in field_answers_of(response, config):
            if field_answer.prompt.field.type != "text":
                yield _row(stage, field_answer, worker, split)
                continue
            is_read = response.pk <= last_read
            scope.texts[is_read] += 1
            if is_read:
                text = scope.redactions.of(*_text_place(field_answer), field_answer.value)
                yield _row(stage, replace(field_answer, value=text), worker, split)


def _value_of(field_answer: FieldAnswer) -> Any:
    """The value without the words that were marked: the answer, which may be blacked out, has them."""
    if field_answer.prompt.field.type != "spans":
        return field_answer.named_value
    return [{name: each for name, each in span.items() if name != "text"} for span in field_answer.value]


def _split_of(scope: Scope, unit: QuestionnaireUnit) -> str | None:
    """The split of a unit; None where its query or an answer of it is not in the release."""
    if unit.query_id is None:
        return tables.SPLITS[0]
    keys = [key for key in (unit.candidate_id, unit.other_id) if key is not None]
    if unit.query_id not in scope.queries or any(key not in scope.candidates for key in keys):
        return None
    return scope.queries[unit.query_id][1]


def _row(stage: Stage, field_answer: FieldAnswer, worker: str, split: str) -> tables.Row:
    response, unit = field_answer.response, field_answer.unit
    first, second = sides_seen(response) if unit.other_id is not None else (system_of(unit), "")
    names = [f"c{key}" if key is not None else "" for key in (unit.candidate_id, unit.other_id)]
    if response.flipped:
        names.reverse()
    value = json.dumps(_value_of(field_answer), ensure_ascii=False)
    part, query = field_answer.prompt.part, unit.query.key if unit.query is not None else ""
    return (
        f"u{response.pk}:{field_answer.prompt.name}", stage.slug, unit.key, query, names[0], names[1], first,
        second, field_answer.prompt.field.name, part, value, worker, field_answer.is_prefilled,
        response.worker.simulated, split,
    )  # fmt: skip


# Files about each stage.


@dataclass(slots=True)
class _Labels:
    """What people said of one unit in one field, by worker."""

    unit: QuestionnaireUnit
    part: str
    split: str
    by_worker: dict[str, Any] = field(default_factory=dict)


def files_of(scope: Scope) -> dict[str, str]:
    """Texts of the files about questionnaires, by their paths in the release."""
    files: dict[str, str] = {}
    stages = questionnaires_in(scope)
    are_nuggets_written = any(questionnaire_config(each).takes_nuggets for each in stages)
    for stage in stages:
        config = questionnaire_config(stage)
        folder = f"questionnaires/{stage.slug}"
        files[f"{folder}/fields.json"] = _as_json(_fields(stage, config))
        report = _report_of(scope, stage)
        files[f"{folder}/results.json"] = _as_json(report)
        labels = _labels_of(scope, stage, config)
        files[f"{folder}/soft_labels.jsonl"] = "".join(_soft_lines(config, labels))
        for each in config.fields:
            if each.values:
                layout = _lewidi(scope, stage, each, labels[each.name], are_nuggets_written)
                files[f"{folder}/lewidi-{each.name}.json"] = _as_json(layout)
            elif each.type == "spans":
                lines = _mu_shroom(scope, stage, each, labels[each.name])
                files[f"{folder}/mu-shroom-{each.name}.jsonl"] = "".join(lines)
    return files


def _report_of(scope: Scope, stage: Stage) -> dict[str, Any]:
    """The newest stored figures where they are of the same responses, else new ones."""
    from judgments.questionnaire.report import VERSION, make_report  # noqa: PLC0415 - loads numpy

    last = UnitResponse.objects.using(scope.using).filter(stage=stage).aggregate(last=Max("pk"))["last"]
    count = counted_responses(stage, scope.using).count()
    newest = AgreementReport.objects.using(scope.using).filter(stage=stage).order_by("-pk").first()
    fresh = newest is not None and newest.report.get("version") == VERSION
    if newest is not None and fresh and (newest.last_judgment, newest.judgments) == (last, count):
        report = dict(newest.report)
    else:
        report = make_report(stage, using=scope.using)
    report.pop("made_at", None)  # the same data make the same release
    return report


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _fields(stage: Stage, config: QuestionnaireConfig) -> dict[str, Any]:
    """What was asked, so that rows can be read without the study."""
    return {
        "stage": stage.slug,
        "unit": config.unit,
        "preset": config.preset,
        "instructions": config.instructions,
        "fields": [
            each.model_dump(mode="json", exclude_defaults=True) | {"type": each.type, "level": each.level}
            for each in config.fields
        ],
    }


def _labels_of(
    scope: Scope, stage: Stage, config: QuestionnaireConfig
) -> dict[str, dict[tuple[str, str], _Labels]]:
    """By field, and in it by unit and part. Marks also of those who marked nothing."""
    by_field: dict[str, dict[tuple[str, str], _Labels]] = defaultdict(dict)
    marks = [each for each in config.fields if each.type == "spans"]
    for response in responses_of(stage, using=scope.using):
        unit = response.unit
        split = _split_of(scope, unit)
        if split is None:
            continue
        worker = scope.people.names([response.worker_id])[response.worker_id]
        for field_answer in field_answers_of(response, config):
            name, part = field_answer.prompt.field.name, field_answer.prompt.part
            labels = by_field[name].setdefault((unit.key, part), _Labels(unit, part, split))
            labels.by_worker.setdefault(worker, field_answer.named_value)
        for each in marks:
            labels = by_field[each.name].setdefault((unit.key, ""), _Labels(unit, "", split))
            labels.by_worker.setdefault(worker, [])
    return by_field


def _values_of(of: QuestionnaireField, unit: QuestionnaireUnit) -> list[str]:
    """The values of a field about a unit; of a pair the systems in place of sides."""
    if not of.compares or unit.other_id is None:
        return list(of.values)
    return [system_of(unit, value) if value in ("left", "right") else value for value in of.values]


def _counts(of: QuestionnaireField, labels: _Labels) -> dict[str, int]:
    values = _values_of(of, labels.unit)
    several = [each if isinstance(each, list) else [each] for each in labels.by_worker.values()]
    counts = Counter(str(value) for each in several for value in each)
    return {value: counts[value] for value in values}


def _soft_lines(
    config: QuestionnaireConfig, labels: Mapping[str, Mapping[tuple[str, str], _Labels]]
) -> Iterator[str]:
    from metrics.soft_labels import entropies  # noqa: PLC0415 - start-up does without numpy

    for of in config.fields:
        for (unit, part), about in sorted(labels.get(of.name, {}).items()):
            if not of.values or of.type == "choices":
                continue
            counts = _counts(of, about)
            total = sum(counts.values())
            entropy = float(entropies([list(counts.values())])[0][0])
            row = {
                "unit": unit, "part": part, "field": of.name, "n": total, "counts": counts,
                "soft_label": {value: count / total for value, count in counts.items()},
                "entropy": None if total < 2 else entropy, "split": about.split,
            }  # fmt: skip
            if total < 2:
                row["reason"] = "one rating"
            yield json.dumps(row, ensure_ascii=False) + "\n"


def _lewidi(
    scope: Scope,
    stage: Stage,
    of: QuestionnaireField,
    labels: Mapping[tuple[str, str], _Labels],
    are_nuggets_written: bool,
) -> dict[str, Any]:
    """The layout of LeWiDi: an object by id. Nuggets that people of the project wrote are named by number
    alone, for no privacy check reads them as part of a unit.
    """
    items: dict[str, Any] = {}
    for (unit, part), about in sorted(labels.items()):
        counts = _counts(of, about)
        total = sum(counts.values())
        annotations = {
            worker: "|".join(map(str, value)) if isinstance(value, list) else str(value)
            for worker, value in sorted(about.by_worker.items())
        }
        items[f"{unit}#{part}" if part else unit] = {
            "annotation task": of.label,
            "text": _text_of(scope, about, with_nuggets=not are_nuggets_written),
            "number of annotators": len(annotations),
            "annotators": ",".join(annotations),
            "number of annotations": len(annotations),
            "annotations": annotations,
            "soft_label": {value: count / total if total else 0.0 for value, count in counts.items()},
            "split": {"validation": "dev"}.get(about.split, about.split),
            "lang": stage.project.language,
            "other_info": {"question_id": item_of(about.unit), "system": _systems_of(about.unit)},
        }
    return items


def _systems_of(unit: QuestionnaireUnit) -> str:
    names = [system_of(unit)] if unit.other_id is None else [system_of(unit), system_of(unit, "right")]
    return "|".join(names)


def _question_of(scope: Scope, unit: QuestionnaireUnit) -> str:
    query = unit.query
    return scope.redactions.of(f"query:{query.pk}", "text", query.text) if query is not None else ""


def _answer_of(scope: Scope, candidate: Candidate | None) -> str:
    if candidate is None:
        return ""
    text = scope.redactions.of(f"candidate:{candidate.pk}", "text", candidate.text)
    return scope.redactions.of(f"answer:{candidate.answer_id}", "text", text) if candidate.answer_id else text


def _text_of(scope: Scope, about: _Labels, *, with_nuggets: bool) -> Any:
    """What was judged, as it is published; sentences only where nothing of the project is blacked out."""
    unit = about.unit
    if unit.candidate is None:
        return unit.content.get("columns") or unit.content.get("turns") or ""
    text: dict[str, Any] = {
        "question": _question_of(scope, unit),
        "answer": _answer_of(scope, unit.candidate),
    }
    if unit.other is not None:
        text |= {"left": text.pop("answer"), "right": _answer_of(scope, unit.other)}
    number = int(about.part.partition(".")[0]) if about.part else 0
    shown = {"sentences": not scope.redactions, "nuggets": with_nuggets}
    for name, is_shown in shown.items():
        if number and is_shown and name in unit.content:
            text[name.removesuffix("s")] = unit.content[name][number - 1]["text"]
    return text


def _mu_shroom(
    scope: Scope, stage: Stage, of: QuestionnaireField, labels: Mapping[tuple[str, str], _Labels]
) -> Iterator[str]:
    """The layout of Mu-SHROOM: the share of people who marked each part, and what half of them marked."""
    for (unit, _), about in sorted(labels.items()):
        text = text_marked(about.unit, of)
        shares = marked_shares(list(about.by_worker.values()), len(text))
        row = {
            "id": unit,
            "lang": stage.project.language.upper(),
            "model_input": _question_of(scope, about.unit),
            "model_output_text": _answer_of(scope, about.unit.candidate) or text,
            "model_id": system_of(about.unit),
            "soft_labels": [
                {"start": start, "end": end, "prob": share} for start, end, share in _runs(shares) if share
            ],
            "hard_labels": [
                [start, end] for start, end, is_hard in _runs([share >= _HARD for share in shares]) if is_hard
            ],
        }
        yield json.dumps(row, ensure_ascii=False) + "\n"


def marked_shares(marks: Sequence[Sequence[Mapping[str, Any]]], length: int) -> list[float]:
    """Of each character of a text the share of people who marked it."""
    counts = [0] * length
    for of_person in marks:
        for place in {at for span in of_person for at in range(span["start"], span["end"])}:
            counts[place] += 1
    return [count / len(marks) for count in counts]


def _runs(values: Sequence[Any]) -> Iterator[tuple[int, int, Any]]:
    """Stretches of equal values: start, end, value."""
    start = 0
    for place in range(1, len(values) + 1):
        if place == len(values) or values[place] != values[start]:
            yield start, place, values[start]
            start = place
