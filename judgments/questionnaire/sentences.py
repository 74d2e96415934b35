"""Answers cut into sentences with the passages that each cites, such as [1], [2, 5] or [2][5].

A cut is a proposal: a file of units puts a researcher's own in its place.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_CITATION = re.compile(r"\[\s*(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\s*\]")
#: The end of a sentence with what still belongs to it: quotation marks, brackets, citations.
_MARKS = r"(?:\s*\[\s*\d[\d\s,;]*\])*"
_END = re.compile(
    rf"(?:(?<![.!?…])[.!?…]++[\"'”\u2019»)\]]*{_MARKS}(?=\s)|[\u3002\uff01\uff1f]+[”』」\uff09]*{_MARKS}|\n+)"
)
#: Words before a full stop that end no sentence.
_SHORT = re.compile(
    r"(?:^|[\s(])(?:[A-Za-z]|e\.g|i\.e|etc|cf|vs|Dr|Mr|Mrs|Ms|Prof|St|No|Nr|Fig|al|approx|ca|z\.B|d\.h|bzw|usw)\.$"
)
_LONGEST_SHORT = 12
_BULLET = re.compile(r"^\s*(?:[-*•\u2013]|\d{1,3}[.)])\s+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence without its marks, and the numbers of the passages that it cites, each once."""

    text: str
    citations: tuple[int, ...]

    def as_json(self) -> dict[str, Any]:
        """As a unit keeps it."""
        return {"text": self.text, "citations": list(self.citations)}


def cut(text: str, citations: Sequence[Sequence[int]] = ()) -> list[Sentence]:
    """The sentences of an answer; `citations` has those of each where no marks in the text say them.

    ValueError where there are citations for another number of sentences.
    """
    sentences = [sentence for part in _parts(text) if (sentence := _sentence(part)) is not None]
    if not citations:
        return sentences
    if len(citations) != len(sentences):
        raise ValueError(
            f"citations are given for {len(citations)} sentences, and the answer has {len(sentences)}"
        )
    return [
        Sentence(sentence.text, tuple(dict.fromkeys(numbers)))
        for sentence, numbers in zip(sentences, citations, strict=True)
    ]


def count_citations(text: str) -> int:
    """How often passages are cited by marks in a text."""
    return sum(len(re.findall(r"\d+", group)) for group in _CITATION.findall(text))


def _parts(text: str) -> list[str]:
    parts, start = [], 0
    for end in _END.finditer(text):
        before = text[start : end.start() + 1]
        if end[0].startswith(".") and (
            _SHORT.search(before[-_LONGEST_SHORT:]) or _BULLET.fullmatch(before + " ")
        ):
            continue
        parts.append(text[start : end.end()])
        start = end.end()
    return [*parts, text[start:]]


def _sentence(part: str) -> Sentence | None:
    numbers = [int(number) for group in _CITATION.findall(part) for number in re.findall(r"\d+", group)]
    text = re.sub(r"\s+([.,;:!?])", r"\1", _CITATION.sub("", part))
    text = " ".join(_BULLET.sub("", text).split())
    if not re.search(r"\w", text):
        return None
    return Sentence(text, tuple(dict.fromkeys(numbers)))
