"""Every flag that an answer can have: what it is computed from, what was measured, its words for reviewers.

A flag never changes or removes anything: it tells a reviewer what was measured, which bound it passed, and
where in the text. `flag_checks` computes all of them for one query, by pure functions over strings and
dataclasses.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

# What the flags are computed from, and what they are.


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that a measure must pass to be flagged, and words; a kind's configuration has the same names."""

    copy_share: float = 0.5
    copy_run: int = 12
    same_from: int = 40
    near_ratio: float = 0.9
    pasted_share: float = 0.5
    typing_rate: float = 600.0
    spelling_share: float = 0.3
    length_z: float = 3.5
    least_words: int = 1
    listed_words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Work:
    """What the task page measured of one assignment, and how many characters its answers have in all."""

    characters: int
    active_ms: int | None = None
    pasted_characters: int | None = None
    keystrokes: int | None = None


@dataclass(frozen=True, slots=True)
class FlaggedAnswer:
    """One answer as the flags see it; `key` names it to the caller, `author` its writer."""

    key: int
    author: int
    text: str
    work: Work | None = None
    canary: str = ""


@dataclass(frozen=True, slots=True)
class FlagQuery:
    """A query with what its answers were written from; `language` is a BCP 47 tag."""

    text: str
    passages: tuple[str, ...]
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Flag:
    """Something noticed: what was measured, the bound it passed, and evidence that fits into JSON.

    `evidence["spans"]` is a list of {start, end} in characters of the answer, where there is something to
    show in its text.
    """

    name: str
    value: float | None = None
    limit: float | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)


Form = Literal["share", "number", "ratio", "none"]


@dataclass(frozen=True, slots=True)
class FlagDescription:
    """A flag's short label, what it means and does not mean, and how its value is written."""

    name: str
    label: str
    meaning: str
    form: Form = "none"
    unit: str = ""


FLAGS: Mapping[str, FlagDescription] = {
    about.name: about
    for about in (
        FlagDescription(
            "copy-run",
            "copied run",
            "A long sequence occurs in a passage or an earlier turn word for word. Definitions and names can "
            "be the same by necessity.",
            "number",
            "words in a row",
        ),
        FlagDescription(
            "copy-share",
            "copied share",
            "Most of the answer is made of sequences that stand word for word in what was read.",
            "share",
            "of its words",
        ),
        FlagDescription(
            "identical",
            "same as another",
            "Another editor's answer to this query is the same. Short answers are not compared.",
        ),
        FlagDescription(
            "near-identical",
            "nearly the same as another",
            "Another editor's answer to this query is nearly the same, apart from order, case and marks.",
            "ratio",
            "alike",
        ),
        FlagDescription(
            "pasted",
            "pasted",
            "Much of it was pasted, from a passage or from outside. Some people write elsewhere first. "
            "Measured over the whole assignment.",
            "share",
            "of its characters",
        ),
        FlagDescription(
            "typing-rate",
            "typed too fast",
            "More keys per minute of active work than people type. Dictation and writing aids do that too. "
            "Measured over the whole assignment.",
            "number",
            "keys a minute",
        ),
        FlagDescription(
            "spelling",
            "spelling",
            "Many words are in no dictionary. Names and special terms are often not.",
            "share",
            "of its words",
        ),
        FlagDescription(
            "length",
            "unusual length",
            "Far longer or shorter than the other answers to this query.",
            "number",
            "robust z",
        ),
        FlagDescription(
            "near-empty",
            "nearly empty",
            "Too few words, or only words that say nothing, such as “none” or “test”.",
            "number",
            "words",
        ),
        FlagDescription(
            "self-referring",
            "refers elsewhere",
            "It points to what its readers do not see, such as “see above”, or says that its writer does not "
            "know.",
        ),
        FlagDescription(
            "listed-word",
            "listed word",
            "It has a word of the stage's list, such as an offensive one. A quotation can have it too.",
            "number",
            "in all",
        ),
        FlagDescription(
            "language",
            "language",
            "It seems not to be in the project's language.",
        ),
        FlagDescription(
            "canary",
            "canary",
            "It has words that only a hidden line of the page asks for: the page was probably given to a "
            "language model.",
        ),
    )
}
#: The order in which they are shown.
ORDER = {name: place for place, name in enumerate(FLAGS)}


def about(name: str) -> FlagDescription:
    """The words for a flag; one that is no longer known is shown by its name."""
    return FLAGS.get(name) or FlagDescription(name, name, "A flag of an earlier version.")


def measured(name: str, value: float | None, limit: float | None) -> str:
    """The value in words, with the bound that it passed."""
    flag_kind = about(name)
    if value is None or flag_kind.form == "none":
        return ""
    bound = "" if limit is None else f" (limit {_written(flag_kind.form, limit)})"
    return f"{_written(flag_kind.form, value)} {flag_kind.unit}{bound}"


def _written(form: Form, value: float) -> str:
    return f"{value:.0%}" if form in ("share", "ratio") else f"{value:g}"


def details(name: str, evidence: Mapping[str, Any]) -> str:
    """Further evidence in words, beside what is highlighted."""
    describe = _DETAILS.get(name)
    return describe(evidence) if describe else ""


def _language(evidence: Mapping[str, Any]) -> str:
    if evidence.get("what") == "language":
        return f"It reads like the language \u201c{evidence.get('language')}\u201d."
    return "Most of it is in another script."


_DETAILS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "pasted": lambda evidence: f"{evidence['pasted']} of {evidence['characters']} characters were pasted.",
    "typing-rate": lambda evidence: (
        f"{evidence['typed']} typed characters in {evidence['active_s']} s of active work."
    ),
    "length": lambda evidence: (
        f"{evidence['length']} characters; the median of {evidence['compared']} answers is "
        f"{evidence['median']:g}."
    ),
    "canary": lambda evidence: f"The hidden line asks for \u201c{evidence['phrase']}\u201d.",
    "language": _language,
}
