"""Form fields made from a pydantic model: titles, help and bounds come from it, and so do the errors.

Texts, numbers, switches, choices, amounts, durations and lists of texts have fields of their own. Whatever
else a model has is written as TOML.
"""

import re
import tomllib
import types
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from django import forms
from django.forms.formsets import DELETION_FIELD_NAME, ORDERING_FIELD_NAME
from django.forms.widgets import Script
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from core.money import dollars
from crowd.study import explain
from crowd.study.explain import findings
from crowd.study.schema import Amount, Period, Words, duration

#: Empty rows below the filled ones, and rows that are read at most.
_SPARE, _MOST = 2, 400
#: Fields that have a value in an empty row, too.
_SAYS_ALWAYS = forms.ChoiceField | forms.BooleanField
_NUMBER = re.compile(r"-?[0-9]{1,18}")


class Commas(forms.CharField):
    """A short list of numbers, or of numbers and words, with commas between."""

    def prepare_value(self, value: Any) -> Any:
        """The list as text."""
        return ", ".join(map(str, value)) if isinstance(value, list | tuple) else value

    def to_python(self, value: Any) -> Any:
        """Numbers where they are some, else words; a word in quotes is never a number."""
        parts = [part.strip() for part in str(super().to_python(value) or "").split(",")]
        return [int(part) if _NUMBER.fullmatch(part) else part.strip('"') for part in parts if part]


class RowsWidget(forms.Widget):
    """A fieldset for each entry. With a `builder` entries fold, move and go: a number and a box for each say
    its place and that it goes, as in Django's formsets.
    """

    use_fieldset = True

    def __init__(
        self, inner: Mapping[str, forms.Field], *, mapping: bool, builder: type[Any] | None = None
    ) -> None:
        super().__init__()
        self.inner, self.mapping, self.builder = inner, mapping, builder

    @property
    def media(self) -> forms.Media:
        """The script that moves entries."""
        scripts: list[Any] = [Script("rows.js", defer=True)] if self.builder else []
        return forms.Media(js=scripts)

    def id_for_label(self, id_: str) -> str:
        """A group has no single field for its label."""
        return ""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        """TOML where that was sent, else the rows in which something was entered."""
        if name in data:
            return data.get(name)
        rows = []
        for number in range(_MOST):
            prefix = f"{name}-{number}-"
            row = {
                key: field.widget.value_from_datadict(data, files, prefix + key)
                for key, field in self.inner.items()
            }
            if all(value is None or value is False for value in row.values()):
                break
            if prefix + DELETION_FIELD_NAME in data:
                continue
            if any(row[key] not in (None, "", False) for key in self._telling()):
                place = str(data.get(prefix + ORDERING_FIELD_NAME, ""))
                rows.append((int(place) if _NUMBER.fullmatch(place) else _MOST, row))
        return [row for _, row in sorted(rows, key=itemgetter(0))]

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        """Left out only where neither form of it was sent."""
        return name not in data and not any(key.startswith(f"{name}-0-") for key in data)

    def _telling(self) -> list[str]:
        """Fields that are empty in an empty row: a choice that has no empty option always says something."""
        return [
            key for key, field in self.inner.items() if not isinstance(field, _SAYS_ALWAYS) or field.required
        ]

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """Rows, or the TOML as it was sent where that cannot be read."""
        rows = self._rows(value)
        disabled = bool((attrs or {}).get("disabled"))
        if rows is None:
            return forms.Textarea(attrs={"rows": 5, "class": "mono"}).render(name, value, attrs, renderer)
        spare = 0 if disabled else _SPARE
        widget_rows = [
            {
                "prefix": f"{name}-{number}-",
                "cells": [
                    self._render_cell(f"{name}-{number}-", key, field, row.get(key, ""), disabled)
                    for key, field in self.inner.items()
                ],
                "summary": ": ".join(str(row[key]) for key in ("name", "label") if row.get(key)),
            }
            for number, row in enumerate([*rows, *({} for _ in range(spare))])
        ]
        return render_to_string(
            "desk/parts/rows.html",
            {
                "rows": widget_rows,
                "filled": len(rows),
                "pairs": self.mapping,
                "builder": self.builder and not disabled,
                "folds": bool(self.builder),
            },
        )

    def _render_cell(
        self, prefix: str, key: str, field: forms.Field, value: Any, disabled: bool
    ) -> dict[str, Any]:
        own = f"{prefix}{key}"
        attrs = {"id": f"id_{own}"} | ({"disabled": True} if disabled else {})
        if value == "" and field.initial is not None and isinstance(field, _SAYS_ALWAYS):
            value = field.initial
        widget = field.widget.render(own, field.prepare_value(value), attrs)
        cell = {"id": f"id_{own}", "label": field.label, "help": field.help_text, "widget": widget}
        if self.builder:
            cell |= {
                "folded": key in self.builder.advanced,
                "types": " ".join(self.builder.types.get(key, ())),
            }
        return cell

    def _rows(self, value: Any) -> list[dict[str, Any]] | None:
        if not value:
            return []
        try:
            document = tomllib.loads(value if self.mapping else f"value = {value}")
        except (ValueError, RecursionError):
            return None
        if self.mapping:
            return [{"key": key, "value": entry} for key, entry in document.items()]
        entries = document.get("value")
        if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
            return None
        return entries


