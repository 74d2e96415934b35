"""One passage of an answer as the page shows it: marked text, score parts, words and pairs, a drawing.

A passage is cut into pieces, so that a template marks sentences and key words and escapes every one of them.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from retrieval.ranking.parameters import describe
from retrieval.search import FoundPassage
from retrieval.sentences import sentences

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of the text as it is. All pieces together are the text.

    is_marked: within a highlighted sentence. is_bold: a key word. opens, closes: the first and the last piece
    of a highlighted sentence, for templates that want one element for each of them.
    """

    text: str
    is_marked: bool = False
    is_bold: bool = False
    opens: bool = False
    closes: bool = False


def marked(text: str, sentences: Sequence[Span], spans: Sequence[Span]) -> list[Piece]:
    """Cut a text at the ends of highlighted sentences and of key words, which may overlap in any way.

    Offsets beyond the text, and empty or overlapping sentences, do no harm: whatever is given, the pieces
    joined are the text.
    """
    marks, bold = _disjoint(sentences, len(text)), _merged(spans, len(text))
    cuts = sorted({0, len(text), *(end for span in (*marks, *bold) for end in span)})
    starts = {start for start, _ in marks}
    ends = {end for _, end in marks}
    pieces = []
    mark, word = iter([*marks, (len(text) + 1,) * 2]), iter([*bold, (len(text) + 1,) * 2])
    in_mark, in_word = next(mark), next(word)
    for start, end in pairwise(cuts):
        while in_mark[1] <= start:
            in_mark = next(mark)
        while in_word[1] <= start:
            in_word = next(word)
        is_marked = in_mark[0] <= start
        pieces.append(
            Piece(
                text[start:end],
                is_marked,
                in_word[0] <= start,
                is_marked and start in starts,
                is_marked and end in ends,
            )
        )
    return pieces


def _inside(spans: Sequence[Span], length: int) -> list[Span]:
    """What of the spans lies inside of the text, by place."""
    clipped = ((max(0, start), min(end, length)) for start, end in spans)
    return sorted((start, end) for start, end in clipped if start < end)


def _disjoint(spans: Sequence[Span], length: int) -> list[Span]:
    """Spans as they are, but each begins where the one before ends at the earliest."""
    parts: list[Span] = []
    for start, end in _inside(spans, length):
        begin = max(start, parts[-1][1]) if parts else start
        if begin < end:
            parts.append((begin, end))
    return parts


def _merged(spans: Sequence[Span], length: int) -> list[Span]:
    """Overlapping spans as one. Neighbours stay apart."""
    merged: list[Span] = []
    for start, end in _inside(spans, length):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


# A drawing of a part of a word proximity network: words on an ellipse, lines between words that go together.
#
# Geometry only; the template draws it, and has a table of the same figures beside it. The same words give the
# same drawing.

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
    """A word: its place, its radius, and where its label is; `scored` if it has a weight of its own.

    anchor: which part of the label is at its place: start, middle or end.
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


def draw(weights: Mapping[str, float], pairs: Sequence[tuple[str, str, float]]) -> NetworkDrawing | None:
    """Words with their weights and pairs with their strengths (NPMI); None where there is nothing to draw.

    Words that only a pair has are drawn as well, smaller. Neighbours in the network stand beside each other
    where that is possible, so that lines seldom cross.
    """
    order = _round_trip(weights, pairs)
    if not order:
        return None
    most = max(weights.values(), default=0.0)
    places = _places(len(order))
    dots = {
        word: _dot(word, place, weights.get(word), most) for word, place in zip(order, places, strict=True)
    }
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


def _round_trip(weights: Mapping[str, float], pairs: Sequence[tuple[str, str, float]]) -> list[str]:
    """All words, each as near after a word that it goes together with as it can be."""
    near: dict[str, list[str]] = {word: [] for word in weights}
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
    """Points on the ellipse, the first one on top; one word alone is in the middle."""
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


def mark_passage(pieces: Sequence[Piece]) -> SafeString:
    """A passage with an element for each highlighted sentence, and key words in bold."""
    return format_html_join("", "{}", ((format_html(_around(piece), piece.text),) for piece in pieces))


def _around(piece: Piece) -> str:
    """The tags of a piece, of which none comes from a text."""
    text = "<b>{}</b>" if piece.is_bold else "{}"
    return f"{'<mark>' if piece.opens else ''}{text}{'</mark>' if piece.closes else ''}"


def draw_svg(drawing: NetworkDrawing) -> SafeString:
    """A drawing; its words stand in its label and in the table below."""
    lines = format_html_join(
        "",
        '<line x1="{}" y1="{}" x2="{}" y2="{}" stroke-width="{}"/>',
        ((line.x1, line.y1, line.x2, line.y2, line.width) for line in drawing.lines),
    )
    dots = format_html_join(
        "",
        '<circle cx="{}" cy="{}" r="{}" class="{}"/><text x="{}" y="{}" text-anchor="{}">{}</text>',
        (
            (
                dot.x,
                dot.y,
                dot.radius,
                "scored" if dot.scored else "other",
                dot.label_x,
                dot.label_y,
                dot.anchor,
                dot.label,
            )
            for dot in drawing.dots
        ),
    )
    return format_html(
        '<svg viewBox="0 0 {} {}" role="img" aria-label="Words of this passage in the network: {}. '
        'The table below has the figures.">{}{}</svg>',
        drawing.width,
        drawing.height,
        ", ".join(dot.word for dot in drawing.dots),
        lines,
        dots,
    )


def render_rows(figures: Sequence[tuple[str, Sequence[float | None]]], decimals: int) -> SafeString:
    """Rows of a table: a label, then figures, a dash for what there is not."""
    return format_html_join(
        "",
        '<tr><th scope="row"><bdi>{}</bdi></th>{}</tr>',
        ((label, _cells(values, decimals)) for label, values in figures),
    )


def _cells(values: Sequence[float | None], decimals: int) -> SafeString:
    texts = ("\N{EN DASH}" if value is None else f"{value:.{decimals}f}" for value in values)
    return format_html_join("", '<td class="number">{}</td>', ((text,) for text in texts))


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a score: its value, and its weight if it has one in this ranking."""

    label: str
    value: float
    weight: float | None

    @property
    def adds(self) -> float | None:
        """What it adds to the score."""
        return None if self.weight is None else self.weight * self.value


