"""Answers to a QuestionForm: read from the post, written as XML, drawn as fields; scored for a test."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise
from xml.etree.ElementTree import Element, SubElement, tostring

from csp.constants import SELF
from django.conf import settings
from django.http import QueryDict
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext, gettext_lazy, ngettext

from marketplace.errors import invalid_value
from marketplace.forms.loopback import anywhere
from marketplace.forms.questionform import (
    SCHEMAS,
    Content,
    FileUpload,
    Form,
    FreeText,
    Question,
    Selection,
    parse_error,
    printable,
    root_of,
)

# What somebody filled into a QuestionForm: read from the post, held against the form, written as XML.

ANSWERS = f"{SCHEMAS}2005-10-01/QuestionFormAnswers.xsd"
#: The value of the option "something else" in a post; no SelectionIdentifier is empty.
OTHER = ""
_NUMBER = re.compile(r"[-+]?[0-9]{1,15}(?:\.[0-9]{1,15})?")
MISSING = gettext_lazy("An answer is needed here.")


@dataclass(frozen=True, slots=True)
class GivenFile:
    """A file that was taken for a question; `key` names its bytes."""

    key: str
    name: str
    size: int


@dataclass(slots=True)
class FormAnswers:
    """Answers and what is wrong with them, by QuestionIdentifier. `others` are texts of one's own."""

    texts: dict[str, str] = field(default_factory=dict)
    selections: dict[str, tuple[str, ...]] = field(default_factory=dict)
    others: dict[str, str] = field(default_factory=dict)
    files: dict[str, GivenFile] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)


def answer_name(question: Question) -> str:
    """Name of the field of a question's answer in the form that is posted."""
    return f"answer:{question.identifier}"


def file_name(question: Question) -> str:
    """Name of the field of a question's file in the form that is posted."""
    return f"file:{question.identifier}"


def other_name(question: Question) -> str:
    """Name of the field of a text of one's own beside the selections of a question."""
    return f"other:{question.identifier}"


def blank(form: Form) -> FormAnswers:
    """The form before anybody filled it in: the requester's default texts, nothing chosen."""
    answers = FormAnswers()
    for question in form.questions:
        answer = question.answer
        if isinstance(answer, FreeText):
            answers.texts[question.identifier] = answer.default
        elif isinstance(answer, Selection) and answer.other:
            answers.others[question.identifier] = answer.other.default
    return answers


def read_form_answers(
    form: Form,
    post: QueryDict,
    files: Mapping[str, GivenFile] | None = None,
    refused_files: Mapping[str, str] | None = None,
) -> FormAnswers:
    """What was posted; `problems` of the result has a sentence for each question that is not well answered.

    `files` were taken already, by QuestionIdentifier; of `refused_files` it is known what was wrong.

    An AnswerFormatRegex is not looked at: it is the requester's, and a regular expression can be written
    that runs for years. The worker's browser checks it.
    """
    answers = FormAnswers()
    for question in form.questions:
        name = question.identifier
        if isinstance(question.answer, FreeText):
            text = answers.texts[name] = _lines(post.get(answer_name(question), ""))
            problem = _text_problem(question.answer, text, required=question.required)
        elif isinstance(question.answer, FileUpload):
            if file := (files or {}).get(name):
                answers.files[name] = file
            problem = (refused_files or {}).get(name, "")
            if not problem and question.required and name not in answers.files:
                problem = gettext("Choose a file.")
        else:
            problem = _read_selection(question, question.answer, post, answers)
        if problem:
            answers.problems[name] = problem
    return answers