class Rows(forms.Field):
    """A list of tables, or with `mapping` a table of pairs; each row has the fields `inner`."""

    widget: RowsWidget

    def __init__(
        self,
        inner: Mapping[str, forms.Field],
        *,
        mapping: bool,
        read: Any,
        builder: type[Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(widget=RowsWidget(inner, mapping=mapping, builder=builder), **options)
        self.inner, self.mapping, self._read = inner, mapping, read

    def prepare_value(self, value: Any) -> Any:
        """The entries as TOML."""
        if isinstance(value, str) or not value:
            return value or ""
        if self.mapping:
            pairs = value if isinstance(value, Mapping) else {row["key"]: row["value"] for row in value}
            return "\n".join(explain.pairs({str(key): entry for key, entry in pairs.items()}))
        rows = [{key: entry for key, entry in row.items() if entry not in (None, "")} for row in value]
        return explain.value_text(rows, width=0)

    def to_python(self, value: Any) -> Any:
        """The entries, as the model reads them."""
        if isinstance(value, str):
            return self._read(value)
        if not isinstance(value, list):
            return value
        rows = [self._row(number, row) for number, row in enumerate(value, 1)]
        if not self.mapping:
            return rows
        keys = [row.get("key", "") for row in rows]
        twice = next((key for key in keys if keys.count(key) > 1), None)
        if twice is not None:
            raise forms.ValidationError(f"{twice!r} is in two rows.")
        return {row.get("key", ""): row.get("value", "") for row in rows}

    def _row(self, number: int, row: Mapping[str, Any]) -> dict[str, Any]:
        cells = {}
        for key, field in self.inner.items():
            try:
                cell = field.to_python(row.get(key))
            except forms.ValidationError as error:
                raise forms.ValidationError(f"Row {number}, {field.label}: {error.messages[0]}") from error
            if cell not in (None, "", []) and not _absent(cell):
                cells[key] = cell
        return cells


def _absent(value: object) -> bool:
    return type(value) is object


def key_and_value(value: forms.Field) -> dict[str, forms.Field]:
    """Fields of a row of a table of pairs."""
    return {"key": forms.CharField(label="Name", required=False), "value": value}


def choices_of(options: Sequence[Any], *, empty: bool) -> list[tuple[Any, str]]:
    """Options of an enumeration in readable words."""
    named = [(option, str(option).replace("-", " ").replace("_", " ")) for option in options]
    return [("", "\N{EN DASH}"), *named] if empty else named


_LONG_TEXT = 200
#: Left out of the data: the model's default holds.
ABSENT = object()


class Lines(forms.CharField):
    """A list of texts, one in each line; texts that would not survive that are written as a TOML list."""

    widget = forms.Textarea(attrs={"rows": 5, "class": "lines"})

    def prepare_value(self, value: Any) -> Any:
        """The stored list as text."""
        if not isinstance(value, list | tuple):
            return value
        simple = all(text == text.strip() and text and "\n" not in text and text[0] != "[" for text in value)
        return "\n".join(value) if simple else explain.value_text(list(value), width=0) if any(value) else ""

    def to_python(self, value: Any) -> Any:
        """Lines without the blank ones, or the TOML list."""
        if isinstance(value, list | tuple):
            return list(value)
        text = str(super().to_python(value) or "").strip()
        if text.startswith("["):
            return _toml_value(text)
        return [line.strip() for line in text.splitlines() if line.strip()] if text else ABSENT


class ListsByName(forms.CharField):
    """A table of lists of texts: `name = text | text` in each line, or TOML where texts have such signs."""

    widget = forms.Textarea(attrs={"rows": 2, "class": "lines"})

    def prepare_value(self, value: Any) -> Any:
        """The stored table as text."""
        if not isinstance(value, Mapping):
            return value
        if any(re.search(r"[=|\[\n]", text) for name, texts in value.items() for text in (name, *texts)):
            return "\n".join(explain.pairs(value))
        return "\n".join(f"{name} = {' | '.join(texts)}" for name, texts in value.items())

    def to_python(self, value: Any) -> Any:
        """The table."""
        if isinstance(value, Mapping):
            return value
        text = str(super().to_python(value) or "").strip()
        if "[" in text:
            return _toml(text)
        table = {}
        for line in filter(None, map(str.strip, text.splitlines())):
            name, equals, texts = line.partition("=")
            if not equals:
                raise forms.ValidationError(
                    f'"{line}" has no "=": write name = value, or name = value | value.'
                )
            table[name.strip()] = [each.strip() for each in texts.split("|")]
        return table or ABSENT


class Toml(forms.CharField):
    """A value or a table in TOML."""

    widget = forms.Textarea(attrs={"rows": 5, "spellcheck": "false", "class": "mono"})

    def __init__(self, *, table: bool, **options: Any) -> None:
        super().__init__(**options)
        self.table = table

    def prepare_value(self, value: Any) -> Any:
        """The stored value as text."""
        if isinstance(value, str) or not value:
            return value or ""
        return "\n".join(explain.pairs(value)) if self.table else explain.value_text(value)

    def to_python(self, value: Any) -> Any:
        """The value."""
        if value and not isinstance(value, str):
            return value
        text = str(super().to_python(value) or "").strip()
        if not text:
            return ABSENT
        return _toml(text) if self.table else _toml_value(text)


def _toml_value(text: str) -> Any:
    return _toml(f"value = {text}").get("value")


def _toml(text: str) -> dict[str, Any]:
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise forms.ValidationError(f"This is no TOML: {str(error).lower()}.") from error
    if _has_nul(document):
        raise forms.ValidationError("A NUL character cannot be stored.")
    return document


def _has_nul(data: object) -> bool:
    if isinstance(data, str):
        return "\0" in data
    if isinstance(data, dict):
        return any(_has_nul(key) or _has_nul(value) for key, value in data.items())
    return isinstance(data, list) and any(map(_has_nul, data))


def fields_of(model: type[BaseModel], *, leave_out: frozenset[str] = frozenset()) -> dict[str, forms.Field]:
    """A form field for each field of a model. None is required by the form: the model says what is wrong."""
    return {name: _field(name, info) for name, info in model.model_fields.items() if name not in leave_out}


def _field(name: str, info: FieldInfo) -> forms.Field:  # noqa: PLR0911, PLR0912 - one line for each type
    base, extra = plain_type(info.annotation)
    metadata = [*extra, *info.metadata]
    label = info.title or name.replace("_", " ").capitalize()
    options: dict[str, Any] = {"label": label, "help_text": _help(info, metadata), "required": False}
    if not info.is_required():
        default = info.get_default(call_default_factory=True)
        if default is not PydanticUndefined:
            options["initial"] = _as_typed(default, metadata)
    if any(isinstance(each, Amount) for each in metadata):
        return forms.CharField(widget=forms.TextInput(attrs={"inputmode": "decimal", "size": 10}), **options)
    if any(isinstance(each, Period) for each in metadata):
        return forms.CharField(widget=forms.TextInput(attrs={"size": 10}), **options)
    if get_origin(base) is Literal:
        wording = next((each for each in metadata if isinstance(each, Words)), None)
        if wording is not None:
            return forms.ChoiceField(choices=list(wording.by_option.items()), **options)
        return forms.ChoiceField(choices=choices_of(get_args(base), empty=False), **options)
    if base is bool:
        return forms.BooleanField(**options)
    if base is int:
        return forms.IntegerField(widget=forms.NumberInput(attrs={"size": 10}), **options)
    if base is float:
        return forms.FloatField(widget=forms.NumberInput(attrs={"size": 10, "step": "any"}), **options)
    if base is str:
        longest = next((each.max_length for each in metadata if hasattr(each, "max_length")), None)
        long = longest is None or longest > _LONG_TEXT
        widget = forms.Textarea(attrs={"rows": 3}) if long else forms.TextInput
        return forms.CharField(widget=widget, **options)
    if _is_list_of_texts(base):
        options["help_text"] = f"{options['help_text']} One in each line.".strip()
        return Lines(**options)
    inside = _inside(base)
    if isinstance(inside, type) and issubclass(inside, BaseModel):
        rows = _required_choices(fields_of(inside), inside)
        builder = inside if hasattr(inside, "advanced") else None
        return Rows(
            rows, mapping=False, read=lambda text: _read(text, table=False), builder=builder, **options
        )
    if _is_list(base) and _plain_types(inside) <= {int, float, str}:
        options["help_text"] = f"{options['help_text']} With commas between.".strip()
        return Commas(**options)
    table = _is_mapping(base)
    value = get_args(base)[1] if table and len(get_args(base)) == 2 else None
    if table and (value is str or get_origin(value) is Literal):
        value_field = _field("value", FieldInfo(annotation=value))
        value_field.label = "Value"
        return Rows(
            key_and_value(value_field), mapping=True, read=lambda text: _read(text, table=True), **options
        )
    if table and value is not None and _is_list_of_texts(value):
        return ListsByName(**options)
    how = 'In TOML: "key" = "value", one in each line.' if table else "In TOML."
    options["help_text"] = f"{options['help_text']} {how}".strip()
    return Toml(table=table, **options)


def _read(text: str, *, table: bool) -> Any:
    """TOML as it was sent; ABSENT for none."""
    if not text.strip():
        return ABSENT
    return _toml(text) if table else _toml_value(text)


def _is_list(base: Any) -> bool:
    return get_origin(base) in (tuple, list)


def _inside(base: Any) -> Any:
    """What a list has in it, where that is one thing."""
    arguments = [option for option in get_args(base) if option is not Ellipsis] if _is_list(base) else []
    return plain_type(arguments[0])[0] if len(arguments) == 1 else None


def _plain_types(annotation: Any) -> set[Any]:
    """The types that a value can have."""
    several = get_origin(annotation) in (Union, types.UnionType)
    return {plain_type(option)[0] for option in (get_args(annotation) if several else [annotation])}


def _required_choices(fields: dict[str, forms.Field], model: type[BaseModel]) -> dict[str, forms.Field]:
    """In a row, a choice that must be made begins with none, so that an empty row says nothing."""
    for name, field in fields.items():
        if isinstance(field, forms.ChoiceField) and model.model_fields[name].is_required():
            base, _ = plain_type(model.model_fields[name].annotation)
            field.choices = choices_of(get_args(base), empty=True)
            field.required = True
        if isinstance(field.widget, forms.Textarea):
            field.widget.attrs["rows"] = 2
    return fields


def _is_mapping(base: Any) -> bool:
    origin = get_origin(base) or base
    return isinstance(origin, type) and issubclass(origin, Mapping)


def plain_type(annotation: Any) -> tuple[Any, list[Any]]:
    """A type without `Annotated` and `| None` around it, and what those held."""
    metadata: list[Any] = []
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *notes = get_args(annotation)
            metadata += [
                inner
                for each in notes
                for inner in (each.metadata if isinstance(each, FieldInfo) else [each])
            ]
        elif get_origin(annotation) in (Union, types.UnionType):
            options = [option for option in get_args(annotation) if option is not type(None)]
            if len(options) != 1:
                return annotation, metadata
            annotation = options[0]
        else:
            return annotation, metadata


def _is_list_of_texts(base: Any) -> bool:
    inner = [option for option in get_args(base) if option is not Ellipsis]
    return get_origin(base) in (tuple, list) and [plain_type(option)[0] for option in inner] == [str]


def _as_typed(value: Any, metadata: list[Any]) -> Any:
    """A default as somebody would type it."""
    if value is None:
        return None
    if any(isinstance(each, Amount) for each in metadata):
        return dollars(value)
    if any(isinstance(each, Period) for each in metadata):
        return duration(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _help(info: FieldInfo, metadata: list[Any]) -> str:
    text = info.description or ""
    bounds = {name: getattr(each, name) for each in metadata for name in ("ge", "le") if hasattr(each, name)}
    if any(isinstance(each, Period) for each in metadata):
        text += " Such as 30m, 2h or 7d."
    elif "ge" in bounds and bounds.get("le", 10**9) < 10**8:
        text += f" From {bounds['ge']:,} to {bounds['le']:,}."
    return text.strip()


def data_of(cleaned: Mapping[str, Any], model: type[BaseModel], prefix: str = "") -> dict[str, Any]:
    """What was entered, as the model reads it; empty fields are left out, so that defaults hold."""
    data: dict[str, Any] = {}
    for name in model.model_fields:
        value = cleaned.get(prefix + name, ABSENT)
        if value is ABSENT or value is None or (value == "" and model.model_fields[name].default != ""):
            continue
        data[name] = value
    return data


def _row_words(path: tuple[str | int, ...]) -> str:
    """Where in a list or a table: "row 2, question"."""
    return ", ".join(f"row {part + 1}" if isinstance(part, int) else str(part) for part in path)


def add_errors(
    form: forms.Form, error: ValidationError, model: type[BaseModel], data: object, prefix: str = ""
) -> None:
    """What the model found wrong, beside the fields that it is about."""
    for finding in findings(error, model, data):
        names = [prefix + ".".join(map(str, finding.path[: at + 1])) for at in range(len(finding.path))]
        depth = next((at for at in range(len(names), 0, -1) if names[at - 1] in form.fields), 1)
        name = names[depth - 1] if names else ""
        inner = _row_words(finding.path[depth:])
        sentence = f"{inner}: {finding.what}" if inner else finding.what
        form.add_error(name if name in form.fields else None, f"{sentence[:1].upper()}{sentence[1:]}.")
