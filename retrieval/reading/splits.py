"""Documents of a file as passages."""

from collections.abc import Iterable, Iterator

from retrieval.reading.file import PassageFile
from retrieval.reading.row import Row
from retrieval.text.windows import WindowOptions, windows

#: Longest document in characters: as long as a line may be.
LONGEST_DOCUMENT = 4_000_000
_LONGEST_KEY = 200


def split(file: PassageFile, rows: Iterable[Row], language: str, splitting: WindowOptions) -> Iterator[Row]:
    """Each window of each document as a passage: `id#1`, `id#2`, …; its page is the document.

    Offsets are characters of the document's text. A document that has its own place in a page (`start` and
    `end`, as long as its text) stays in that page, and offsets are the page's. Title and URL are those of the
    document. An id that gets too long is a fault of `file`.
    """
    for row in rows:
        placed = row.start is not None and row.end is not None and row.end - row.start == len(row.text)
        base = row.start or 0 if placed else 0
        page = row.page if placed and row.page else row.key
        spans = windows(row.text, language, splitting)
        if len(longest := f"{row.key}#{len(spans)}") > _LONGEST_KEY:
            what = f"with the number of its passage it has {len(longest)} characters; {_LONGEST_KEY} are kept"
            file.fault(row.line, "id", what, "Shorten it.")
            file.stop_if_too_many()
            continue
        for number, (start, end) in enumerate(spans, 1):
            yield Row(
                row.line,
                f"{row.key}#{number}",
                row.text[start:end],
                row.title,
                row.url,
                page,
                base + start,
                base + end,
            )
