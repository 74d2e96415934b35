"""`${variables}` of templates: which there are, and the page with a row's values in their places."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain, zip_longest

from marketplace.errors import Refusal

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