def _read_selection(question: Question, answer: Selection, post: QueryDict, answers: FormAnswers) -> str:
    posted = list(dict.fromkeys(post.getlist(answer_name(question))))
    identifiers = {option.identifier for option in answer.options}
    selection = tuple(identifier for identifier in posted if identifier in identifiers)
    answers.selections[question.identifier] = selection
    other = _lines(post.get(other_name(question), "")) if answer.other else ""
    if answer.other and (OTHER in posted or (other and not selection)):
        answers.others[question.identifier] = other
    else:
        other = ""
    if any(identifier not in identifiers and identifier != OTHER for identifier in posted):
        return gettext("Choose among the answers that are offered.")
    if answer.other and OTHER in posted and not other.strip():
        return gettext("Write what else it is, or choose another answer.")
    if answer.other and other and (problem := _text_problem(answer.other, other, required=False)):
        return problem
    count = len(selection) + bool(other.strip())
    if count > answer.maximum:
        return _at_most(answer.maximum) if answer.several else gettext("Choose one answer.")
    least = max(answer.minimum, int(question.required))
    if count < least and (question.required or count):
        return str(MISSING) if least == 1 else _at_least(least)
    return ""


def _text_problem(answer: FreeText, text: str, *, required: bool) -> str:
    if not text.strip():
        return str(MISSING) if required else ""
    if answer.min_length is not None and len(text) < answer.min_length:
        return gettext("Write at least %(min_length)s characters; these are %(text)s.") % {
            "min_length": answer.min_length,
            "text": len(text),
        }
    if answer.max_length is not None and len(text) > answer.max_length:
        return gettext("Write at most %(max_length)s characters; these are %(text)s.") % {
            "max_length": answer.max_length,
            "text": len(text),
        }
    return _number_problem(answer, text) if answer.numeric else ""


def _number_problem(answer: FreeText, text: str) -> str:
    if not _NUMBER.fullmatch(text.strip()):
        return gettext("Write a number in digits, with a point before decimals.")
    low, high = answer.min_value, answer.max_value
    number = float(text.strip())
    if (low is not None and number < low) or (high is not None and number > high):
        return _limits_sentence(low, high)
    return ""


def _limits_sentence(low: float | None, high: float | None) -> str:
    """What to write where a number has limits, at least one of which is there."""
    if low is None:
        return gettext("Write a number of at most %(high)s.") % {"high": f"{high:g}"}
    if high is None:
        return gettext("Write a number of at least %(low)s.") % {"low": f"{low:g}"}
    return gettext("Write a number from %(low)s to %(high)s.") % {"low": f"{low:g}", "high": f"{high:g}"}


def _number_hint(low: float | None, high: float | None) -> str:
    if low is None:
        return gettext("A number of at most %(high)s.") % {"high": f"{high:g}"}
    if high is None:
        return gettext("A number of at least %(low)s.") % {"low": f"{low:g}"}
    return gettext("A number from %(low)s to %(high)s.") % {"low": f"{low:g}", "high": f"{high:g}"}


def _at_least(count: int) -> str:
    return gettext("Choose at least %(n)s.") % {"n": count}


def _at_most(count: int) -> str:
    return gettext("Choose %(n)s at most.") % {"n": count}


def _lines(text: str) -> str:
    """A text with the line ends that the requester counts, not those of form posts."""
    return text.replace("\r\n", "\n")


def answers_xml(form: Form, answers: FormAnswers) -> str:
    """QuestionFormAnswers: one answer per question, in the order of the form."""
    root = Element("QuestionFormAnswers", xmlns=ANSWERS)
    for question in form.questions:
        name = question.identifier
        answer = SubElement(root, "Answer")
        SubElement(answer, "QuestionIdentifier").text = printable(name)
        if isinstance(question.answer, FreeText):
            SubElement(answer, "FreeText").text = printable(answers.texts.get(name, ""))
            continue
        if isinstance(question.answer, FileUpload):
            if file := answers.files.get(name):
                SubElement(answer, "UploadedFileKey").text = file.key
                SubElement(answer, "UploadedFileSizeInBytes").text = str(file.size)
            continue
        for identifier in answers.selections.get(name, ()):
            SubElement(answer, "SelectionIdentifier").text = printable(identifier)
        if other := answers.others.get(name, ""):
            SubElement(answer, "OtherSelectionText").text = printable(other)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode")


def media_sources() -> dict[str, list[str]]:
    """What the policy of a page has to allow beside its own for a form's images, audio and video."""
    return {kind: [SELF, "data:", *anywhere()] for kind in ("img-src", "media-src")}


