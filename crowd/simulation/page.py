"""Reading a task page as a person does: its units, what they say, and what can be filled in.

Knows HTML forms and nothing of a kind of stage: a kind that asks by radio buttons, lists, boxes to tick or
to write in can be simulated without a word about it here.
"""

from dataclasses import dataclass, field
from decimal import Decimal
from html.parser import HTMLParser
from urllib.parse import urljoin

_MOST_NUMBERS = 2_000
_TEXT_TYPES = {"text", "search", "email", "url", "tel", "number", "range", ""}


@dataclass(slots=True)
class Field:
    """Something to fill in: one of `options` (`choice`), a box to tick or not (`tick`), `text`, `number`."""

    name: str
    kind: str
    options: list[str] = field(default_factory=list)
    least: int = 0
    most: int = 0

    @property
    def unit(self) -> str:
        """The unit it belongs to: what stands before the last bar of its name."""
        return self.name.rpartition("|")[0]

    @property
    def short(self) -> str:
        """Its name within the unit."""
        return self.name.rpartition("|")[2]


@dataclass(slots=True)
class Form:
    """The page's form. `texts` has what the page says about each unit, "" what it says to all.

    `behind` has the units of names that stand for them in the page.
    """

    action: str = ""
    draft_url: str = ""
    hidden: dict[str, str] = field(default_factory=dict)
    fields: dict[str, Field] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    behind: dict[str, str] = field(default_factory=dict)

    @property
    def units(self) -> list[str]:
        """Units in the order of the page."""
        return list(dict.fromkeys(self._unit_of(found) for found in self.fields.values()))

    def of(self, unit: str) -> list[Field]:
        """The fields of a unit."""
        return [found for found in self.fields.values() if self._unit_of(found) == unit]

    def said_of(self, unit: str) -> str:
        """What the page says about a unit."""
        names = {of: name for name, of in self.behind.items()}
        return self.texts.get(names.get(unit, unit), "")

    def _unit_of(self, found: Field) -> str:
        return self.behind.get(found.unit, found.unit)


def read_form(html: str, url: str) -> Form | None:
    """The first form of a page that is posted, or None where there is none."""
    reader = _Reader(url)
    reader.feed(html)
    reader.close()
    return reader.form if reader.seen else None


class _Reader(HTMLParser):
    """Collects one form; text goes to the section it stands in."""

    def __init__(self, url: str) -> None:
        super().__init__(convert_charrefs=True)
        self.form = Form()
        self.seen = self._inside = False
        self._url = url
        self._said: list[str] = []
        self._said_to_all: list[str] = []
        self._section_depth = 0
        self._section_fields: set[str] = set()
        self._select: Field | None = None
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        if tag in ("script", "style"):
            self._silent += 1
        elif tag == "section":
            self._section_depth += 1
        elif tag == "form" and has.get("method", "").lower() == "post" and not self.seen:
            self.seen = self._inside = True
            self.form.action = urljoin(self._url, has.get("action", ""))
            if has.get("data-draft"):
                self.form.draft_url = urljoin(self._url, has["data-draft"])
        elif self._inside:
            self._field(tag, has)

    def _field(self, tag: str, has: dict[str, str]) -> None:
        name = has.get("name", "")
        if tag == "option" and self._select is not None:
            if has.get("value") and "disabled" not in has:
                self._select.options.append(has["value"])
        elif not name or "disabled" in has:
            return
        elif tag == "select":
            self._select = self._add(name, "choice", has)
        elif tag == "textarea":
            self._add(name, "text", has)
        elif tag == "input":
            self._input(name, has)

    def _input(self, name: str, has: dict[str, str]) -> None:
        kind = has.get("type", "").lower()
        if kind == "hidden":
            self.form.hidden[name] = has.get("value", "")
        elif kind in ("radio", "checkbox"):
            found = self._add(name, "choice" if kind == "radio" else "tick", has)
            found.options.append(has.get("value", "on"))
        elif kind in _TEXT_TYPES:
            number = kind in ("number", "range")
            found = self._add(name, "number" if number else "text", has)
            if number:
                found.least, found.most = _whole(has.get("min", ""), 0), _whole(has.get("max", ""), 100)
                found.options = _in_steps(has)

    def _add(self, name: str, kind: str, has: dict[str, str]) -> Field:
        found = self.form.fields.setdefault(name, Field(name, kind))
        found.least = _whole(has.get("minlength", ""), found.least)
        found.most = _whole(has.get("data-longest") or has.get("maxlength", ""), found.most)
        if self._section_depth:
            self._section_fields.add(found.unit)
        return found

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._silent -= 1
        elif tag == "select":
            self._select = None
        elif tag == "form":
            self._inside = False
        elif tag == "section" and self._section_depth:
            self._section_depth -= 1
            if not self._section_depth:
                self._end_section()

    def _end_section(self) -> None:
        for unit in self._section_fields:
            self.form.texts[unit] = " ".join(" ".join(self._said).split())
        self._said, self._section_fields = [], set()

    def handle_data(self, data: str) -> None:
        if not self._silent:
            (self._said if self._section_depth else self._said_to_all).append(data)

    def close(self) -> None:
        super().close()
        self.form.texts[""] = " ".join(" ".join(self._said_to_all).split())


def _whole(text: str, otherwise: int) -> int:
    try:
        return int(float(text))
    except (ValueError, OverflowError):
        return otherwise


def _in_steps(has: dict[str, str]) -> list[str]:
    """All numbers that a field takes, where it names its ends and its step and these are not too many."""
    try:
        least, most, step = (Decimal(has.get(name, "")) for name in ("min", "max", "step"))
        count = int((most - least) / step) + 1
    except (ArithmeticError, ValueError):
        return []
    if step < 0 or not 1 <= count <= _MOST_NUMBERS:
        return []
    return [_plainly(least + number * step) for number in range(count)]


def _plainly(number: Decimal) -> str:
    """As somebody types it: 2, not 2.0."""
    return str(int(number)) if number == int(number) else f"{number.normalize():f}"
