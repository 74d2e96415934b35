"""A drawing of a part of a word proximity network: words on an ellipse, lines between words that go together.

Geometry only; the template draws it, and has a table of the same figures beside it. The same words give the
same drawing.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

#: The drawing's own units.
WIDTH, HEIGHT = 440, 240
_RADIUS_X, _RADIUS_Y = 105, 85
_LEAST_DOT, _MOST_DOT = 4.0, 11.0
_LEAST_LINE, _MOST_LINE = 1.0, 5.0
_LONGEST_WORD = 14
#: From a dot to its label: below, above, beside; and half the height of a letter.
_BELOW, _ABOVE, _BESIDE, _HALF_A_LETTER = 15, 7, 6, 4.5
#: Dots so near to the middle, as a share of the ellipse, have their labels above or below.
_MIDDLE = 0.3


@dataclass(frozen=True, slots=True)
class Dot:
    """A word: its place, its radius, and where its label stands; `scored` if it has a weight of its own.

    anchor: which part of the label stands at its place: start, middle or end.
    """

    word: str
    label: str
    x: float
    y: float
    radius: float
    label_x: float
    label_y: float
    anchor: str
    scored: bool


@dataclass(frozen=True, slots=True)
class Line:
    """A pair of words that go together; the stronger, the wider."""

    x1: float
    y1: float
    x2: float
    y2: float
    width: float


@dataclass(frozen=True, slots=True)
class NetworkDrawing:
    """What the template draws, lines first."""

    dots: Sequence[Dot]
    lines: Sequence[Line]
    width: int = WIDTH
    height: int = HEIGHT


def draw(words: Mapping[str, float], pairs: Sequence[tuple[str, str, float]]) -> NetworkDrawing | None:
    """Words with their weights and pairs with their strengths (NPMI); None where there is nothing to draw.

    Words that only a pair has are drawn as well, smaller. Neighbours in the network stand beside each other
    where that is possible, so that lines seldom cross.
    """
    order = _round_trip(words, pairs)
    if not order:
        return None
    most = max(words.values(), default=0.0)
    places = _places(len(order))
    dots = {word: _dot(word, place, words.get(word), most) for word, place in zip(order, places, strict=True)}
    strongest = max((strength for _, _, strength in pairs), default=0.0)
    lines = [
        Line(
            dots[one].x,
            dots[one].y,
            dots[other].x,
            dots[other].y,
            _between(_LEAST_LINE, _MOST_LINE, strength, strongest),
        )
        for one, other, strength in pairs
        if one != other
    ]
    return NetworkDrawing(list(dots.values()), lines)


def _round_trip(words: Mapping[str, float], pairs: Sequence[tuple[str, str, float]]) -> list[str]:
    """All words, each as near after a word that it goes together with as it can be."""
    near: dict[str, list[str]] = {word: [] for word in words}
    for one, other, _ in pairs:
        near.setdefault(one, []).append(other)
        near.setdefault(other, []).append(one)
    order: dict[str, None] = {}
    for start in near:
        waiting = [start]
        while waiting:
            word = waiting.pop()
            if word not in order:
                order[word] = None
                waiting.extend(reversed(near[word]))
    return list(order)


def _places(count: int) -> list[tuple[float, float]]:
    """Points on the ellipse, the first one on top; one word alone stands in the middle."""
    if count == 1:
        return [(WIDTH / 2, HEIGHT / 2)]
    turns = (2 * math.pi * number / count - math.pi / 2 for number in range(count))
    return [
        (round(WIDTH / 2 + _RADIUS_X * math.cos(turn), 1), round(HEIGHT / 2 + _RADIUS_Y * math.sin(turn), 1))
        for turn in turns
    ]


def _dot(word: str, place: tuple[float, float], weight: float | None, most: float) -> Dot:
    radius = _LEAST_DOT if weight is None else _between(_LEAST_DOT + 1, _MOST_DOT, weight, most)
    (x, y), anchor = place, "middle"
    aside = (x - WIDTH / 2) / _RADIUS_X
    label_x, label_y = x, y - radius - _ABOVE if y < HEIGHT / 2 else y + radius + _BELOW
    if abs(aside) > _MIDDLE:
        anchor = "start" if aside > 0 else "end"
        label_x, label_y = x + math.copysign(radius + _BESIDE, aside), y + _HALF_A_LETTER
    label = word if len(word) <= _LONGEST_WORD else f"{word[: _LONGEST_WORD - 1]}…"
    return Dot(
        word, label, x, y, radius, round(label_x, 1), round(label_y, 1), anchor, scored=weight is not None
    )


def _between(least: float, most: float, value: float, largest: float) -> float:
    share = min(max(value / largest, 0.0), 1.0) if largest > 0 and math.isfinite(value) else 0.0
    return round(least + (most - least) * share, 1)
