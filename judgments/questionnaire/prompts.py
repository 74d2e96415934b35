"""What a questionnaire asks about one unit: each field once or for each part, and the form read again."""

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext, gettext_lazy
from django_stubs_ext import StrOrPromise

from annotation.importing.records import quoted
from crowd.kinds import ParsedForm
from crowd.models import Stage
from judgments.models import QuestionnaireUnit
from judgments.questionnaire.config import (
    BOTH_BAD,
    IMPORTANCE,
    LEFT,
    NO,
    RIGHT,
    TIE,
    YES,
    QuestionnaireConfig,
    QuestionnaireField,
)
from judgments.questionnaire.units import is_drawn_second
from judgments.rating_source import exact
from judgments.seeded_order import rank

#: Between a field and its part, and between it and one of several inputs.
PART, INPUT = ".", "~"
_LONGEST_SHOWN = 20
_MOST_SPANS = 100
_SIDE_LABELS: Mapping[str, StrOrPromise] = {
    LEFT: gettext_lazy("Answer 1"),
    RIGHT: gettext_lazy("Answer 2"),
    TIE: gettext_lazy("No difference"),
    BOTH_BAD: gettext_lazy("Both are bad"),
}
_YES_NO: Mapping[str, StrOrPromise] = {YES: gettext_lazy("Yes"), NO: gettext_lazy("No")}
_PLACE = re.compile(r"(\d{1,6})-(\d{1,6})")
_LONGEST_LINE = 25_000
_MOST_NUGGETS, _SHORTEST_NUGGET = 30, 3
_BULLET = re.compile(r"\s*[-*•]\s+")


@dataclass(frozen=True, slots=True)
class Choice:
    """An option of the page: what the form sends, what the response keeps, what people read."""

    code: str
    value: str
    label: StrOrPromise


