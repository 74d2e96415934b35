"""Cells of tables and phrases of pages, drawn once for all pages: what people typed is escaped here.

A column says how its cells are drawn: by one of the functions below that take a `Cell`, by `opens`, or by a
function of its own module that puts a few of the smaller ones together:

    Column("number", "Invoice", attrgetter("number"), cell=opens("requester:invoice", "Invoice {}"))
    Column("state", "State", _state, cell=lambda cell: chip(cell.value, LEVELS[cell.value]))

A column that says nothing has numbers with commas, moments as how long ago, texts as they are.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from operator import attrgetter
from typing import Any

from django.conf import settings
from django.contrib.humanize.templatetags.humanize import intcomma
from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from core.money import format_amount
from web import durations

NONE = "\N{EN DASH}"
#: Characters of a text in a table.
_MOST = 80


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell to draw: its row, the column's value in it, the page's context, and the moment it is drawn."""

    row: Any
    value: Any
    context: Any
    now: datetime

    @property
    def access(self) -> Any:
        """Who looks, at which requester, project or stage."""
        return self.context.get("access")

    def address(self, name: str, *more: object) -> str:
        """An address of the same requester, project or stage; any address on a page of none."""
        return str(self.access.address(name, *more)) if self.access else reverse(name, args=more)


Draw = Callable[[Cell], object]

# Phrases: a text, a link, or several of them after one another.


@dataclass(frozen=True, slots=True)
class Link:
    """A label that leads to an address; what a person typed is `isolated` first."""

    label: str
    address: str
    unseen: str = ""
    plain: bool = False
    download: bool = False


@dataclass(frozen=True, slots=True)
class Post:
    """A button that does something at an address, with what it sends along; `plain` is one of several."""

    label: str
    address: str
    fields: Mapping[str, object] = field(default_factory=dict)
    unseen: str = ""
    plain: bool = True
    danger: bool = False


@dataclass(frozen=True, slots=True)
class Code:
    """A name of a program or a file."""

    name: str


#: A text, link, moment or chip, or several of them after one another.
Phrase = object


def phrase(part: Phrase) -> SafeString:
    """A phrase as HTML; None and False are left out of a sequence."""
    if isinstance(part, Code):
        return format_html("<code>{}</code>", part.name)
    if isinstance(part, Link):
        return format_html('<a href="{}">{}{}</a>', part.address, part.label, unseen(part.unseen))
    if isinstance(part, datetime):
        return durations.moment(part)
    if isinstance(part, list | tuple):
        return format_html_join("", "{}", ((phrase(each),) for each in part if each not in (None, False)))
    return format_html("{}", part)


def link(label: object, address: str, *, mono: bool = False, most: int = _MOST) -> SafeString:
    """A link to what a row is about, by its name."""
    text = label if isinstance(label, SafeString) else isolated(label, mono=mono, most=most)
    return format_html('<a href="{}">{}</a>', address, text)


def unseen(text: str) -> SafeString:
    """A text for screen readers alone."""
    return format_html('<span class="unseen"> {}</span>', text) if text else SafeString("")


def short(text: object, most: int = _MOST) -> str:
    """A text of at most so many characters; one that is cut ends in an ellipsis."""
    return Truncator(str(text)).chars(most)


def chip(label: object, level: str = "", title: str = "") -> SafeString:
    """A state in a word or two; `level` is good, wait, bad or nothing."""
    tip = format_html(' title="{}"', title) if title else ""
    return format_html('<span class="chip{}"{}>{}</span>', f" {level}" if level else "", tip, label)


def more(*parts: object, mono: bool = False) -> SafeString:
    """Small print below the first line of a cell."""
    return format_html('<span class="more{}">{}</span>', " mono" if mono else "", several(*parts, between=""))


def several(*parts: object, between: str = " ") -> SafeString:
    """Several things after one another; those that are empty are left out."""
    return format_html_join(between, "{}", ((part,) for part in parts if part))


def isolated(text: object, *, mono: bool = False, most: int = 0) -> SafeString:
    """A text whose direction of writing concerns nothing around it."""
    return format_html(
        "<bdi{}>{}</bdi>",
        SafeString(' class="mono"' if mono else ""),
        short(text, most) if most else str(text),
    )


