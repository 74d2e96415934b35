"""Tables of all fields in Markdown, made from the models; `docs/study-fields.md` and
`docs/study-kind-fields.md` hold exactly these."""

import types
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Le, MaxLen
from pydantic import BaseModel, StrictBool
from pydantic.fields import FieldInfo

from core.money import dollars
from crowd.kinds import kinds
from crowd.study import explain, schema
from crowd.study.explain import marks, plain_types

#: Headings of the file's tables, with their models.
TABLES: dict[str, type[BaseModel]] = {
    "[project]": schema.ProjectFields,
    "[endpoints.NAME]": schema.EndpointFields,
    "[[stages]]": schema.StageFields,
    "[stages.task]": schema.TaskFields,
    "[[stages.sources]]": schema.SourceFields,
    "[stages.panel]": schema.PanelFields,
    "eligibility = [{…}]": schema.RuleFields,
}


def tables() -> Iterator[tuple[str, list[str]]]:
    """Heading and Markdown lines of every table of the file, then of every kind's options."""
    for heading, model in TABLES.items():
        yield heading, table(model)
    for kind in kinds():
        yield f"[stages.config] of the kind {kind.name}", table(kind.config)


def table(model: type[BaseModel]) -> list[str]:
    """A row per field: name, what it takes, default, meaning."""
    return [
        "| field | takes | default | meaning |",
        "|---|---|---|---|",
        *(_row(name, field) for name, field in model.model_fields.items()),
    ]


def _row(name: str, field: FieldInfo) -> str:
    cells = (f"`{name}`", takes(field), default(field), field.description or "")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def takes(field: FieldInfo) -> str:
    """What kind of value a field takes, with its bounds."""
    field_marks = marks(field)
    for mark in field_marks:
        if isinstance(mark, schema.Amount):
            return f'amount such as "0.15", {mark.bounds()}'
        if isinstance(mark, schema.Period):
            return f'duration such as "30m", {mark.bounds()}'
    types_ = [kind for kind in plain_types(field.annotation) if kind is not types.NoneType]
    least = next((mark.ge for mark in field_marks if isinstance(mark, Ge)), None)
    most = next((mark.le for mark in field_marks if isinstance(mark, Le)), None)
    longest = next((mark.max_length for mark in field_marks if isinstance(mark, MaxLen)), None)
    phrase = _type(types_[0])
    bounds = [f"{word} {bound}" for word, bound in (("from", least), ("to", most)) if _tells(bound)]
    phrase = " ".join([phrase, *bounds])
    if longest is not None:
        phrase += f", at most {longest}"
    return phrase


def _tells(bound: Any) -> bool:
    """A bound that is more than what a database can hold."""
    return bound is not None and abs(bound) < 2**31 - 1


def _type(kind: Any) -> str:
    origin = get_origin(kind)
    if origin is Literal:
        return ", ".join(f"`{word}`" for word in get_args(kind))
    if isinstance(kind, type) and origin is None and issubclass(kind, BaseModel):
        return "table"
    if kind in (bool, StrictBool):
        return "true or false"
    if kind in (int, float):
        return "whole number" if kind is int else "number"
    if kind is str:
        return "text"
    return "list" if origin in (tuple, list) else "table"


def default(field: FieldInfo) -> str:
    """The value that a field has when it is left out."""
    if field.is_required():
        return "must be given"
    value = field.get_default(call_default_factory=True, validated_data={})
    if value is None:
        return "none"
    for mark in marks(field):
        if isinstance(mark, schema.Amount):
            return f'`"{dollars(value)}"`'
        if isinstance(mark, schema.Period):
            return f'`"{schema.duration(value)}"`'
    if value in ("", (), {}, []):
        return "none"
    return f"`{explain.value_text(value)}`"
