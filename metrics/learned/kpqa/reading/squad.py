"""SQuAD 1.1 and 2.0, and sets in their form such as XQuAD and COVID-QA.

    {"data": [{"title": …, "paragraphs": [{"context": …, "qas": [
        {"id": …, "question": …, "is_impossible": …, "answers": [{"text": …, "answer_start": …}]}]}]}]}

The key phrase is labelled where the answer was marked, not wherever its words recur. Where several people
answered, as in the development sets, the span that most of them chose counts; the first of those where no one
is ahead.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from metrics.learned.kpqa.examples import Example
from metrics.learned.kpqa.reading import dropped as why
from metrics.learned.kpqa.reading.dropped import Dropped
from metrics.learned.kpqa.reading.passages import Passage
from metrics.learned.kpqa.reading.streams import entries
from metrics.learned.kpqa.reading.values import Value
from metrics.learned.words import Span

FORM = "squad"


def read(path: Path, dropped: Dropped) -> Iterator[Example]:
    """An example for each question that has a span of its paragraph as answer."""
    for article in entries(path, "data.item", "data[{}]"):
        for paragraph in article["paragraphs"]:
            passage = Passage(paragraph["context"].text(), FORM)
            for asked in paragraph["qas"]:
                question = asked["question"].text().strip()
                span = _span(asked, passage.text, dropped) if question else None
                if not question:
                    dropped.add(why.EMPTY_QUESTION)
                elif span:
                    yield passage.example(question, span)


def _span(asked: Value, context: str, dropped: Dropped) -> Span | None:
    """Where the answer stands that most people gave; None, with the reason counted, where there is none."""
    impossible = asked.get("is_impossible")
    answers = asked.get("answers")
    given = [(answer["text"].text(), answer["answer_start"].number()) for answer in answers or ()]
    written = [(text, start) for text, start in given if text.strip()]
    fitting = [(text, start) for text, start in written if start >= 0 and context.startswith(text, start)]
    if impossible is not None and impossible.given:
        dropped.add(why.IMPOSSIBLE)
    elif not written:
        dropped.add(why.NO_ANSWER)
    elif not fitting:
        dropped.add(why.MISFIT)
    else:
        text, start = Counter(fitting).most_common(1)[0][0]
        return start + len(text) - len(text.lstrip()), start + len(text.rstrip())
    return None
