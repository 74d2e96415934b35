"""The simplest form, for sets of one's own: an object with question, answer and span in each line.

    {"question": "Where did he live?", "answer": "He lived in Rome for a year.", "span": "Rome"}

The key phrase is labelled wherever it stands in the answer. With a text `group` in all lines, those of one
group stay on one side of the split; without it, those of one answer do.
"""

from collections.abc import Iterable, Iterator

from evaluations.training.kpqa.examples import (
    EMPTY_QUESTION,
    NO_ANSWER,
    NOT_FOUND,
    OTHER_CASE,
    DropCounts,
    Example,
    NoExampleError,
)
from evaluations.training.kpqa.passages import digest, occurrences
from evaluations.training.kpqa.streams import Value

SOURCE = "spans"
KEYS = frozenset({"question", "answer", "span"})


def examples(rows: Iterable[Value], dropped: DropCounts) -> Iterator[Example]:
    """An example for each row whose span stands in its answer."""
    for row in rows:
        with dropped.counting():
            yield _example(row, dropped)


def _example(row: Value, dropped: DropCounts) -> Example:
    question, answer, span = (row[key].text().strip() for key in ("question", "answer", "span"))
    group = row.get("group")
    if not question:
        raise NoExampleError(EMPTY_QUESTION)
    if not answer or not span:
        raise NoExampleError(NO_ANSWER)
    exact = occurrences(answer, span)
    places = exact or occurrences(answer, span, any_case=True)
    if not places:
        raise NoExampleError(NOT_FOUND)
    if not exact:
        dropped.note(OTHER_CASE)
    return Example(question, answer, tuple(places), SOURCE, digest(group.text() if group else answer))
