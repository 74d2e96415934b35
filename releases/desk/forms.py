"""Forms and steps of the wizard, and forms of what may happen to a release."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import HttpRequest, QueryDict
from django.urls import reverse

from core.projects.models import Project
from crowd.desk.forms import Form, OnceForm
from releases.errors import ReleaseError
from releases.facts import DETAILS, QUESTIONS
from releases.formats import FORMATS, LABELS
from releases.models import Release
from releases.options import GROUPS, OPTIONAL, Options, options_of
from releases.tables import SPLITS
from web.forms import RevisedForm, differences

#: Fields of the second step, and of the first two; they travel in the address from step to step.
FORMAT_CHOICES = ("formats", "seed", *SPLITS, "version")
CHOICES = ("include", *FORMAT_CHOICES)
_DETAIL_WORDS = {
    "authors": ("Authors", "One name a line, as they shall be cited."),
    "citation": ("How to cite", "A paper that describes the data, if there is one."),
    "url": ("Address", "Where the data set can be found."),
    "summary": ("Summary", "A sentence or two for people who look for data."),
}
_LONGEST_ANSWER = 10_000
#: What tells one release from another; its answers never change.
_SHOWN = ("version",)


def _percent(label: str, first: int) -> forms.IntegerField:
    return forms.IntegerField(min_value=0, max_value=100, initial=first, label=label)


class ContentForm(Form):
    """What goes into a release, in which formats and splits: the first two steps."""

    include = forms.MultipleChoiceField(
        choices=[(name, GROUPS[name].label) for name in OPTIONAL],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Bring in",
    )
    formats = forms.MultipleChoiceField(
        choices=[(name, LABELS[name]) for name in FORMATS],
        initial=list(Options().formats),
        widget=forms.CheckboxSelectMultiple,
        label="Formats",
    )
    train = _percent("Train, in %", 100)
    validation = _percent("Validation, in %", 0)
    test = _percent("Test, in %", 0)
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**53,
        initial=0,
        label="Seed",
        help_text="The same seed gives the same splits.",
    )
    version = forms.RegexField(
        r"\A\d{1,5}\.\d{1,5}\.\d{1,5}\Z",
        required=False,
        max_length=20,
        label="Version",
        help_text="MAJOR.MINOR.PATCH. Empty: the next one.",
        error_messages={"invalid": "Write three numbers with dots between them, such as 1.0.0."},
    )

    def clean(self) -> dict[str, Any]:
        """The shares add up."""
        cleaned = super().clean() or {}
        if not self.errors:
            try:
                self._read(cleaned)
            except ReleaseError as error:
                raise forms.ValidationError(str(error)) from error
        return cleaned

    def options(self, answers: dict[str, str] | None = None) -> Options:
        """The options of a valid form, with what people answered for the data card."""
        return self._read(self.cleaned_data, answers)

    @staticmethod
    def _read(cleaned: dict[str, Any], answers: dict[str, str] | None = None) -> Options:
        shares = tuple(cleaned[name] / 100 for name in SPLITS)
        return options_of(
            {
                "include": cleaned["include"],
                "formats": cleaned["formats"],
                "seed": cleaned["seed"],
                "shares": shares,
                "answers": answers or {},
            }
        )


class CardForm(RevisedForm, OnceForm):
    """What only people can say about the data, and what is new: the last step before the build.

    It begins with the answers of the release built last; where another was built since, they are compared.
    """

    notes = forms.CharField(
        required=False,
        max_length=_LONGEST_ANSWER,
        widget=forms.Textarea(attrs={"rows": 3}),
        label="What is new in this version",
    )

    def __init__(self, data: Any = None, *, last: Release | None = None) -> None:
        super().__init__(data, initial=card_of(last))
        self.shows(last, _SHOWN)
        for key, question in QUESTIONS.items():
            self.fields[key] = _long(question)
        for key in DETAILS:
            label, help_text = _DETAIL_WORDS[key]
            self.fields[key] = _long(label, help_text)

    def questions(self) -> list[Any]:
        """Fields of the questions."""
        return [self[key] for key in QUESTIONS]

    def details(self) -> list[Any]:
        """Fields of the rest."""
        return [self["notes"], *(self[key] for key in DETAILS)]

    def is_overtaken(self, theirs: "CardForm") -> bool:
        """Whether somebody built a release with other answers since this form was opened."""
        del theirs.fields["notes"]
        return self.seen.mark != theirs.revision and any(differences(self, theirs))

    def answers(self) -> dict[str, str]:
        """What was answered, by key."""
        pairs = ((key, self.cleaned_data[key].strip()) for key in (*QUESTIONS, *DETAILS))
        return {key: text for key, text in pairs if text}


def _long(label: str, help_text: str = "") -> forms.CharField:
    return forms.CharField(
        required=False,
        max_length=_LONGEST_ANSWER,
        widget=forms.Textarea(attrs={"rows": 2}),
        label=label,
        help_text=help_text,
    )


def card_of(last: Release | None) -> dict[str, str]:
    """Answers that an earlier release gave, to begin with."""
    answers = last.options.get("answers") if last and isinstance(last.options, dict) else None
    return {str(key): str(text) for key, text in answers.items()} if isinstance(answers, dict) else {}


class WithdrawForm(Form):
    """Why a release is withdrawn; its version is typed, because nothing takes it back."""

    reason = forms.CharField(
        max_length=300,
        widget=forms.Textarea(attrs={"rows": 2}),
        label="Why",
        help_text="Everybody who has the address of the release reads it.",
    )
    typed = forms.CharField(max_length=20, label="Type the version")


class DecisionForm(Form):
    """What becomes of findings of the privacy check."""

    reason = forms.CharField(max_length=300, required=False, label="Why")


class CheckForm(Form):
    """One press of the button that begins a check."""

    once = forms.UUIDField(widget=forms.HiddenInput, initial=uuid.uuid4)


# The steps of the wizard. What was chosen travels in the address, so that one can go back and nothing is
# stored before the build begins.

_STEPS = {
    "content": "What goes in",
    "formats": "Formats",
    "privacy": "Privacy",
    "preview": "Preview",
    "card": "Data card",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One step as the page draws it; `address` keeps what was chosen."""

    name: str
    label: str
    address: str


