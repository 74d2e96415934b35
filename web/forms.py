"""Forms: small ones that do one thing and note how it went, and those about a row that others change too.

A form about a row calls `shows` with the row when it is made, its view gives `seen` to the service that
saves, and where that raises ConflictError, `compare` keeps what was typed beside what is stored. The template
of the form includes `parts/revision.html` inside of its <form>: that is all a page needs.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect

from core.errors import ActionError
from core.money import AmountError, dollars, entered_cents
from core.revisions import ShownColumns, mark_of

if TYPE_CHECKING:
    _Form = forms.Form
else:
    _Form = object

# Rows that a person ticked in a table.

#: Digits of the longest number that is surely a key on both databases; a longer one is an error of SQLite.
_MOST_DIGITS = 18


def chosen_keys(values: Iterable[str]) -> list[int]:
    """Primary keys from the values of tick boxes; what is no key is left out, as a row that is gone is."""
    return [
        int(value) for value in values if value.isascii() and value.isdigit() and len(value) <= _MOST_DIGITS
    ]


#: Rows that one form acts on where all that match a filter are chosen.
MOST_MATCHING = 500


def matching_keys(post: QueryDict, rows: QuerySet[Any]) -> list[int]:
    """Keys of all rows that match now. Raises FormError where they are too many, or not those confirmed."""
    keys = list(rows.order_by("pk").values_list("pk", flat=True)[: MOST_MATCHING + 1])
    if len(keys) > MOST_MATCHING:
        raise FormError(f"More than {MOST_MATCHING} match; narrow the filter. Nothing was done.")
    if not keys:
        raise FormError("None of them can be chosen any more. Nothing was done.")
    if is_confirmed(post) and post.get("every") != str(len(keys)):
        before = post.get("every", "")[:10]
        raise FormError(f"{before} matched when you confirmed, {len(keys)} match now. Nothing was done.")
    return keys


def is_confirmed(post: QueryDict) -> bool:
    """Whether the form comes from the page that says how many rows are acted on."""
    return post.get("confirmed") == "1"


_MOST_CENTS = 1_000_000_000


class FormError(ActionError):
    """A form with something missing or wrong, in words; for forms of one or two fields."""


def read_form(form: forms.Form) -> dict[str, Any]:
    """What a small form holds; raises FormError with the first thing that is wrong with it."""
    if form.is_valid():
        return dict(form.cleaned_data)
    name, errors = next(iter(form.errors.items()))
    label = form[name].label if name in form.fields else ""
    raise FormError(f"{label}: {errors[0]}" if label else str(errors[0]))


def run_action(
    request: HttpRequest, action: Callable[[], str], then: str, *names: Any, other: str | None = None
) -> HttpResponse:
    """Do something, say in a note how it went, and show a page: `then`, or `other` where it could not be.

    Both are addresses, or names of addresses that `names` complete.
    """
    try:
        messages.success(request, action())
    except ActionError as error:
        if error.is_repeat:
            messages.info(request, str(error))
            return redirect(then, *names)
        messages.error(request, str(error))
        return redirect(other or then, *names)
    return redirect(then, *names)


class MoneyField(forms.CharField):
    """An amount such as 12.50, kept as whole cents: from `least` to `most` of them.

    `refusal` says what is wrong with any other amount, with {most} as an amount. Signs of other currencies
    than `currency`, the installation's unless named, are refused.
    """

    widget = forms.TextInput(attrs={"inputmode": "decimal", "size": 10, "autocomplete": "off"})

    def __init__(
        self,
        *,
        least: int = 0,
        most: int = _MOST_CENTS,
        refusal: str = "This is more than {most}.",
        currency: str = "",
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.currency = currency
        self.least, self.most, self.refusal = least, most, refusal

    def prepare_value(self, value: Any) -> Any:
        """Cents as an amount."""
        return dollars(value) if isinstance(value, int) else value

    def to_python(self, value: Any) -> Any:
        """Whole cents."""
        text = str(super().to_python(value) or "").strip()
        if not text:
            return None
        try:
            amount = entered_cents(text, self.currency or settings.MARKETPLACE_CURRENCY)
        except AmountError as error:
            raise forms.ValidationError(str(error)) from error
        if not self.least <= amount <= self.most:
            raise forms.ValidationError(self.refusal.format(most=dollars(self.most)))
        return amount


class LogReasonForm(forms.Form):
    """Why something is done; `help_text` says where the reason stays."""

    help_text = ""
    reason = forms.CharField(max_length=300, widget=forms.Textarea(attrs={"rows": 2}), label="Why")

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        self.fields["reason"].help_text = self.help_text


# Forms about a row that is there, which another person may have changed since it was shown.

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
        typed, stored = _describe_content(field), _describe_content(theirs[field.name])
        if typed != stored and cleaned.get(field.name, _ABSENT) != stored_value:
            yield Line(str(field.label), typed or _NOTHING, stored or _NOTHING, field.auto_id or "")


def _describe_content(field: forms.BoundField) -> str:
    """What a field holds, as a person reads it."""
    value, within = field.value(), field.field
    if isinstance(within.widget, forms.MultiWidget):
        parts = value if isinstance(value, list | tuple) else within.widget.decompress(value) or []
        pairs = zip(within.widget.widgets, parts, strict=False)
        return " ".join(
            _label(part, each) if isinstance(part, forms.Select) else str(each)
            for part, each in pairs
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
