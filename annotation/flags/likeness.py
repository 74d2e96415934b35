"""Answers of one query that are like each other.

- `identical`: another author's answer has the same folded tokens in the same order, and the answer has at
  least `same_from` characters: that two people both write "Rome" is no offence.
- `near-identical`: the similarity with another author's answer is at least `near_ratio`, both have at least
  `same_from` characters, and they are not identical.

In scripts without spaces a text says more in fewer characters: there half of `same_from` is enough.

The similarity of two answers is symmetric and between 0 and 1: rapidfuzz's token sort ratio (one minus the
normalized insertion-deletion distance of the sorted words, as text), and where either answer is mostly
written without spaces, the same of the tokens in their own order.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from rapidfuzz import fuzz

from annotation.flags.shapes import Flag, FlaggedAnswer, Limits
from annotation.flags.tokens import mostly_spaceless, tokens

#: Evidence names so many other answers at most.
_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class _Form:
    key: int
    author: int
    length: int
    words: str
    sorted_words: str
    spaceless: bool


def _form(answer: FlaggedAnswer) -> _Form:
    found = tokens(answer.text)
    folded = [token.folded for token in found]
    return _Form(
        key=answer.key,
        author=answer.author,
        length=len(answer.text.strip()),
        words=" ".join(folded),
        sorted_words=" ".join(sorted(folded)),
        spaceless=mostly_spaceless(found),
    )


@dataclass(frozen=True, slots=True)
class Pair:
    """Two answers of different authors, and how alike they are: 1 is identical."""

    a: int
    b: int
    ratio: float
    identical: bool


def similarity(a: str, b: str) -> float:
    """How alike two texts are, from 0 to 1; the order of the two makes no difference."""
    return _ratio(_form(FlaggedAnswer(0, 0, a)), _form(FlaggedAnswer(1, 1, b)))


def _ratio(a: _Form, b: _Form) -> float:
    if not a.words or not b.words:
        return 0.0
    if a.words == b.words:
        return 1.0
    if a.spaceless or b.spaceless:
        return fuzz.ratio(a.words.replace(" ", ""), b.words.replace(" ", "")) / 100
    return fuzz.ratio(a.sorted_words, b.sorted_words) / 100


def pairs(answers: Sequence[FlaggedAnswer], *, least: float = 0.0) -> list[Pair]:
    """Pairs of different authors that are at least so alike, the likest first, then by their keys."""
    return sorted(_pairs(answers, least), key=lambda pair: (-pair.ratio, pair.a, pair.b))


def _pairs(answers: Sequence[FlaggedAnswer], least: float) -> Iterator[Pair]:
    forms = sorted((_form(answer) for answer in answers), key=lambda form: form.key)
    for a, b in combinations(forms, 2):
        if a.author == b.author:
            continue
        ratio = _ratio(a, b)
        if ratio >= least:
            yield Pair(a.key, b.key, round(ratio, 4), bool(a.words) and a.words == b.words)


def alike(answers: Sequence[FlaggedAnswer], limits: Limits) -> dict[int, list[Flag]]:
    """The flags `identical` and `near-identical` by the answers' keys."""
    long_enough = {
        form.key
        for form in map(_form, answers)
        if form.length >= limits.same_from / (2 if form.spaceless else 1)
    }
    same: dict[int, list[tuple[float, int]]] = {}
    near: dict[int, list[tuple[float, int]]] = {}
    candidates = [answer for answer in answers if answer.key in long_enough]
    for pair in pairs(candidates, least=limits.near_ratio):
        table = same if pair.identical else near
        table.setdefault(pair.a, []).append((pair.ratio, pair.b))
        table.setdefault(pair.b, []).append((pair.ratio, pair.a))
    found: dict[int, list[Flag]] = {}
    for name, table in (("identical", same), ("near-identical", near)):
        for key, others in table.items():
            others.sort(key=lambda other: (-other[0], other[1]))
            evidence = {
                "answers": [
                    {"answer": other, "ratio": round(ratio, 3)} for ratio, other in others[:_MOST_NAMED]
                ],
                "count": len(others),
            }
            limit = None if name == "identical" else limits.near_ratio
            found.setdefault(key, []).append(Flag(name, round(others[0][0], 4), limit, evidence))
    return found
