"""Fields of questionnaires that can stand in for human scores: which they are, and a value as a number."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluations.errors import EvaluationError
from judgments.questionnaire.config import QuestionnaireField

_FOLDER, _FILE = "questionnaires/", "/fields.json"


def can_score(field: QuestionnaireField) -> bool:
    """Whether its values are numbers, steps in an order, yes or no, or say which of two answers is better."""
    return field.compares or field.type in ("scale", "slider", "number", "yesno") or _is_ordered(field)


def _is_ordered(field: QuestionnaireField) -> bool:
    return field.type == "choice" and field.ordered


def score_of(field: QuestionnaireField, value: Any) -> float | None:
    """A value as a number: yes is 1, of an ordered choice the place of the option from 1."""
    if field.type == "yesno":
        return float(value == "yes")
    if _is_ordered(field):
        return float(field.values.index(value) + 1) if value in field.values else None
    return float(value)


def ends_of(field: QuestionnaireField) -> tuple[float, float]:
    """The lowest and the highest score that people could give."""
    if field.type == "yesno":
        return 0.0, 1.0
    return (1.0, float(len(field.options))) if field.options else (field.least, field.most)


def questionnaires_of(manifest: Mapping[str, Any]) -> list[str]:
    """Short names of the questionnaires in a release."""
    paths = [str(each.get("path", "")) for each in manifest.get("files", ())]
    return [
        path.removeprefix(_FOLDER).removesuffix(_FILE)
        for path in paths
        if path.startswith(_FOLDER) and path.endswith(_FILE)
    ]


def fields_in(folder: Path, manifest: Mapping[str, Any]) -> dict[str, list[QuestionnaireField]]:
    """Fields that can score, by stage, from the files of a release."""
    fields = {}
    for slug in questionnaires_of(manifest):
        path = folder / f"{_FOLDER}{slug}{_FILE}"
        try:
            described = json.loads(path.read_bytes())["fields"]
            known = [
                QuestionnaireField.model_validate({name: each[name] for name in each if name != "level"})
                for each in described
            ]
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise EvaluationError(f"{path} cannot be read: {error}.") from error
        fields[slug] = [each for each in known if can_score(each)]
    return fields
