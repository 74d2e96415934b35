"""One passage, or one document, of a file."""

from typing import NamedTuple


class Row(NamedTuple):
    """Texts are as they stand in the file; `line` is its line, or its record in files without lines."""

    line: int
    key: str
    text: str
    title: str
    url: str
    page: str
    start: int | None
    end: int | None
