"""Forms about a row that is there, and the comparison that is shown where another person was first.

A form calls `shows` with the row when it is made, its view gives `seen` to the service that saves, and where
that raises ConflictError, `compare` keeps what was typed beside what is stored. The template of the form
includes `parts/revision.html` inside of its <form>: that is all a page needs.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms
from django.db.models import Model

from core.revisions import ShownColumns, mark_of

if TYPE_CHECKING:
    _Form = forms.Form
else:
    _Form = object

#: Name of the hidden input.
FIELD = "revision"
_NOTHING = "(empty)"
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Line:
    """A field that two people filled in differently; `anchor` is the place of the field in the form."""

    label: str
    mine: str
    theirs: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Conflict:
    """What is typed beside what is stored; `back` shows the form as it is stored.

    `edit` is the page on which one edits on, where that is not the page of the comparison.
    """

    lines: list[Line]
    back: str
    edit: str = ""


class RevisedForm(_Form):
    """Mixin of forms that change a row that is there."""

    conflict: Conflict | None = None
    _shown_columns: tuple[str, ...] = ()
    _shown_mark = ""

    def shows(self, row: Model | None, columns: Iterable[str]) -> None:
        """Remember how the row is while the form is drawn; None: there is none yet."""
        self._shown_columns = tuple(columns)
        self._shown_mark = mark_of(row, self._shown_columns) if row is not None else ""

    @property
    def revision(self) -> str:
        """Value of the hidden input: the row as the person sees it, also while they mend a mistake."""
        if self.is_bound and self.conflict is None:
            return str(self.data.get(FIELD, ""))
        return self._shown_mark

    @property
    def seen(self) -> ShownColumns:
        """What the form that was sent showed."""
        return ShownColumns(self._shown_columns, str(self.data.get(FIELD, "")))

    def compare(self, theirs: "RevisedForm", back: str) -> None:
        """Another person was first: put what is typed beside what is stored, in `theirs`.

        The form can then be sent again, and saves over what this comparison shows, over nothing newer.
        """
        self.conflict = Conflict(list(differences(self, theirs)), back)
        self._shown_columns, self._shown_mark = theirs._shown_columns, theirs._shown_mark


def differences(mine: forms.Form, theirs: forms.Form) -> Iterator[Line]:
    """The fields in which two forms differ, as a person reads them."""
    cleaned = mine.cleaned_data if mine.is_valid() else {}
    for field in mine:
        if field.is_hidden or field.name not in theirs.fields:
            continue
        stored_value = theirs.get_initial_for_field(theirs.fields[field.name], field.name)
        typed, stored = _words(field), _words(theirs[field.name])
        if typed != stored and cleaned.get(field.name, _ABSENT) != stored_value:
            yield Line(str(field.label), typed or _NOTHING, stored or _NOTHING, field.auto_id or "")


def _words(field: forms.BoundField) -> str:
    """What a field holds, as a person reads it."""
    value, within = field.value(), field.field
    if isinstance(within.widget, forms.MultiWidget):
        parts = value if isinstance(value, list | tuple) else within.widget.decompress(value) or []
        words = zip(within.widget.widgets, parts, strict=False)
        return " ".join(
            _label(part, each) if isinstance(part, forms.Select) else str(each)
            for part, each in words
            if each not in (None, "")
        )
    if isinstance(within, forms.BooleanField):
        return "yes" if within.to_python(value) else "no"
    if isinstance(within, forms.ChoiceField):
        return "\n".join(_label(within, each) for each in _several(value))
    return "\n".join(_text(each) for each in _several(value)).replace("\r\n", "\n").strip()


def _several(value: Any) -> list[Any]:
    if value is None or value == "":
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _text(value: Any) -> str:
    """A text, or the parts of a row of several fields."""
    if isinstance(value, dict):
        return ", ".join(_text(each) for each in value.values() if each not in (None, ""))
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _label(field: Any, value: Any) -> str:
    """The words of a choice, of a field or its widget."""
    groups = ((inner if isinstance(inner, list | tuple) else [(key, inner)]) for key, inner in field.choices)
    return next(
        (str(label) for group in groups for key, label in group if str(key) == str(value)), str(value)
    )