@dataclass(frozen=True, slots=True)
class Prompt:
    """A field about a unit, or about one part of it; `name` is that of its input."""

    field: QuestionnaireField
    part: str = ""

    @property
    def name(self) -> str:
        """What the form and an accepted answer call it."""
        return f"{self.field.name}{PART}{self.part}" if self.part else self.field.name

    def is_asked(self, fields: Mapping[str, QuestionnaireField], values: Mapping[str, Any]) -> bool:
        """Whether its conditions hold among the values of a response."""
        for name, accepted in self.field.show_if.items():
            value = value_of(values, name, self._part_of(fields[name]))
            several = value if isinstance(value, list) else [value]
            if not any(str(each) in accepted for each in several):
                return False
        return True

    def _part_of(self, other: QuestionnaireField) -> str:
        if not other.per:
            return ""
        return self.part if other.per == self.field.per else self.part.partition(PART)[0]

    def condition_names(
        self, fields: Mapping[str, QuestionnaireField]
    ) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Names of the inputs that it depends on, with the values that they must have."""
        for name, accepted in self.field.show_if.items():
            yield Prompt(fields[name], self._part_of(fields[name])).name, accepted


def value_of(values: Mapping[str, Any], name: str, part: str = "") -> Any:
    """A value of a response; None where there is none."""
    value = values.get(name)
    return value.get(part) if part and isinstance(value, dict) else value


def parts_of(unit: QuestionnaireUnit, per: str) -> list[str]:
    """The parts of a unit that a repeated field is asked about; a single empty one for all others."""
    content = unit.content
    match per:
        case "sentence":
            return [str(number) for number in range(1, len(content.get("sentences", ())) + 1)]
        case "citation":
            return [
                f"{number}{PART}{citation}"
                for number, sentence in enumerate(content.get("sentences", ()), 1)
                for citation in sentence["citations"]
            ]
        case "nugget":
            return [str(number) for number in range(1, len(content.get("nuggets", ())) + 1)]
        case "turn":
            turns = content.get("turns", ())
            return [str(number) for number, turn in enumerate(turns, 1) if turn.get("role") == "system"]
    return [""]


def prompts_of(unit: QuestionnaireUnit, config: QuestionnaireConfig) -> Iterator[Prompt]:
    """All that may be asked about a unit, in the order of the fields."""
    for field in config.fields:
        for part in parts_of(unit, field.per):
            yield Prompt(field, part)


def choices_of(
    stage: Stage, unit: QuestionnaireUnit, field: QuestionnaireField, *, seed: int, flipped: bool
) -> list[Choice]:
    """The options of a field as this person sees them.

    Of a pair, the answer that stands first is Answer 1, whichever it is.
    """
    if field.type == "yesno":
        return [Choice(value, value, label) for value, label in _YES_NO.items()]
    labels = dict(zip(field.options, field.labels or field.options, strict=True))
    choices = []
    for number, value in enumerate(field.options, 1):
        stored = str(number) if field.type == "scale" else value
        label: StrOrPromise = labels[value]
        code = stored
        if unit.other_id is not None and field.compares:
            seen = _opposite(value) if flipped else value
            label = labels[seen] if field.labels else _SIDE_LABELS.get(seen, labels[value])
            code = _code_of(stage, unit, value)
        choices.append(Choice(code, stored, label))
    if field.shuffle and field.type != "scale":
        choices.sort(key=lambda choice: rank("options", seed, unit.key, field.name, choice.value))
    elif flipped and field.compares:
        order = {value: place for place, value in enumerate(field.options)}
        choices.sort(key=lambda choice: order[_opposite(choice.value)])
    return choices


def _opposite(value: str) -> str:
    return {LEFT: RIGHT, RIGHT: LEFT}.get(value, value)


def _code_of(stage: Stage, unit: QuestionnaireUnit, value: str) -> str:
    """What the form sends for an answer of a pair: a number that is drawn anew for each pair."""
    if value not in (LEFT, RIGHT):
        return value
    return "2" if (value == RIGHT) != is_drawn_second(stage, unit) else "1"


def text_marked(unit: QuestionnaireUnit, field: QuestionnaireField) -> str:
    """The text that spans of a field are in."""
    columns = unit.content.get("columns")
    if columns is not None:
        return str(columns.get(field.of or next(iter(columns), ""), ""))
    return unit.candidate.text if unit.candidate is not None else ""


class _Reader:
    """Reads the form of one unit."""

    def __init__(
        self, stage: Stage, unit: QuestionnaireUnit, config: QuestionnaireConfig, form: Mapping[str, str]
    ) -> None:
        self.stage, self.unit, self.config, self.form = stage, unit, config, form

    def read(self) -> ParsedForm:
        values: dict[str, Any] = {}
        errors: dict[str, str] = {}
        fields = self.config.by_name
        for prompt in prompts_of(self.unit, self.config):
            if not prompt.is_asked(fields, values):
                continue
            try:
                value = self._value(prompt)
            except ValueError as error:
                errors[prompt.name] = str(error)
                continue
            if value is None:
                if prompt.field.required:
                    errors[prompt.name] = gettext("Please answer: %(question)s") % {
                        "question": prompt.field.label
                    }
            elif prompt.part:
                values.setdefault(prompt.field.name, {})[prompt.part] = value
            else:
                values[prompt.field.name] = value
        return ParsedForm(errors=errors) if errors else ParsedForm(values)

    def _value(self, prompt: Prompt) -> Any:
        """The value, None for none; ValueError in words for the worker."""
        field = prompt.field
        text = self.form.get(prompt.name, "")
        match field.type:
            case "choice" | "yesno" | "scale":
                value = self._values_by_code(field).get(text)
                return int(value) if value is not None and field.type == "scale" else value
            case "choices":
                inputs = (f"{prompt.name}{INPUT}{number}" for number in range(1, len(field.options) + 1))
                ticked = {self.form.get(name, "") for name in inputs}
                return [value for value in field.options if value in ticked] or None
            case "slider" | "number":
                return _read_number(text.strip(), field)
            case "rank":
                return self._places(prompt)
            case "spans":
                return read_spans(text, text_marked(self.unit, field), field) or None
        return _read_text(text, field)

    def _values_by_code(self, field: QuestionnaireField) -> dict[str, str]:
        choices = choices_of(self.stage, self.unit, field, seed=0, flipped=False)
        return {choice.code: choice.value for choice in choices}

    def _places(self, prompt: Prompt) -> dict[str, int] | None:
        options = prompt.field.options
        texts = [self.form.get(f"{prompt.name}{INPUT}{number}", "") for number in range(1, len(options) + 1)]
        places = {str(place) for place in range(1, len(options) + 1)}
        if not all(text in places for text in texts):
            return None
        return {option: int(text) for option, text in zip(options, texts, strict=True)}


def read_response(
    stage: Stage, unit: QuestionnaireUnit, config: QuestionnaireConfig, form: Mapping[str, str]
) -> ParsedForm:
    """The values of a unit's form, or errors by input; a field whose conditions do not hold has none."""
    return _Reader(stage, unit, config, form).read()


