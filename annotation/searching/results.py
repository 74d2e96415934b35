"""One passage of an answer as the page shows it: marked text, score parts, words and pairs, a drawing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from annotation.searching.fragment import NetworkDrawing, draw
from retrieval.crown.highlights import Piece, marked
from retrieval.crown.options import describe
from retrieval.search import FoundPassage
from retrieval.text.sentences import sentences


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
    said = ("\N{EN DASH}" if value is None else f"{value:.{decimals}f}" for value in values)
    return format_html_join("", '<td class="number">{}</td>', ((text,) for text in said))


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
    words: Sequence[tuple[str, float]]
    pairs: Sequence[tuple[str, str, float]]
    drawing: SafeString | None
    rows_of_parts: SafeString
    rows_of_words: SafeString


def shown_result(found: FoundPassage, language: str, weights: Mapping[str, float]) -> ResultPassage:
    """Everything that the page says of a passage; `weights` are those of the parts of its score."""
    passage, why = found.passage, found.explanation
    words = [(node.word, node.weight) for node in why.nodes] if why else []
    pairs = [(edge.first, edge.second, edge.npmi) for edge in why.edges] if why else []
    parts = [Part(_LABELS.get(name, name), value, weights.get(name)) for name, value in found.parts.items()]
    drawing = draw(dict(words), pairs)
    return ResultPassage(
        rank=found.rank,
        score=found.score,
        key=passage.key,
        title=passage.title or passage.page or passage.key,
        url=passage.url,
        link=passage.url if passage.url.startswith(("https://", "http://")) else "",
        corpus=found.corpus,
        language=language,
        text=mark_passage(_pieces(found)),
        parts=parts,
        words=words,
        pairs=pairs,
        drawing=draw_svg(drawing) if drawing else None,
        rows_of_parts=render_rows(
            [(part.label, (part.value, part.weight, part.adds)) for part in parts], decimals=4
        ),
        rows_of_words=render_rows(
            [
                *((word, (weight,)) for word, weight in words),
                *((f"{one} \N{EN DASH} {other}", (strength,)) for one, other, strength in pairs),
            ],
            decimals=3,
        ),
    )


def sentences_of(found: FoundPassage, language: str) -> Sequence[tuple[int, int]]:
    """Offsets of the passage's sentences; joined, they are the passage."""
    why = found.explanation
    return why.bounds if why else sentences(found.passage.text, language)


def key_of(found: FoundPassage, *, twice: bool) -> str:
    """The passage's own id, with the corpus before it where two passages of an answer have the same one."""
    return f"{found.corpus}/{found.passage.key}" if twice else found.passage.key


def _pieces(found: FoundPassage) -> Sequence[Piece]:
    """The text, cut where highlighted sentences and key words begin and end."""
    why = found.explanation
    return marked(found.passage.text, why.highlights if why else (), why.keywords if why else ())


_LABELS = {
    option.name.removeprefix("weight_"): option.label
    for profile in ("balanced", "balanced-1", "crown-2020")
    for option in describe(profile)
}
