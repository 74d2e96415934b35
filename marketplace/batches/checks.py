"""What is wrong with a template, or may be, with the lines; and sample rows to look at it with."""

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from django.templatetags.static import static

from marketplace.batches import placeholders
from marketplace.batches.sheets import Limits, Sheet
from marketplace.crowdelements import unknown_elements
from marketplace.errors import Refusal

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FIELD = re.compile(r"<(?:input|textarea|select|crowd-(?!form\b|button\b)[a-z])", re.IGNORECASE)
_OPENED = re.compile(r"\$\{([^{}<\n]{0,100})(\}?)")
_LINK = re.compile(r"image|img|picture|photo|url|src", re.IGNORECASE)
#: Liquid, as templates of SageMaker Ground Truth have it; MTurk had none.
_LIQUID = re.compile(r"\{[{%][^{}]{0,200}?\btask\.input\.?([\w.]{0,60})")
_MOST = 20
_SAMPLE = Limits(megabytes=1, columns=500, rows=200)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about a line of a template; with `wrong` it cannot be stored so."""

    line: int
    words: str
    wrong: bool = False

    def __str__(self) -> str:
        return f"Line {self.line}: {self.words}" if self.line else self.words


def find_problems(html: str) -> list[Problem]:
    """All that a template's page says by itself, the wrong first."""
    bare = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), html)
    found = [*_unknown_elements(html)]
    for problems in (_odd_placeholders(bare), _liquid(bare)):
        found += islice(problems, _MOST)  # they come by line, and no more are shown
    if not _FIELD.search(bare) and "createElement" not in bare:
        found.append(
            Problem(0, "The page has no field, so workers have nothing to answer with but a button.")
        )
    return sorted(found, key=lambda each: (not each.wrong, each.line))[:_MOST]


def _line(text: str, at: int) -> int:
    return 1 + text.count("\n", 0, at)


def _unknown_elements(html: str) -> Iterator[Problem]:
    for unknown in unknown_elements(html):
        yield Problem(
            unknown.line,
            f"There is no element <{unknown.name}> in this marketplace. Take another one, or take it out.",
            wrong=True,
        )


def _odd_placeholders(bare: str) -> Iterator[Problem]:
    for found in _OPENED.finditer(bare):
        if not found[2]:
            words = f"${{{found[1][:40]} has no closing brace, so it stays as it is."
        elif not placeholders.parse(found[0]).variables:
            words = f"{found[0][:60]} is no name of a column, so it stays as it is."
        else:
            continue
        yield Problem(_line(bare, found.start()), words)


def _liquid(bare: str) -> Iterator[Problem]:
    for found in _LIQUID.finditer(bare):
        name = found[1].rpartition(".")[2] or "name"
        yield Problem(
            _line(bare, found.start()),
            f"{found[0][:60]} … is Liquid of Ground Truth, which is not filled in here. Write ${{{name}}}.",
        )


# Rows to look at a page with.


@dataclass(frozen=True, slots=True)
class SampleRows:
    """Values by column, row by row; `problem` says why they are not what was given."""

    rows: list[dict[str, str]]
    made_up: bool
    problem: str = ""


def sample_rows(html: str, text: str) -> SampleRows:
    """The rows of a table as text; made up of the placeholders where there is none, or it does not fit."""
    names = placeholders.parse(html).names
    invented = {name: made_up_value(name) for name in names}
    if not text.strip():
        return SampleRows([invented], made_up=True)
    try:
        sheet = Sheet(io.BytesIO(text.encode("utf-8", "replace")), "Sample rows", limits=_SAMPLE)
        rows = [dict(zip(sheet.columns, row.cells, strict=True)) for row in sheet.rows()]
    except Refusal as refusal:
        return SampleRows([invented], made_up=True, problem=refusal.message)
    missing = [name for name in names if name not in sheet.columns]
    problem = f"The sample rows have no column {placeholders.listed(missing)}; made up." if missing else ""
    return SampleRows([invented | row for row in rows], made_up=False, problem=problem)


def made_up_value(name: str) -> str:
    """A value for a placeholder: a picture of ours where its name sounds like an address, else words."""
    return static("samples/circle.svg") if _LINK.search(name) else f"[{name}]"


def fill(html: str, values: Mapping[str, str]) -> str:
    """The page with a row in it, exactly as a batch fills it."""
    return placeholders.parse(html).fill(values)
