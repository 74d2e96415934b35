"""SQuAD 1.1 and 2.0, and sets in their form such as XQuAD and COVID-QA.

    {"data": [{"title": …, "paragraphs": [{"context": …, "qas": [
        {"id": …, "question": …, "is_impossible": …, "answers": [{"text": …, "answer_start": …}]}]}]}]}

The key phrase is labelled where the answer was marked, not wherever its words recur. Where several people
answered, as in the development sets, the span that most of them chose counts; the first of those where
none is ahead.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from evaluations.training.kpqa.examples import (
    EMPTY_QUESTION,
    IMPOSSIBLE,
    MISFIT,
    MOVED,
    NO_ANSWER,
    DropCounts,
    Example,
    NoExampleError,
)
from evaluations.training.kpqa.passages import Passage
from evaluations.training.kpqa.streams import Value
from metrics.neural.pieces import Span

SOURCE = "squad"
#: An answer may stand this many characters from its place: files whose texts were trimmed after the places
#: had been counted are not rare.
_NEAR = 10
_SHIFTS = sorted(range(-_NEAR, _NEAR + 1), key=abs)


def examples(articles: Iterable[Value], dropped: DropCounts) -> Iterator[Example]:
    """An example for each question that has a span of its paragraph as answer."""
    for article in articles:
        for paragraph in article["paragraphs"]:
            passage = Passage(paragraph["context"].text(), SOURCE)
            for asked in paragraph["qas"]:
                with dropped.counting():
                    yield _example(asked, passage, dropped)


def _example(asked: Value, passage: Passage, dropped: DropCounts) -> Example:
    question = asked["question"].text().strip()
    impossible = asked.get("is_impossible")
    given = [
        (answer["text"].text(), answer["answer_start"].number()) for answer in asked.get("answers") or ()
    ]
    written = [(text, start) for text, start in given if text.strip()]
    if not question:
        raise NoExampleError(EMPTY_QUESTION)
    if impossible and impossible.yes():
        raise NoExampleError(IMPOSSIBLE)
    if not written:
        raise NoExampleError(NO_ANSWER)
    spans = [span for text, start in written if (span := _place(passage.text, text, start))]
    if not spans:
        raise NoExampleError(MISFIT)
    span = Counter(spans).most_common(1)[0][0]
    if all(span[0] != _bare(text, start) for text, start in written):
        dropped.note(MOVED)
    return passage.example(question, span)


def _place(context: str, text: str, start: int) -> Span | None:
    """Where an answer stands: at its place, or as words of their own near it."""
    text, start = text.strip(), _bare(text, start)
    for begin in (start + shift for shift in _SHIFTS):
        end = begin + len(text)
        if (
            begin >= 0
            and context.startswith(text, begin)
            and (begin == start or not (_inside_word(context, begin) or _inside_word(context, end)))
        ):
            return begin, end
    return None


def _bare(text: str, start: int) -> int:
    """Where an answer without the white space before it should begin."""
    return start + len(text) - len(text.lstrip())


def _inside_word(context: str, at: int) -> bool:
    return 0 < at < len(context) and context[at - 1].isalnum() and context[at].isalnum()
