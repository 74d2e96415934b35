"""An AnswerKey: what the answers of a qualification test are worth, and which value comes of the sum."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise
from xml.etree.ElementTree import Element

from marketplace.errors import invalid_value
from marketplace.questionform import SCHEMAS, Form, Selection, parse_error, root_of

NAMESPACE = f"{SCHEMAS}2005-10-01/AnswerKey.xsd"
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
    if root.tag != f"{{{NAMESPACE}}}AnswerKey":
        raise parse_error(f"its root is {root.tag}; expected AnswerKey in {NAMESPACE}")
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
            identifier = _text(_only(element, "QuestionIdentifier"))
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
        chosen = frozenset(_text(each) for each in _all(option, "SelectionIdentifier"))
        if not chosen:
            raise parse_error(f"an AnswerOption of the question {identifier!r} has no SelectionIdentifier")
        if unknown := sorted(chosen - choices):
            raise invalid_value("AnswerKey", f"the question {identifier!r} has no selection {unknown[0]!r}.")
        worth = _whole(_only(option, "AnswerScore"))
        if scores.setdefault(chosen, worth) != worth:
            raise invalid_value(
                "AnswerKey", f"the question {identifier!r} has two scores for {', '.join(sorted(chosen))}."
            )
    if not scores:
        raise parse_error(f"the question {identifier!r} has no AnswerOption")
    default = _optional(element, "DefaultScore")
    return ScoredQuestion(scores=scores, default=0 if default is None else _whole(default))


def _mapping(element: Element) -> ScaleMapping | RangeMapping:
    if len(element) != 1 or _name(element[0]) not in _MAPPINGS:
        raise parse_error(f"QualificationValueMapping holds one of {', '.join(_MAPPINGS)}")
    return _MAPPINGS[_name(element[0])](element[0])


def _percentage(element: Element) -> ScaleMapping:
    most = _whole(_only(element, "MaximumSummedScore"))
    if most < 1:
        raise invalid_value("AnswerKey", "MaximumSummedScore is at least 1.")
    return ScaleMapping(factor=Decimal(100), divisor=most)


def _scale(element: Element) -> ScaleMapping:
    text = _text(_only(element, "SummedScoreMultiplier"))
    if not re.fullmatch(r"[-+]?(\d{1,9}(\.\d{0,9})?|\.\d{1,9})", text, re.ASCII):
        raise parse_error(f"SummedScoreMultiplier is {text[:20]!r}, not a decimal number")
    return ScaleMapping(factor=Decimal(text))


def _ranges(element: Element) -> RangeMapping:
    _allow(element, {"SummedScoreRange", "OutOfRangeQualificationValue"})
    found = []
    for each in _all(element, "SummedScoreRange"):
        first, last, value = (
            _whole(_only(each, name))
            for name in ("InclusiveLowerBound", "InclusiveUpperBound", "QualificationValue")
        )
        if first > last:
            raise invalid_value("AnswerKey", f"a SummedScoreRange goes from {first} down to {last}.")
        found.append((first, last, value))
    if not found:
        raise parse_error("RangeMapping has no SummedScoreRange")
    found.sort()
    for (_, last, _), (first, _, _) in pairwise(found):
        if first <= last:
            raise invalid_value("AnswerKey", f"two SummedScoreRanges contain {first}.")
    return RangeMapping(ranges=tuple(found), otherwise=_whole(_only(element, "OutOfRangeQualificationValue")))


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
    found = list(_all(element, name))
    if len(found) > 1:
        raise parse_error(f"{_name(element)} has {name} twice")
    return found[0] if found else None


def _only(element: Element, name: str) -> Element:
    found = _optional(element, name)
    if found is None:
        raise parse_error(f"{_name(element)} lacks {name}")
    return found


def _text(element: Element) -> str:
    if len(element):
        raise parse_error(f"{_name(element)} contains elements where text is expected")
    return (element.text or "").strip()


def _whole(element: Element) -> int:
    text = _text(element)
    if not re.fullmatch(r"[-+]?\d{1,10}", text, re.ASCII) or not _LEAST <= int(text) <= _MOST:
        raise parse_error(f"{_name(element)} is {text[:20]!r}, not a whole number of 32 bits")
    return int(text)