@dataclass(frozen=True, slots=True)
class ResultPassage:
    """A passage of an answer; `link` is its address where that is one of the web."""

    rank: int
    score: float
    key: str
    title: str
    url: str
    link: str
    corpus: str
    language: str
    text: SafeString
    parts: Sequence[Part]
    weighted_words: Sequence[tuple[str, float]]
    pairs: Sequence[tuple[str, str, float]]
    drawing: SafeString | None
    rows_of_parts: SafeString
    rows_of_words: SafeString


def shown_result(found_passage: FoundPassage, language: str, weights: Mapping[str, float]) -> ResultPassage:
    """Everything that the page says of a passage; `weights` are those of the parts of its score."""
    passage, why = found_passage.passage, found_passage.explanation
    weighted_words = [(node.word, node.weight) for node in why.nodes] if why else []
    pairs = [(edge.first, edge.second, edge.npmi) for edge in why.edges] if why else []
    parts = [
        Part(_LABELS.get(name, name), value, weights.get(name)) for name, value in found_passage.parts.items()
    ]
    drawing = draw(dict(weighted_words), pairs)
    return ResultPassage(
        rank=found_passage.rank,
        score=found_passage.score,
        key=passage.key,
        title=passage.title or passage.page or passage.key,
        url=passage.url,
        link=passage.url if passage.url.startswith(("https://", "http://")) else "",
        corpus=found_passage.corpus,
        language=language,
        text=mark_passage(_pieces(found_passage)),
        parts=parts,
        weighted_words=weighted_words,
        pairs=pairs,
        drawing=draw_svg(drawing) if drawing else None,
        rows_of_parts=render_rows(
            [(part.label, (part.value, part.weight, part.adds)) for part in parts], decimals=4
        ),
        rows_of_words=render_rows(
            [
                *((word, (weight,)) for word, weight in weighted_words),
                *((f"{one} \N{EN DASH} {other}", (strength,)) for one, other, strength in pairs),
            ],
            decimals=3,
        ),
    )


def sentences_of(found_passage: FoundPassage, language: str) -> Sequence[tuple[int, int]]:
    """Offsets of the passage's sentences; joined, they are the passage."""
    why = found_passage.explanation
    return why.bounds if why else sentences(found_passage.passage.text, language)


def key_of(found_passage: FoundPassage, *, twice: bool) -> str:
    """The passage's own id, with the corpus before it where two passages of an answer have the same one."""
    return f"{found_passage.corpus}/{found_passage.passage.key}" if twice else found_passage.passage.key


def _pieces(found_passage: FoundPassage) -> Sequence[Piece]:
    """The text, cut where highlighted sentences and key words begin and end."""
    why = found_passage.explanation
    return marked(found_passage.passage.text, why.highlights if why else (), why.keywords if why else ())


_LABELS = {
    option.name.removeprefix("weight_"): option.label
    for profile in ("balanced", "balanced-1", "crown-2020")
    for option in describe(profile)
}