@dataclass(frozen=True, slots=True)
class Way:
    """Where somebody is in the wizard. `query_string` are the choices as a query string."""

    current: str
    steps: list[Step]
    query_string: str
    choices: QueryDict

    def others(self) -> list[tuple[str, str]]:
        """Choices of the other one of the first two steps, for the form of this one."""
        names = FORMAT_CHOICES if self.current == "content" else ("include",)
        return [(name, value) for name in names for value in self.choices.getlist(name)]

    def address(self, name: str) -> str:
        """Of a step."""
        return next(step.address for step in self.steps if step.name == name)

    @property
    def following(self) -> str:
        """The address of the next step; empty at the last."""
        names = [step.name for step in self.steps]
        place = names.index(self.current) + 1
        return self.steps[place].address if place < len(names) else ""

    @property
    def number(self) -> int:
        """Which step it is, from one."""
        return [step.name for step in self.steps].index(self.current) + 1


def encode_choices(parameters: QueryDict) -> str:
    """The choices of the first two steps alone, as a query string."""
    return _pick_choices(parameters).urlencode()


def _pick_choices(parameters: QueryDict) -> QueryDict:
    choices = QueryDict(mutable=True)
    for name in CHOICES:
        if name in parameters:
            choices.setlist(name, parameters.getlist(name)[:20])
    return choices


def way(project: Project, current: str, parameters: QueryDict) -> Way:
    """The steps with the choices that the address has."""
    query = encode_choices(parameters)
    steps = [
        Step(name, label, f"{reverse(f'releases:{name}', args=[project.slug])}{'?' if query else ''}{query}")
        for name, label in _STEPS.items()
    ]
    return Way(current, steps, query, _pick_choices(parameters))


def content_form(parameters: QueryDict) -> ContentForm:
    """The form with what the address has; the defaults where it says nothing about formats and splits."""
    if any(name in parameters for name in FORMAT_CHOICES):
        return ContentForm(parameters)
    first: Mapping[str, Any] = {name: field.initial for name, field in ContentForm().fields.items()}
    defaults = QueryDict(mutable=True)
    defaults.setlist("include", parameters.getlist("include")[:20])
    for name, value in first.items():
        if name == "include":
            continue
        if isinstance(value, list):
            defaults.setlist(name, [str(each) for each in value])
        elif value is not None:
            defaults[name] = str(value)
    return ContentForm(defaults)


def read_choices(request: HttpRequest) -> ContentForm:
    """The form of the choices in the address, whatever the method."""
    return content_form(request.GET)