def post(context: Any, button: Post) -> SafeString:
    """A button with its form; `context` is the cell's or the template's."""
    classes = " ".join(filter(None, ("plain" * button.plain, "danger" * button.danger, "small")))
    return format_html(
        '<form method="post" action="{}"><input type="hidden" name="csrfmiddlewaretoken" value="{}">{}'
        '<button class="{}">{}{}</button></form>',
        button.address,
        get_token(context["request"]),
        format_html_join("", '<input type="hidden" name="{}" value="{}">', button.fields.items()),
        classes,
        button.label,
        unseen(button.unseen),
    )


def with_undo(request: HttpRequest, sentence: str, address: str, **fields: object) -> SafeString:
    """What was done, with a button that undoes it at an address; scripts take it away when it is too late."""
    return format_html(
        '<span>{}</span> <form class="undo" method="post" action="{}">'
        '<input type="hidden" name="csrfmiddlewaretoken" value="{}">{}'
        '<button class="plain small" data-key="u">Undo <kbd>u</kbd></button></form>',
        sentence,
        address,
        get_token(request),
        format_html_join(
            "",
            '<input type="hidden" name="{}" value="{}">',
            (
                (name, each)
                for name, value in fields.items()
                for each in (value if isinstance(value, list) else [value])
            ),
        ),
    )


# What a cell holds.


def draw(cell: Cell) -> object:
    """A cell whose column says nothing: by what its value is."""
    value = cell.value
    if value is None or value == "":
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return intcomma(value)
    if isinstance(value, datetime):
        return durations.ago(value, cell.now)
    if isinstance(value, float):
        return f"{value:.2f}"
    return f"{value:%-d %b %Y}" if isinstance(value, date) else isolated(value)


def _or_none(draw_value: Callable[[Cell], object]) -> Draw:
    """A way to draw a value, with a dash where there is none."""
    return lambda cell: NONE if cell.value in (None, "") else draw_value(cell)


#: An id.
mono = _or_none(lambda cell: isolated(cell.value, mono=True))
#: Cents as an amount.
money = _or_none(lambda cell: amount(cell.value))
#: Date and time; the date alone.
moment = _or_none(lambda cell: durations.moment(cell.value))
day = _or_none(lambda cell: f"{cell.value:%-d %b %Y}")
#: How long until then; how long ago, or until then.
ahead = _or_none(lambda cell: durations.ahead(cell.value, cell.now))
when = _or_none(lambda cell: (ahead if cell.value > cell.now else draw)(cell))
#: Seconds in larger units; a share of a hundred; a number that counts nothing, such as one of a list.
span = _or_none(lambda cell: durations.span(cell.value))
percent = _or_none(lambda cell: f"{cell.value} %")
as_it_is = _or_none(lambda cell: cell.value)


def amount(cents: int, currency: str = "") -> str:
    """Cents with their currency, the installation's unless named: 15 is "$0.15"."""
    return format_amount(cents, currency or settings.MARKETPLACE_CURRENCY)


def opens(name: str, label: str = "{}", *paths: str, mono: bool = False) -> Draw:
    """The value in `label` as a link; it completes the address of this name, or attributes of the row do."""
    getters = [attrgetter(path) for path in paths]

    def draw_link(cell: Cell) -> object:
        address = cell.address(name, *([get(cell.row) for get in getters] or [cell.value]))
        return link(label.format(cell.value), address, mono=mono)

    return draw_link


def counts(name: str, *paths: str, query: str = "") -> Draw:
    """A number that leads to what it counts, where it counts anything."""
    getters = [attrgetter(path) for path in paths]

    def draw_count(cell: Cell) -> object:
        values = [get(cell.row) for get in getters]
        if not cell.value:
            return "0"
        address = cell.address(name) + query.format(*values) if query else cell.address(name, *values)
        return phrase(Link(intcomma(cell.value), address))

    return draw_count


def states(levels: Mapping[str, tuple[str, str] | str]) -> Draw:
    """A chip by the value: its label and level, or the value itself with a level."""

    def draw_state(cell: Cell) -> object:
        state = levels.get(cell.value, "")
        label, level = state if isinstance(state, tuple) else (cell.value, state)
        return chip(label, level) if label else NONE

    return draw_state
