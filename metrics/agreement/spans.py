"""Agreement about marked spans of texts: F1 of characters, and Krippendorff's alpha for unitizing (u-alpha).

Spans are half-open ranges of characters. u-alpha is that of nominal labels (Krippendorff, Mathet, Bouvry and
Widlöcher 2016), in which what is not marked is a label, too. Undefined is None with one of the reasons.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from metrics.agreement.data import generator
from metrics.agreement.labels import COVERAGE, NO_VARIATION, NOT_ASKED, ONE_RATER, LabelAlpha

Span = tuple[int, int, str]
LENGTHS_UNKNOWN = "the lengths of the texts are not known: a column length or text gives them"
OVERLAPPING = "spans of one worker overlap"
ONE_TEXT = "one text with two workers"
_DEFINED = 0.9


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text with the spans of each worker who looked at it, also of those who marked nothing."""

    spans: Mapping[str, Sequence[Span]]
    length: int | None = None


@dataclass(frozen=True, slots=True)
class SpanF1:
    """Mean over pairs of workers, then over texts, and sums over sums; `by_text` None with one worker."""

    macro: float | None
    micro: float | None
    by_text: tuple[float | None, ...] = ()
    reason: str = ""


def span_f1(texts: Sequence[MarkedText]) -> SpanF1:
    """F1 of the characters that two workers marked, whichever the labels; two who marked nothing agree."""
    by_text: list[float | None] = []
    shared_sum = marked_sum = 0
    for text in texts:
        marked = [_characters(spans) for spans in text.spans.values()]
        values = []
        for one, other in combinations(marked, 2):
            shared, both = len(one & other), len(one) + len(other)
            shared_sum, marked_sum = shared_sum + 2 * shared, marked_sum + both
            values.append(2 * shared / both if both else 1.0)
        by_text.append(sum(values) / len(values) if values else None)
    text_means = [value for value in by_text if value is not None]
    if not text_means:
        return SpanF1(None, None, tuple(by_text), ONE_RATER)
    micro = shared_sum / marked_sum if marked_sum else 1.0
    return SpanF1(sum(text_means) / len(text_means), micro, tuple(by_text))


def _characters(spans: Sequence[Span]) -> set[int]:
    return {place for start, end, _ in spans for place in range(start, end)}


@dataclass(frozen=True, slots=True)
class _Parts:
    """What a text adds: observed disagreement, characters times workers, by label how many and squares."""

    observed: float
    total: int
    lengths: Mapping[str, int]
    squares: Mapping[str, int]


#: What is not marked, which no label can be: those are not empty.
_GAP = ""


def unitized_alpha(texts: Sequence[MarkedText], *, replicates: int = 0, seed: int = 0) -> LabelAlpha:
    """u-alpha over all texts with two workers or more, added up by parts; intervals are for other texts."""
    several = [text for text in texts if len(text.spans) > 1]
    if not several:
        return LabelAlpha(None, reason=ONE_RATER, interval_reason=ONE_RATER)
    if any(text.length is None for text in several):
        return LabelAlpha(None, reason=LENGTHS_UNKNOWN, interval_reason=LENGTHS_UNKNOWN)
    if any(_overlap(spans) for text in several for spans in text.spans.values()):
        return LabelAlpha(None, reason=OVERLAPPING, interval_reason=OVERLAPPING)
    parts = [_parts(text) for text in several]
    observed, expected = _disagreements(parts, np.ones(len(parts)))
    if expected <= 0:
        return LabelAlpha(None, observed, expected, NO_VARIATION, interval_reason=NO_VARIATION)
    low, high, reason = _interval(parts, replicates, seed)
    return LabelAlpha(1 - observed / expected, observed, expected, "", low, high, reason)


def _overlap(spans: Sequence[Span]) -> bool:
    ordered = sorted(spans)
    return any(one[1] > other[0] for one, other in pairwise(ordered))


def _parts(text: MarkedText) -> _Parts:
    assert text.length is not None
    rows = []
    lengths: Counter[str] = Counter()
    squares: Counter[str] = Counter()
    for spans in text.spans.values():
        labels = [_GAP] * text.length
        for start, end, label in spans:
            labels[start:end] = [label] * (end - start)
            squares[label] += (end - start) ** 2
        rows.append(labels)
        lengths.update(labels)
        squares[_GAP] += labels.count(_GAP)  # each character of a gap is a unit
    workers = len(rows)
    equal = 0
    for column in zip(*rows, strict=True):
        equal += sum(number * (number - 1) for number in Counter(column).values())
    total = workers * text.length
    return _Parts(total - equal / (workers - 1), total, lengths, squares)


def _disagreements(parts: Sequence[_Parts], times: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """Do and De of texts that count so many times."""
    observed = total = 0.0
    lengths: Counter[str] = Counter()
    squares: Counter[str] = Counter()
    for part, weight in zip(parts, times, strict=True):
        if not weight:
            continue
        observed, total = observed + weight * part.observed, total + weight * part.total
        for name, number in part.lengths.items():
            lengths[name] += weight * number
        for name, number in part.squares.items():
            squares[name] += weight * number
    same = sum(number**2 - squares[name] for name, number in lengths.items())
    room = total**2 - sum(squares.values())
    expected = total - total * same / room if room > 0 else 0.0
    return observed, expected if expected > 1e-9 else 0.0


def _interval(parts: Sequence[_Parts], replicates: int, seed: int) -> tuple[float | None, float | None, str]:
    if not replicates:
        return None, None, NOT_ASKED
    if len(parts) < 2:
        return None, None, ONE_TEXT
    rng = generator(seed, "spans")
    alphas = []
    for _ in range(replicates):
        times = rng.multinomial(len(parts), np.full(len(parts), 1 / len(parts)))
        observed, expected = _disagreements(parts, times)
        if expected > 0:
            alphas.append(1 - observed / expected)
    if len(alphas) < _DEFINED * replicates:
        return None, None, f"not defined in {replicates - len(alphas)} of {replicates} replicates"
    low, high = np.quantile(alphas, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return float(low), float(high), ""
