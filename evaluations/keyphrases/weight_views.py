"""Texts with the weights of their words, as the page draws them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluations.keyphrases.requests import LONGEST, MOST_REFERENCES, KeyphraseRequest
from metrics.agreement.quotes import NONE
from metrics.learned.words import cut

#: Shades of the heat map: from 0 for no weight to this.
SHADES = 10


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text: a word with its weight, or with an empty `number` what stands between words."""

    text: str
    number: str = ""
    shade: int = 0


@dataclass(frozen=True, slots=True)
class Text:
    """A reference or the answer: the same words by key phrase and by rarity, and both for a table."""

    name: str
    answer: bool
    keyphrase: Sequence[Piece]
    rarity: Sequence[Piece]
    words: Sequence[tuple[str, str, str]]
    cut: bool
    scores: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Page:
    """What was weighed."""

    question: str
    texts: Sequence[Text]
    references: int
    left_out: int
    reasons: Sequence[tuple[str, str]]
    signatures: Sequence[str]


def page(wanted: KeyphraseRequest, result: Mapping[str, Any]) -> Page | None:
    """What a job's result says of the texts; None where it is not about them."""
    texts, weights, idf = wanted.texts, result.get("weights") or [], result.get("idf") or []
    if not len(texts) == len(weights) == len(idf):
        return None
    scores = [each for each in result.get("scores") or [] if each.get("values")]
    whole = [*wanted.references[:MOST_REFERENCES], *([wanted.answer] if wanted.answer else [])]
    found = []
    for place, text in enumerate(texts):
        spans = cut(text)
        if not len(spans) == len(weights[place]) == len(idf[place]):
            return None
        answer = bool(wanted.answer) and place == len(texts) - 1
        found.append(
            Text(
                "The answer" if answer else f"Reference {place + 1}",
                answer,
                _pieces(text, weights[place]),
                _pieces(text, idf[place]),
                [
                    (text[begin:end], _number(weight), _number(rare))
                    for (begin, end), weight, rare in zip(spans, weights[place], idf[place], strict=True)
                ],
                len(whole[place]) > LONGEST,
                [] if answer else [(each["title"], _number(each["values"][place])) for each in scores],
            )
        )
    if wanted.answer:
        found = [found[-1], *found[:-1]]
    return Page(
        wanted.question,
        found,
        int(result.get("references") or 0),
        max(0, len(wanted.references) - MOST_REFERENCES),
        [(each["title"], each["why"]) for each in result.get("scores") or [] if each.get("why")],
        [each["signature"] for each in scores if each.get("signature")],
    )


def _pieces(text: str, weights: Sequence[float]) -> list[Piece]:
    found, at = [], 0
    for (begin, end), weight in zip(cut(text), weights, strict=True):
        if begin > at:
            found.append(Piece(text[at:begin]))
        found.append(Piece(text[begin:end], _number(weight), round(SHADES * min(1.0, max(0.0, weight)))))
        at = end
    return [*found, *([Piece(text[at:])] if at < len(text) else [])]


def _number(value: float | None) -> str:
    """As papers print it: no zero before the point."""
    if value is None:
        return NONE
    said = f"{value:.2f}"
    return said.removeprefix("0") if 0 <= value < 1 and said.startswith("0") else said
