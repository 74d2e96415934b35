"""A QuestionForm as the template draws it: fields with names, ids, values and what is wrong with them."""

import json
from dataclasses import dataclass

from csp.constants import SELF

from marketplace.loopback import anywhere
from marketplace.questionform.form_answers import FormAnswers, answer_name, blank, limits, other_name
from marketplace.questionform.parsing import Content, Form, FreeText, Question, Selection


def media_sources() -> dict[str, list[str]]:
    """What the policy of a page has to allow beside its own for a form's images, audio and video."""
    return {kind: [SELF, "data:", *anywhere()] for kind in ("img-src", "media-src")}


@dataclass(frozen=True, slots=True)
class Choice:
    """One option as it is drawn."""

    id: str
    value: str
    content: Content
    chosen: bool


@dataclass(frozen=True, slots=True)
class Text:
    """A field to write in. `patterns` is JSON for the script that checks regular expressions."""

    id: str
    name: str
    value: str
    spec: FreeText
    patterns: str


@dataclass(frozen=True, slots=True)
class Field:
    """A question as it is drawn; `kind` is text, choices (radio buttons or checkboxes) or select."""

    id: str
    question: Question
    kind: str
    name: str
    hint: str
    problem: str
    text: Text | None = None
    choices: tuple[Choice, ...] = ()
    other: Text | None = None
    other_chosen: bool = False

    @property
    def first_id(self) -> str:
        """Where the focus goes from the summary of problems."""
        return self.choices[0].id if self.kind == "choices" else self.id

    @property
    def described_by(self) -> str:
        """Ids of what is said about the field, for aria-describedby."""
        said = [f"{self.id}-hint"] * bool(self.hint) + [f"{self.id}-problem"] * bool(self.problem)
        return " ".join(said)


@dataclass(frozen=True, slots=True)
class FormPart:
    """A part of the form: a field, or content to read where there is none."""

    content: tuple[Content, ...]
    field: Field | None = None


@dataclass(frozen=True, slots=True)
class Sheet:
    """The whole form, and those of its fields that need another look."""

    parts: tuple[FormPart, ...]
    wrong: tuple[Field, ...]


def sheet(form: Form, given: FormAnswers | None = None) -> Sheet:
    """The form as it is drawn with what was filled in; empty, with the requester's defaults, with None."""
    filled = given if given is not None else blank(form)
    parts = []
    number = 0
    for part in form.parts:
        if isinstance(part, Question):
            number += 1
            parts.append(FormPart(part.content, _field(part, f"q{number}", filled)))
        else:
            parts.append(FormPart(part.content))
    fields = [part.field for part in parts if part.field]
    return Sheet(tuple(parts), tuple(each for each in fields if each.problem))


def _field(question: Question, at: str, given: FormAnswers) -> Field:
    name, answer = question.identifier, question.answer
    problem = given.problems.get(name, "")
    if isinstance(answer, FreeText):
        return Field(
            id=at,
            question=question,
            kind="text",
            name=answer_name(question),
            hint=_text_hint(answer),
            problem=problem,
            text=_text(at, answer_name(question), answer, given.texts.get(name, "")),
        )
    chosen = given.chosen.get(name, ())
    other = given.others.get(name, "")
    written = not chosen and bool(other)
    return Field(
        id=at,
        question=question,
        kind="select" if _fits_a_select(answer) else "choices",
        name=answer_name(question),
        hint=_selection_hint(answer),
        problem=problem,
        choices=tuple(
            Choice(f"{at}-{number}", option.identifier, option.content, option.identifier in chosen)
            for number, option in enumerate(answer.options, start=1)
        ),
        other=_text(f"{at}-other", other_name(question), answer.other, other) if answer.other else None,
        other_chosen=written,
    )


def _text(at: str, name: str, answer: FreeText, value: str) -> Text:
    patterns = [[each.source, each.flags, each.error] for each in answer.patterns]
    return Text(at, name, value, answer, json.dumps(patterns) if patterns else "")


def _fits_a_select(answer: Selection) -> bool:
    """A menu shows text only, and one choice."""
    plain = all(option.content.kind == "text" for option in answer.options)
    return plain and not answer.several and answer.style in ("dropdown", "combobox")


def _text_hint(answer: FreeText) -> str:
    if answer.numeric:
        return f"A number {limits(answer.min_value, answer.max_value)}." if _limited(answer) else "A number."
    low, high = answer.min_length, answer.max_length
    if low and high:
        return f"{low} characters." if low == high else f"{low} to {high} characters."
    return f"At least {low} characters." if low else f"At most {high} characters." if high else ""


def _limited(answer: FreeText) -> bool:
    return answer.min_value is not None or answer.max_value is not None


def _selection_hint(answer: Selection) -> str:
    if not answer.several:
        return ""
    most = min(answer.maximum, len(answer.options) + bool(answer.other))
    everything = most == len(answer.options) + bool(answer.other)
    if answer.minimum == most:
        return f"Choose {most}."
    if answer.minimum > 1 or (answer.minimum and not everything):
        return f"Choose at least {answer.minimum}." if everything else f"Choose {answer.minimum} to {most}."
    return "Choose any number." if everything else f"Choose {most} at most."
