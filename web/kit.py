"""Pages that are declared beside their views: a heading, what can be done, and parts one below the other.

    page = Page(
        "Invoices",
        lead="What was spent in a period.",
        primary=[Link("New invoice", access.address("requester:new_invoice"))],
        parts=[Listing("Which invoices to show", "invoice", "invoices", Empty("No invoice yet"))],
    )
    return respond(request, access, INVOICES, rows, page, place="money")

A part has a template of its own in `templates/kit/`; `Own` is for what no other page has. The functions at
the end are the library `kit` of templates.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from django import forms, template
from django.template import Context, loader
from django.utils import timezone
from django.utils.html import strip_tags
from django.utils.safestring import SafeString

from web import cells
from web.cells import Cell, Link, Phrase, Post
from web.tables import Column, Rows

register = template.Library()


@dataclass(frozen=True, slots=True)
class Empty:
    """What a page says where it has nothing to show."""

    heading: str
    text: Phrase = ""
    primary: Link | None = None
    template: ClassVar[str] = "kit/empty.html"


@dataclass(frozen=True, slots=True)
class Tabs:
    """Links to sister pages: label and address of each, and the label of this page."""

    label: str
    here: str
    links: Sequence[tuple[str, str]]
    template: ClassVar[str] = "kit/tabs.html"


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence of a page: a note with a level (warning, error), or in small where it has none."""

    text: Phrase
    level: str | None = None
    template: ClassVar[str] = "kit/note.html"


@dataclass(frozen=True, slots=True)
class Secret:
    """A link or key that is shown once, with a button that copies it."""

    text: Phrase
    secret: str
    template: ClassVar[str] = "kit/secret.html"


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with their values; `look` is facts (in a row) or counts (one below the other)."""

    pairs: Sequence[tuple[str, object]]
    heading: str = ""
    look: str = "counts"
    template: ClassVar[str] = "kit/facts.html"


@dataclass(frozen=True, slots=True)
class Button:
    """A button of a form: what it sends as `name`, and where to, if not to the form's own address."""

    label: str
    name: str = ""
    value: str = ""
    address: str = ""
    plain: bool = False
    danger: bool = False
    look: bool = False
    """It only looks: the form comes by GET."""


@dataclass(frozen=True, slots=True)
class Ticks:
    """Tick boxes of rows, in a form with its buttons; a row without a key has no box."""

    name: str
    key: Callable[[Any], object]
    label: Callable[[Any], str]
    action: str
    buttons: Sequence[object]
    method: str = "post"
    form: forms.BaseForm | None = None
    note: str = ""
    folded: str = ""
    most: int = 0
    """Rows that match the filter can be chosen on all pages, up to so many; 0: only those of the page."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows without filters or pages."""

    label: str
    columns: Sequence[Column]
    rows: Rows
    heading: str = ""
    empty: Phrase = ""
    foot: Sequence[object] = ()
    template: ClassVar[str] = "kit/table.html"


@dataclass(frozen=True, slots=True)
class Listing:
    """The grid of the page: filters, what was found, the table, its pages, or what an empty list says.

    `label` says what the filters do, `one` and `many` what a row is.
    """

    label: str
    one: str
    many: str
    empty: Empty = Empty("None yet")
    no_match: Empty | None = None
    heading: str = ""
    ticks: Ticks | None = None
    note: Phrase = ""
    template: ClassVar[str] = "kit/list.html"


@dataclass(frozen=True, slots=True)
class FormSection:
    """A form: `before` and `note` stand above and below its fields, `groups` put them under legends."""

    form: forms.BaseForm
    buttons: Sequence[object]
    action: str = ""
    heading: str = ""
    lead: Phrase = ""
    before: Sequence[Any] = ()
    note: Phrase = ""
    groups: Sequence[tuple[str, Sequence[str]]] = ()
    fields: Sequence[tuple[str, object]] = ()
    card: bool = True
    checked: bool = True
    """The browser, too, looks whether all is there."""
    folded: str = ""
    """The label of what opens it."""
    after: str = ""
    """A template of further fields, which finds the form as `form`."""
    template: ClassVar[str] = "kit/form.html"

    def list_groups(self) -> Iterator[tuple[str, list[forms.BoundField]]]:
        """The legend and the fields of each group."""
        for legend, names in self.groups:
            yield legend, [self.form[name] for name in names]


@dataclass(frozen=True, slots=True)
class Own:
    """A part with a template that no other page has, and with cards of its own."""

    template: str
    card: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class Page:
    """A page in the frame of its requester, project or stage."""

    heading: str
    parts: Sequence[Any] = ()
    lead: Phrase = ""
    title: str = ""
    trail: Sequence[Link] = ()
    here: str = ""
    primary: Sequence[object] = ()
    tabs: Tabs | None = None
    aside: Sequence[Any] = ()
    aside_label: str = ""
    scripts: Sequence[str] = ()
    frame: str = ""

    def template_context(self, access: Any) -> dict[str, Any]:
        """What the template of all pages needs beside what the view gives."""
        frame = self.frame or getattr(access, "frame", "desk/base.html")
        title = self.title or self.heading
        return {"page": self, "page_title": title, "frame": frame, "bare": frame in _WITHOUT_TITLE}


TEMPLATE = "kit/page.html"
#: Characters of a cell that stays on one line, such as a name with a hyphen.
_BRIEF = 16
#: Frames over all projects or requesters, which have no title of their own.
_WITHOUT_TITLE = ("desk/base.html", "marketplace/requester/operator.html")


# Rows as the template draws them.


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table: its tick box, and its cells, each with whether it is the head, and its class."""

    key: object
    label: str
    cells: list[tuple[bool, str, object]]


@dataclass(frozen=True, slots=True)
class Lines:
    """The rows of a table; without tick boxes where none of them can be chosen."""

    rows: list[Line]
    ticks: Ticks | None


@register.simple_tag(takes_context=True)
def draw_lines(
    context: Context, columns: Sequence[Column], rows: Sequence[Any], ticks: Ticks | None = None
) -> Lines:
    """The rows of a table, drawn by what its columns say."""
    on_page = [column for column in columns if column.on_page]
    head = next((column for column in on_page if column.head), on_page[0])
    now = context.get("now") or timezone.now()
    lines = [_draw_line(row, on_page, head, ticks, (context, now)) for row in rows]
    return Lines(lines, ticks if any(line.key is not None for line in lines) else None)


def _draw_line(
    row: Any,
    columns: Sequence[Column],
    head: Column,
    ticks: Ticks | None,
    place: tuple[Context, datetime],
) -> Line:
    drawn = []
    for column in columns:
        cell = Cell(row, column.read(row) if column.read else None, *place)
        content = (column.cell or cells.draw)(cell)
        brief = len(strip_tags(str(content))) <= _BRIEF
        look = "number" if column.number else "brief" if brief else ""
        drawn.append((column is head, look, content))
    key = ticks.key(row) if ticks else None
    return Line(key, ticks.label(row) if ticks and key is not None else "", drawn)


register.filter(cells.phrase)


@register.filter
def is_post(action: object) -> bool:
    """Whether an action is a button with a form of its own."""
    return isinstance(action, Post)


@register.filter
def is_link(action: object) -> bool:
    """Whether an action is a link."""
    return isinstance(action, Link)


def render_form(cell: Cell, section: FormSection) -> SafeString:
    """A form in a cell."""
    context = {"part": section, "inside": True}
    return loader.render_to_string(section.template, context, cell.context["request"])


register.simple_tag(cells.post, takes_context=True, name="draw_post")