def _read_number(text: str, field: QuestionnaireField) -> float | int | None:
    if not text:
        return None
    value = exact(text)
    scale = field.scale
    step = None if value is None else scale.step_of(value)
    if step is None:
        parts = {
            "excerpt": text[:_LONGEST_SHOWN],
            "low": scale.text(scale.low),
            "high": scale.text(scale.high),
            "step": f"{field.step:g}",
        }
        raise ValueError(
            gettext("“%(excerpt)s” is no score from %(low)s to %(high)s.") % parts
            if field.step == 1
            else gettext("“%(excerpt)s” is no score from %(low)s to %(high)s in steps of %(step)s.") % parts
        )
    return scale.number(step)


def _read_text(text: str, field: QuestionnaireField) -> str | None:
    text = text.strip()
    if not text:
        return None
    if not field.shortest <= len(text) <= field.longest:
        raise ValueError(
            gettext("%(question)s Your text has %(count)s characters; from %(least)s to %(most)s fit.")
            % {"question": field.label, "count": len(text), "least": field.shortest, "most": field.longest}
        )
    if field.takes_nuggets:
        _check_nuggets(text)
    return text


def _check_nuggets(text: str) -> None:
    lines = list(nugget_lines(text))
    if len(lines) > _MOST_NUGGETS:
        raise ValueError(gettext("Write at most %(most)s lines.") % {"most": _MOST_NUGGETS})
    for line, _, words in lines:
        if len(words) < _SHORTEST_NUGGET:
            raise ValueError(
                gettext("The line %(words)s is too short. Write at least %(least)s characters of text.")
                % {"words": quoted(line), "least": _SHORTEST_NUGGET}
            )


def nugget_lines(text: str) -> Iterator[tuple[str, str, str]]:
    """The lines in which a person wrote nuggets: each with its importance and its text.

    Unlike in files there are no points: `3: text` is all text.
    """
    for line in filter(str.strip, text.splitlines()):
        words = _BULLET.sub("", line, count=1)
        mark, colon, rest = words.partition(":")
        importance = IMPORTANCE.get(mark.strip().casefold()) if colon else None
        yield line, importance or "vital", " ".join((rest if importance else words).split())


def read_spans(lines: str, text: str, field: QuestionnaireField) -> list[dict[str, Any]]:
    """Marked parts, one in each line: `label/severity 12-20: words`; ValueError in words for the worker.

    Places count characters (Unicode code points). A place that does not fit the words is looked for; without
    one, words that are marked twice are their first and their second occurrence. Where there is one label
    and no severity, the words alone will do.
    """
    spans: list[dict[str, Any]] = []
    after: dict[str, int] = {}
    for line in lines.splitlines():
        if not line.strip():
            continue
        if len(line) > _LONGEST_LINE:
            raise ValueError(
                gettext("%(words)s is not in the text in this form. Mark it once more.")
                % {"words": quoted(line[:_LONGEST_SHOWN])}
            )
        if len(spans) >= _MOST_SPANS:
            raise ValueError(gettext("Mark at most %(most)s parts.") % {"most": _MOST_SPANS})
        spans.append(_read_span(line.strip(), text, field, after))
    return sorted(spans, key=lambda span: (span["start"], span["end"]))