@dataclass(frozen=True, slots=True)
class Choice:
    """One option as it is drawn."""

    id: str
    value: str
    content: Content
    selected: bool


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
    """A question as it is drawn; `kind` is text, file, choices (radio buttons or checkboxes) or select."""

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
    file: GivenFile | None = None
    least_bytes: int = 0
    most_bytes: int = 0

    @property
    def first_id(self) -> str:
        """Where the focus goes from the summary of problems."""
        return self.choices[0].id if self.kind == "choices" else self.id

    @property
    def described_by(self) -> str:
        """Ids of what is said about the field, for aria-describedby."""
        element_ids = [f"{self.id}-hint"] * bool(self.hint) + [f"{self.id}-problem"] * bool(self.problem)
        return " ".join(element_ids)


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


def sheet(form: Form, answers: FormAnswers | None = None) -> Sheet:
    """The form as it is drawn with what was filled in; empty, with the requester's defaults, with None."""
    filled = answers if answers is not None else blank(form)
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


def _field(question: Question, at: str, answers: FormAnswers) -> Field:
    name, answer = question.identifier, question.answer
    problem = answers.problems.get(name, "")
    if isinstance(answer, FreeText):
        return Field(
            id=at,
            question=question,
            kind="text",
            name=answer_name(question),
            hint=_text_hint(answer),
            problem=problem,
            text=_text(at, answer_name(question), answer, answers.texts.get(name, "")),
        )
    if isinstance(answer, FileUpload):
        most = min(answer.max_bytes, settings.MARKETPLACE_UPLOAD_MB << 20)
        return Field(
            id=at,
            question=question,
            kind="file",
            name=file_name(question),
            hint=gettext("A file of at most %(size)s.") % {"size": filesizeformat(most)},
            problem=problem,
            file=answers.files.get(name),
            least_bytes=answer.min_bytes,
            most_bytes=most,
        )
    selected = answers.selections.get(name, ())
    other = answers.others.get(name, "")
    written = not selected and bool(other)
    return Field(
        id=at,
        question=question,
        kind="select" if _fits_a_select(answer) else "choices",
        name=answer_name(question),
        hint=_selection_hint(answer),
        problem=problem,
        choices=tuple(
            Choice(f"{at}-{number}", option.identifier, option.content, option.identifier in selected)
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
        return _number_hint(answer.min_value, answer.max_value) if _limited(answer) else gettext("A number.")
    low, high = answer.min_length, answer.max_length
    if low and high:
        if low == high:
            return ngettext("%(n)s character.", "%(n)s characters.", low) % {"n": low}
        return gettext("%(low)s to %(high)s characters.") % {"low": low, "high": high}
    if low:
        return ngettext("At least %(n)s character.", "At least %(n)s characters.", low) % {"n": low}
    return (
        ngettext("At most %(n)s character.", "At most %(n)s characters.", high) % {"n": high} if high else ""
    )


def _limited(answer: FreeText) -> bool:
    return answer.min_value is not None or answer.max_value is not None


def _selection_hint(answer: Selection) -> str:
    if not answer.several:
        return ""
    most = min(answer.maximum, len(answer.options) + bool(answer.other))
    everything = most == len(answer.options) + bool(answer.other)
    if answer.minimum == most:
        return gettext("Choose %(n)s.") % {"n": most}
    if answer.minimum > 1 or (answer.minimum and not everything):
        several = gettext("Choose %(low)s to %(high)s.") % {"low": answer.minimum, "high": most}
        return _at_least(answer.minimum) if everything else several
    return gettext("Choose any number.") if everything else _at_most(most)


# An AnswerKey: what the answers of a qualification test are worth, and which value comes of the sum.

KEY_NAMESPACE = f"{SCHEMAS}2005-10-01/AnswerKey.xsd"
#: Values of qualifications are whole numbers of 32 bits on the wire.
_LEAST, _MOST = -(2**31), 2**31 - 1


@dataclass(frozen=True, slots=True)
class ScoredQuestion:
    """What each exact choice of selections adds to the sum; `default` is for all other choices and none."""

    scores: Mapping[frozenset[str], int]
    default: int

    @property
    def extremes(self) -> tuple[int, int]:
        """The least and the most that the question can add."""
        possible = (*self.scores.values(), self.default)
        return min(possible), max(possible)


@dataclass(frozen=True, slots=True)
class ScaleMapping:
    """The sum times a factor, rounded to the nearest whole number: as it is, a percentage, or a scale."""

    factor: Decimal = Decimal(1)
    divisor: int = 1

    def value(self, total: int) -> int:
        """Value of the qualification for this sum."""
        return int((total * self.factor / self.divisor).quantize(Decimal(1), ROUND_HALF_UP))


@dataclass(frozen=True, slots=True)
class RangeMapping:
    """A value for each range of sums (first, last, value), and one for sums in none of them."""

    ranges: tuple[tuple[int, int, int], ...]
    otherwise: int

    def value(self, total: int) -> int:
        """Value of the qualification for this sum."""
        return next((value for first, last, value in self.ranges if first <= total <= last), self.otherwise)


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """Questions by their QuestionIdentifier, and how their sum becomes a value."""

    questions: Mapping[str, ScoredQuestion]
    mapping: ScaleMapping | RangeMapping


def score(key: AnswerKey, answers: Mapping[str, Collection[str]]) -> int:
    """Value of the qualification for these answers: the selections made, by QuestionIdentifier."""
    total = 0
    for identifier, question in key.questions.items():
        total += question.scores.get(frozenset(answers.get(identifier, ())), question.default)
    return key.mapping.value(total)


def parse_key(xml: str, form: Form) -> AnswerKey:
    """Read an AnswerKey for a test; raises Refusal naming what is wrong, or does not fit the test."""
    root = root_of(xml, parameter="AnswerKey")
    if root.tag != f"{{{KEY_NAMESPACE}}}AnswerKey":
        raise parse_error(f"its root is {root.tag}; expected AnswerKey in {KEY_NAMESPACE}")
    choices = {
        question.identifier: frozenset(option.identifier for option in question.answer.options)
        if isinstance(question.answer, Selection)
        else None
        for question in form.questions
    }
    questions: dict[str, ScoredQuestion] = {}
    mapping: ScaleMapping | RangeMapping = ScaleMapping()
    for position, element in enumerate(root, start=1):
        if _name(element) == "Question":
            identifier = _key_text(_only(element, "QuestionIdentifier"))
            if identifier in questions:
                raise parse_error(f"the key has the question {identifier!r} twice")
            if identifier not in choices:
                raise invalid_value("AnswerKey", f"the test has no question {identifier!r}.")
            questions[identifier] = _question(element, identifier, choices[identifier])
        elif _name(element) == "QualificationValueMapping" and position == len(root):
            mapping = _mapping(element)
        else:
            raise parse_error(f"<{_name(element)}> stands where a Question is expected")
    if not questions:
        raise parse_error("an AnswerKey needs at least one Question")
    key = AnswerKey(questions=questions, mapping=mapping)
    _check_values(key)
    return key


def _question(element: Element, identifier: str, choices: frozenset[str] | None) -> ScoredQuestion:
    if choices is None:
        raise invalid_value(
            "AnswerKey",
            f"the question {identifier!r} is answered in free text, and only selections can be scored. Leave "
            "the key out and decide on the requests yourself.",
        )
    _allow(element, {"QuestionIdentifier", "AnswerOption", "DefaultScore"})
    scores: dict[frozenset[str], int] = {}
    for option in _all(element, "AnswerOption"):
        _allow(option, {"SelectionIdentifier", "AnswerScore"})
        selected = frozenset(_key_text(each) for each in _all(option, "SelectionIdentifier"))
        if not selected:
            raise parse_error(f"an AnswerOption of the question {identifier!r} has no SelectionIdentifier")
        if unknown := sorted(selected - choices):
            raise invalid_value("AnswerKey", f"the question {identifier!r} has no selection {unknown[0]!r}.")
        worth = _parse_integer(_only(option, "AnswerScore"))
        if scores.setdefault(selected, worth) != worth:
            raise invalid_value(
                "AnswerKey", f"the question {identifier!r} has two scores for {', '.join(sorted(selected))}."
            )
    if not scores:
        raise parse_error(f"the question {identifier!r} has no AnswerOption")
    default = _optional(element, "DefaultScore")
    return ScoredQuestion(scores=scores, default=0 if default is None else _parse_integer(default))


def _mapping(element: Element) -> ScaleMapping | RangeMapping:
    if len(element) != 1 or _name(element[0]) not in _MAPPINGS:
        raise parse_error(f"QualificationValueMapping holds one of {', '.join(_MAPPINGS)}")
    return _MAPPINGS[_name(element[0])](element[0])


def _percentage(element: Element) -> ScaleMapping:
    most = _parse_integer(_only(element, "MaximumSummedScore"))
    if most < 1:
        raise invalid_value("AnswerKey", "MaximumSummedScore is at least 1.")
    return ScaleMapping(factor=Decimal(100), divisor=most)


def _scale(element: Element) -> ScaleMapping:
    text = _key_text(_only(element, "SummedScoreMultiplier"))
    if not re.fullmatch(r"[-+]?(\d{1,9}(\.\d{0,9})?|\.\d{1,9})", text, re.ASCII):
        raise parse_error(f"SummedScoreMultiplier is {text[:20]!r}, not a decimal number")
    return ScaleMapping(factor=Decimal(text))


def _ranges(element: Element) -> RangeMapping:
    _allow(element, {"SummedScoreRange", "OutOfRangeQualificationValue"})
    ranges = []
    for each in _all(element, "SummedScoreRange"):
        first, last, value = (
            _parse_integer(_only(each, name))
            for name in ("InclusiveLowerBound", "InclusiveUpperBound", "QualificationValue")
        )
        if first > last:
            raise invalid_value("AnswerKey", f"a SummedScoreRange goes from {first} down to {last}.")
        ranges.append((first, last, value))
    if not ranges:
        raise parse_error("RangeMapping has no SummedScoreRange")
    ranges.sort()
    for (_, last, _), (first, _, _) in pairwise(ranges):
        if first <= last:
            raise invalid_value("AnswerKey", f"two SummedScoreRanges contain {first}.")
    return RangeMapping(
        ranges=tuple(ranges), otherwise=_parse_integer(_only(element, "OutOfRangeQualificationValue"))
    )


_MAPPINGS: dict[str, Callable[[Element], ScaleMapping | RangeMapping]] = {
    "PercentageMapping": _percentage,
    "ScaleMapping": _scale,
    "RangeMapping": _ranges,
}


def _check_values(key: AnswerKey) -> None:
    extremes = [question.extremes for question in key.questions.values()]
    for total in (sum(least for least, _ in extremes), sum(most for _, most in extremes)):
        if not _LEAST <= key.mapping.value(total) <= _MOST:
            raise invalid_value("AnswerKey", "a value that it can give is not a whole number of 32 bits.")


# Elements


def _name(element: Element) -> str:
    """Tag without namespace; the root's own is checked."""
    return str(element.tag).rpartition("}")[2]


def _all(element: Element, name: str) -> Iterable[Element]:
    return [child for child in element if _name(child) == name]


def _allow(element: Element, names: Collection[str]) -> None:
    for child in element:
        if _name(child) not in names:
            raise parse_error(f"<{_name(child)}> does not belong into {_name(element)}")


def _optional(element: Element, name: str) -> Element | None:
    children = list(_all(element, name))
    if len(children) > 1:
        raise parse_error(f"{_name(element)} has {name} twice")
    return children[0] if children else None


def _only(element: Element, name: str) -> Element:
    child = _optional(element, name)
    if child is None:
        raise parse_error(f"{_name(element)} lacks {name}")
    return child


def _key_text(element: Element) -> str:
    if len(element):
        raise parse_error(f"{_name(element)} contains elements where text is expected")
    return (element.text or "").strip()


def _parse_integer(element: Element) -> int:
    text = _key_text(element)
    if not re.fullmatch(r"[-+]?\d{1,10}", text, re.ASCII) or not _LEAST <= int(text) <= _MOST:
        raise parse_error(f"{_name(element)} is {text[:20]!r}, not a whole number of 32 bits")
    return int(text)
