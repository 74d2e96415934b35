"""`${variables}` of templates: which there are, a row's values in their places, and hosts loaded from."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain, zip_longest

from marketplace.errors import Refusal
from marketplace.html import hosts_in

#: A name begins with a letter, a digit or a low line. Other `${…}`, as scripts write them, stay as they are.
_PLACEHOLDER = re.compile(r"\$\{(\w[\w .:-]{0,99})\}")
_MANY = 12


@dataclass(frozen=True, slots=True)
class Page:
    """A template taken apart: text, a variable, text, a variable, … and text."""

    texts: tuple[str, ...]
    variables: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """Every variable once, in the order in which they first occur."""
        return list(dict.fromkeys(self.variables))

    def fill(self, values: Mapping[str, str]) -> str:
        """The page with the values put in as they are; what a value holds is not looked at for variables."""
        filled = (values[name] for name in self.variables)
        return "".join(chain.from_iterable(zip_longest(self.texts, filled, fillvalue="")))

    def line_of(self, name: str) -> int:
        """The line of the template on which a variable first occurs."""
        before = self.texts[: self.variables.index(name) + 1]
        return 1 + sum(text.count("\n") for text in before)


def parse(html: str) -> Page:
    """Take a template apart."""
    parts = _PLACEHOLDER.split(html)
    return Page(texts=tuple(parts[::2]), variables=tuple(name.strip() for name in parts[1::2]))


def check(page: Page, columns: Sequence[str], *, file: str) -> None:
    """Refuse a template with a variable that the table has no column for."""
    if unknown := [name for name in page.names if name not in columns]:
        name = unknown[0]
        also = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
        raise Refusal(
            "UnknownVariable",
            f"The template uses ${{{name}}} on line {page.line_of(name)}{also}, but {file} has no column of "
            f"that name; its columns are {listed(columns)}. {_remedy(name, columns)}",
        )


def unused(page: Page, columns: Sequence[str]) -> list[str]:
    """Columns that the template does not show."""
    shown = set(page.variables)
    return [name for name in columns if name not in shown]


def listed(names: Sequence[str]) -> str:
    """Names in a sentence, the first dozen of them."""
    shown = ", ".join(name[:60] for name in names[:_MANY])
    return f"{shown} and {len(names) - _MANY} more" if len(names) > _MANY else shown


def _remedy(name: str, columns: Sequence[str]) -> str:
    for near in _near(name, columns):
        return f"Did you mean ${{{near[:60]}}}? Change the template or the head of the file."
    return (
        "Change the template or the head of the file. If it belongs to a script of the template, write the "
        "script without ${…}, for example with +."
    )


def _near(name: str, columns: Sequence[str]) -> Iterator[str]:
    folded = {column.casefold(): column for column in columns}
    for found in get_close_matches(name.casefold(), folded, n=1, cutoff=0.75):
        yield folded[found]


# Which hosts a batch's tasks would load from: those of its template, and those that its cells bring in.

#: Hosts of cells that are listed; a table that names more needs a host of its own for its files.
MOST = 100
#: Rows that are also looked at as whole pages: addresses put together of a template and a cell.
WHOLE_PAGES = 20
_ADDRESS = re.compile(r"(https?://[a-z0-9][a-z0-9.-]{0,252}(?::\d{1,5})?)(?=[/?#\s)'\",;]|$)")


class HostCollector:
    """Collects hosts while rows pass by."""

    def __init__(self, page: Page, columns: Sequence[str]) -> None:
        self._page, self._columns = page, columns
        self._seen = 0
        self._hosts: dict[str, None] = {}

    def look(self, cells: Sequence[str], html: str) -> None:
        """Look at one row, and at the page that it makes if it is one of the first."""
        self._seen += 1
        if self._seen <= WHOLE_PAGES:
            self._add(hosts_in(html))
        for cell in cells:
            if "//" in cell and len(self._hosts) < MOST:
                self._add(hosts_in(cell) if "<" in cell else _ADDRESS.findall(cell))

    def beside(self, own: Iterable[str]) -> list[str]:
        """Hosts that the template itself does not name, sorted."""
        return sorted(self._hosts.keys() - set(own))

    def _add(self, hosts: Iterable[str]) -> None:
        for host in hosts:
            if len(self._hosts) < MOST:
                self._hosts[host] = None


def of_template(html: str) -> list[str]:
    """Origins that the template's own text names."""
    return hosts_in(html)