def _read_span(line: str, text: str, field: QuestionnaireField, after: dict[str, int]) -> dict[str, Any]:
    head, _, rest = line.partition(":")
    mark, place = [*head.rsplit(None, 1), ""][:2] if head.strip() else ("", "")
    match = _PLACE.fullmatch(place)
    name, _, degree = (mark if match else head.strip()).partition("/")
    label, severity, words = "", "", line
    if rest.strip() and name in field.options and degree in (field.severities or ("",)):
        label, severity, words = name, degree, rest.strip()
    elif len(field.options) == 1 and not field.severities:
        label, match = field.options[0], None
    if not label:
        raise ValueError(
            gettext("Say for %(words)s which it is, by a button: %(labels)s.")
            % {"words": quoted(line), "labels": ", ".join((*field.options, *field.severities))}
        )
    start, end = (int(match[1]), int(match[2])) if match else (0, 0)
    if _plain(text[start:end]) != _plain(words):
        start, end = _find(words, text, after.get(words, 0))
    if end == 0:
        raise ValueError(
            gettext("%(words)s is not in the text in this form. Mark it once more.")
            % {"words": quoted(words)}
        )
    after[words] = end
    span: dict[str, Any] = {"start": start, "end": end, "label": label, "text": text[start:end]}
    return span | ({"severity": severity} if severity else {})


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _find(words: str, text: str, start: int) -> tuple[int, int]:
    """Where words are in a text, in whatever normal form and white space; (0, 0) for nowhere."""
    for form in (words, unicodedata.normalize("NFC", words), unicodedata.normalize("NFD", words)):
        match = re.compile(r"\s+".join(map(re.escape, form.split()))).search(text, start)
        if match:
            return match.span()
    return 0, 0


def spans_as_lines(spans: Sequence[Mapping[str, Any]]) -> str:
    """Marked parts as the form has them."""
    return "\n".join(
        f"{span['label']}{'/' + span['severity'] if span.get('severity') else ''} "
        f"{span['start']}-{span['end']}: {' '.join(str(span['text']).split())}"
        for span in spans
    )


def initial_of(prompt: Prompt, choices: Sequence[Choice], prefill: Mapping[str, Any]) -> dict[str, str]:
    """Inputs of a field that begin with a value of the units' file."""
    value = prefill.get(prompt.name)
    if not prompt.field.prefill or value is None:
        return {}
    by_value = {choice.value: choice.code for choice in choices}
    match prompt.field.type:
        case "choices":
            numbers = {option: number for number, option in enumerate(prompt.field.options, 1)}
            return {f"{prompt.name}{INPUT}{numbers[each]}": each for each in value if each in numbers}
        case "spans":
            return {prompt.name: value if isinstance(value, str) else spans_as_lines(value)}
        case "choice" | "yesno" | "scale":
            return {prompt.name: by_value.get(str(value), "")}
    return {prompt.name: f"{value:g}" if isinstance(value, float) and not math.isnan(value) else str(value)}


def passes_gold(unit: QuestionnaireUnit, values: Mapping[str, Any]) -> bool:
    """Whether a response has an accepted value wherever there are some."""
    return not wrong_values(unit, values)


def wrong_values(unit: QuestionnaireUnit, values: Mapping[str, Any]) -> list[str]:
    """Fields, of a part with its number, that have accepted values and none of them in a response."""
    wrong = []
    for name, accepted in unit.gold.items():
        field, _, part = name.partition(PART)
        value = value_of(values, field, part)
        several = value if isinstance(value, list) else [value]
        if value is None or not all(_as_text(each) in accepted for each in several):
            wrong.append(name)
    return wrong


def _as_text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
