"""Texts of people inside of YAML, Markdown and BibTeX, where none of their signs may mean anything."""

import json
import re
import unicodedata
from collections.abc import Sequence

#: Signs that turn the direction of what follows them, or are invisible: no line of ours needs them.
_INVISIBLE = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_MARKDOWN = re.compile(r"([\\`*_\[\]|~$])")
#: What begins a heading, a list, a quotation or a rule where it stands first.
_FIRST = re.compile(r"(\d{1,9}(?=[.)])|(?=[#+=-]|&gt;))")
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "%": r"\%",
    "#": r"\#",
    "&": r"\&",
    "$": r"\$",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
#: What YAML takes for no printable sign, or for the end of a line.
_NOT_IN_YAML = re.compile("[\u007f-\u009f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")


def plain(text: str) -> str:
    """The text on one line, without control characters and signs that turn directions."""
    text = "".join(" " if unicodedata.category(sign) == "Cc" else sign for sign in text)
    return " ".join(_INVISIBLE.sub("", text).split())


def yaml(value: str | float | bool) -> str:
    """A value of one line in YAML; texts stand in double quotes, as in JSON."""
    return _NOT_IN_YAML.sub(_escaped, json.dumps(value, ensure_ascii=False))


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def markdown(text: str) -> str:
    """The text as words inside of a line, or a cell of a table."""
    marked = _MARKDOWN.sub(r"\\\1", plain(text))
    return "".join(_HTML.get(sign, sign) for sign in marked)


def paragraphs(text: str) -> str:
    """A text of one paragraph or several, with a blank line between them."""
    parts = re.split(r"\n\s*\n", text.replace("\r\n", "\n").replace("\r", "\n"))
    return "\n\n".join(_paragraph(markdown(part)) for part in parts if plain(part))


def _paragraph(marked: str) -> str:
    begins = _FIRST.match(marked)
    return f"{begins[0]}\\{marked[begins.end() :]}" if begins else marked


def block(text: str, language: str = "") -> str:
    """A block of code whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def table(
    header: tuple[str, ...], rows: Sequence[tuple[str, ...]], numbers: frozenset[int] = frozenset()
) -> str:
    """A table; cells are Markdown already, columns in `numbers` are set to the right."""
    rule = ("---:" if place in numbers else "---" for place in range(len(header)))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, tuple(rule), *rows))


def bibtex(text: str) -> str:
    """A value of BibTeX, between braces."""
    return "{" + "".join(_TEX.get(sign, sign) for sign in plain(text)) + "}"
