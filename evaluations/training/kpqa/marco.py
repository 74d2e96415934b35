"""MS-MARCO question answering as published: v2.1 by columns, v1.1 by lines.

    {"answers": {"0": […], …}, "passages": {"0": [{"is_selected": …, "passage_text": …, "url": …}, …], …},
     "query": {"0": …, …}, "query_id": {…}, "query_type": {…}, "wellFormedAnswers": {…}}
    {"answers": […], "passages": [{"is_selected": …, "passage_text": …, "url": …}, …], "query": …, …}

People wrote the answers; those count that are a span of a passage which was selected for the question (Lee et
al. 2021, C.1). Of several answers the first such counts, at the first place where it stands in a selected
passage; the dot at its end is no part of it. Well-formed answers are not looked at.

Columns may take gigabytes: they are read beside one another, each in a pass of its own through the file, so
that one row is in memory at a time.
"""

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

from evaluations.training.kpqa.examples import (
    EMPTY_QUESTION,
    NO_ANSWER,
    NOT_FOUND,
    NOTHING_SELECTED,
    OTHER_CASE,
    YES_OR_NO,
    DropCounts,
    Example,
    NoExampleError,
)
from evaluations.training.kpqa.passages import Passage, is_yes_or_no, occurrences
from evaluations.training.kpqa.streams import Value, members
from metrics.errors import MetricError
from metrics.neural.pieces import Span

SOURCE = "marco"
KEYS = frozenset({"query", "passages"})
COLUMNS = frozenset({"answers", "passages", "query", "query_id", "query_type", "wellFormedAnswers"})
#: Members of `passages` in rows of parallel lists, which no column has as rows.
LISTS = frozenset({"is_selected", "passage_text", "url"})
_READ = ("query", "passages", "answers")
_NO_ANSWER = "no answer present"


def examples(rows: Iterable[Value], dropped: DropCounts) -> Iterator[Example]:
    """An example for each row whose answer is a span of a selected passage."""
    for row in rows:
        with dropped.counting():
            yield _example(row["query"], row["passages"], row.get("answers"), dropped)


def of_columns(path: Path, dropped: DropCounts) -> Iterator[Example]:
    """The same from a file that holds column after column."""
    for given in zip_longest(*(members(path, name) for name in _READ)):
        rows = [member[0] if member else None for member in given]
        if len(set(rows)) > 1:
            raise _apart(path, rows)
        query, passages, answers = (value for _, value in given)
        with dropped.counting():
            yield _example(query, passages, None if answers.given is None else answers, dropped)


def _apart(path: Path, rows: Iterable[str | None]) -> MetricError:
    """The error that columns do not hold the same rows in the same order."""
    found = ["no row" if row is None else f"row {row}" for row in rows]
    has = ", ".join(f"{name} has {row}" for name, row in zip(_READ, found, strict=True))
    return MetricError(
        f"{path}: in one place {has}. The columns must hold the same rows in the same order; give the "
        "training or development file as it was published."
    )


def _example(query: Value, passages: Value, answers: Value | None, dropped: DropCounts) -> Example:
    question = query.text().strip()
    phrases = [_phrase(answer.text()) for answer in answers or ()]
    phrases = [phrase for phrase in phrases if phrase and phrase.casefold() != _NO_ANSWER]
    spoken = [phrase for phrase in phrases if not is_yes_or_no(phrase)]
    if not question:
        raise NoExampleError(EMPTY_QUESTION)
    if not phrases:
        raise NoExampleError(NO_ANSWER)
    if not spoken:
        raise NoExampleError(YES_OR_NO)
    selected = list(_selected(passages))
    if not selected:
        raise NoExampleError(NOTHING_SELECTED)
    exact = _found(selected, spoken, any_case=False)
    found = exact or _found(selected, spoken, any_case=True)
    if not found:
        raise NoExampleError(NOT_FOUND)
    if not exact:
        dropped.note(OTHER_CASE)
    passage, span = found
    return Passage(passage, SOURCE).example(question, span)


def _phrase(answer: str) -> str:
    return answer.strip().rstrip(".").rstrip()


def _selected(passages: Value) -> Iterator[str]:
    if isinstance(passages.given, dict):
        for chosen, text in passages.pairs("is_selected", "passage_text"):
            if chosen.yes():
                yield text.text()
    else:
        for passage in passages:
            chosen_or_none = passage.get("is_selected")
            if chosen_or_none is not None and chosen_or_none.yes():
                yield passage["passage_text"].text()


def _found(texts: list[str], phrases: list[str], *, any_case: bool) -> tuple[str, Span] | None:
    for phrase in phrases:
        for text in texts:
            if places := occurrences(text, phrase, any_case=any_case):
                return text, places[0]
    return None
