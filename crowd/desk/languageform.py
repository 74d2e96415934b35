"""The part of a stage's form with its texts in further languages."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from django import forms
from pydantic import BaseModel

from crowd.desk import modelform
from crowd.kinds import StageConfig
from crowd.services.instructions import missing_sentences
from crowd.texts import FREE, LANGUAGES
from web.languages import LANGUAGES as CATALOGUES
from web.languages import first_language, name_of

#: What the fields of all languages begin with, as a study's file has them.
PREFIX = f"config.{LANGUAGES}."
_FIELD = re.compile(rf"{re.escape(PREFIX)}([A-Za-z]{{2,8}}(?:-[A-Za-z0-9]{{1,8}})*)\.")
#: A name of a row that can be a part of a field's.
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_MOST = 40


@dataclass(frozen=True, slots=True)
class LanguagePart:
    """A language's fields, and what is missing in it."""

    tag: str
    fields: list[forms.BoundField]
    missing: str

    @property
    def name(self) -> str:
        """What the language calls itself."""
        return name_of(self.tag)


class LanguageFields:
    """The fields of a stage's further languages in a form; those of languages that it has or was sent."""

    def __init__(
        self, form: forms.Form, config: type[StageConfig], stored: Mapping[str, Any], *, is_fixed: bool
    ) -> None:
        self.form, self.is_fixed = form, is_fixed
        field = config.model_fields.get(LANGUAGES)
        self.model: type[BaseModel] | None = get_args(field.annotation)[1] if field else None
        self.tags = list(dict.fromkeys([*stored, *self._sent()]))[:_MOST] if field else []
        self.asked = form.is_bound and form.data.get("step") == "language"
        for tag in self.tags:
            self._add(f"{PREFIX}{tag}.", stored.get(tag, {}))

    def _sent(self) -> Iterator[str]:
        if not self.form.is_bound:
            return
        yield from (match[1] for name in self.form.data if (match := _FIELD.match(name)))
        if self.form.data.get("step") == "language":
            codes = [code for code, _ in CATALOGUES]
            yield from [each for each in codes if each == self.form.data.get("further_language")]

    def _add(self, prefix: str, stored: Mapping[str, Any]) -> None:
        assert self.model is not None
        for name, field in modelform.fields_of(self.model).items():
            inner = get_args(self.model.model_fields[name].annotation)
            if len(inner) == 2 and isinstance(inner[1], type) and issubclass(inner[1], BaseModel):
                for row in self._rows(name):
                    texts = stored.get(name, {}).get(row, {})
                    for part, one in modelform.fields_of(inner[1]).items():
                        self._put(f"{prefix}{name}.{row}.{part}", one, texts.get(part), f"{row}: {part}")
            else:
                self._put(prefix + name, field, stored.get(name))

    def _put(self, name: str, field: forms.Field, stored: Any, label: str = "") -> None:
        field.initial, field.help_text = stored or "", ""
        field.label = label.capitalize() or field.label
        self.form.fields[name] = field

    def _rows(self, option: str) -> dict[str, Mapping[str, Any]]:
        """The rows that the option of the project's language has, by their names."""
        field = self.form[f"config.{option}"]
        rows = field.data if self.form.is_bound and not self.is_fixed else field.initial
        by_name = {str(row.get("name")): row for row in rows} if isinstance(rows, list | tuple) else {}
        return {name: row for name, row in by_name.items() if _NAME.fullmatch(name)}

    def fixed(self) -> set[str]:
        """Fields of texts that people may have read, but for those that have versions."""
        return {
            name
            for name, field in self.form.fields.items()
            if name.startswith(PREFIX) and field.initial and name.rpartition(".")[2] not in FREE
        }

    def entered(self) -> dict[str, Any]:
        """The texts by language, as the options have them."""
        languages: dict[str, Any] = {}
        for name, value in self.form.cleaned_data.items():
            if name.startswith(PREFIX) and value not in ("", [], modelform.ABSENT):
                *path, last = name.removeprefix(PREFIX).split(".")
                table = languages
                for part in path:
                    table = table.setdefault(part, {})
                table[last] = value
        return languages

    def parts(self, config: StageConfig | None, own_language: str) -> list[LanguagePart]:
        """The languages as they are drawn; `config` are the options, where they fit together."""
        sentences = {} if config is None else dict(_by_name(missing_sentences(config, own_language)))
        drawn = []
        for tag in self.tags:
            fields = [self.form[name] for name in self.form.fields if name.startswith(f"{PREFIX}{tag}.")]
            for field in fields:
                field.field.widget.attrs |= {
                    "lang": tag,
                    "dir": "auto",
                    "placeholder": self._own_text(field.name).strip(),
                }
            drawn.append(LanguagePart(tag, fields, sentences.get(name_of(tag), "")))
        return drawn

    def _own_text(self, name: str) -> str:
        """The text of the project's language, which a translator reads in the empty field."""
        path = name.removeprefix(PREFIX).split(".")[1:]
        if len(path) > 1:
            option, row, part = path
            row_texts = self._rows(option).get(row, {})
            value = row_texts.get(part) or (row_texts.get("options") if part == "labels" else "")
            return "\n".join(value) if isinstance(value, list | tuple) else str(value or "")
        for own in (f"config.{path[0]}", f"task.{path[0]}"):
            if own in self.form.fields:
                return str(self.form.fields[own].prepare_value(self.form[own].value()) or "")
        return ""

    def choices(self, own_language: str) -> list[tuple[str, str]]:
        """Languages that can be added."""
        there = [own_language, *self.tags]
        return [(code, name) for code, name in CATALOGUES if not first_language([code], there)]


def _by_name(sentences: Iterable[str]) -> Iterator[tuple[str, str]]:
    for sentence in sentences:
        name, _, rest = sentence.partition(": ")
        yield name, f"{rest[:1].upper()}{rest[1:]}"
