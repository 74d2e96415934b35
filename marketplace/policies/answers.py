"""Workers' answers as policies compare them: sets of values, without white space around them."""

from collections.abc import Iterable, Mapping

from defusedxml import ElementTree as SafeTree

from marketplace.questions import ANSWERS

Values = frozenset[str]
#: A field of a form that was filled in several times, as check boxes are, holds its values joined by this.
JOINT = "|"
_NAMESPACE = f"{{{ANSWERS}}}"


def values_of(texts: Iterable[str]) -> Values:
    """The values that are not empty, each without white space around it."""
    return frozenset(text.strip() for text in texts if text.strip())


def read(xml: str) -> dict[str, Values]:
    """Values by question of QuestionFormAnswers."""
    found: dict[str, Values] = {}
    for answer in SafeTree.fromstring(xml).iter(f"{_NAMESPACE}Answer"):
        question = answer.findtext(f"{_NAMESPACE}QuestionIdentifier", "").strip()
        texts = [
            element.text or ""
            for name in ("FreeText", "SelectionIdentifier", "OtherSelectionText")
            for element in answer.findall(f"{_NAMESPACE}{name}")
        ]
        found[question] = values_of(texts)
    return found


def separated(values: Values) -> Values:
    """The values of a field that was filled in several times, one by one."""
    return values_of(part for value in values for part in value.split(JOINT))


def matches(answer: Values, key: Values) -> bool:
    """Whether an answer is exactly the key: the same values, letter by letter, none more and none less."""
    return (separated(answer) if len(key) > 1 else answer) == key


def right(answers: Mapping[str, Values], keys: Mapping[str, Values]) -> dict[str, bool]:
    """By question of the key, whether it was answered right; a question left out is an empty answer."""
    return {question: matches(answers.get(question, frozenset()), key) for question, key in keys.items()}
