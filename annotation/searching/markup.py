"""Marked passages and drawings as HTML. A page has thousands of pieces of them, too many for template tags.

Every text goes through `format_html`, which escapes it; nothing else is ever put between the tags.
"""

from collections.abc import Sequence

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from annotation.searching.fragment import NetworkDrawing
from retrieval.crown.highlights import Piece


def passage(pieces: Sequence[Piece]) -> SafeString:
    """A passage with an element for each highlighted sentence, and key words in bold."""
    return format_html_join("", "{}", ((format_html(_around(piece), piece.text),) for piece in pieces))


def _around(piece: Piece) -> str:
    """The tags of a piece, of which none comes from a text."""
    text = "<b>{}</b>" if piece.is_bold else "{}"
    return f"{'<mark>' if piece.opens else ''}{text}{'</mark>' if piece.closes else ''}"


def svg(drawing: NetworkDrawing) -> SafeString:
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


def rows(figures: Sequence[tuple[str, Sequence[float | None]]], decimals: int) -> SafeString:
    """Rows of a table: a label, then figures, a dash for what there is not."""
    return format_html_join(
        "",
        '<tr><th scope="row"><bdi>{}</bdi></th>{}</tr>',
        ((label, _cells(values, decimals)) for label, values in figures),
    )


def _cells(values: Sequence[float | None], decimals: int) -> SafeString:
    said = ("\N{EN DASH}" if value is None else f"{value:.{decimals}f}" for value in values)
    return format_html_join("", '<td class="number">{}</td>', ((text,) for text in said))
