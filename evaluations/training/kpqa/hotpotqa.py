"""HotpotQA as published, and as rows of two parallel lists.

    {"_id": …, "question": …, "answer": …, "type": …, "level": …,
     "supporting_facts": [[title, number of the sentence], …], "context": [[title, [sentence, …]], …]}

All supporting sentences, in the order of the context, are the answer sentences; the key phrase is labelled
wherever the answer stands in them. Lee et al. (2021, 3.1) resolve coreferences by SpanBERT to find the
supporting sentences; here they are those that people marked, and nothing is resolved. Questions whose answer
is yes or no are left out, as in the paper.
"""

from collections.abc import Iterable, Iterator

from evaluations.training.kpqa.examples import (
    EMPTY_QUESTION,
    LOST_FACT,
    NO_ANSWER,
    NO_FACTS,
    NOT_FOUND,
    OTHER_CASE,
    YES_OR_NO,
    DropCounts,
    Example,
    NoExampleError,
)
from evaluations.training.kpqa.passages import digest, is_yes_or_no, occurrences
from evaluations.training.kpqa.streams import Value

SOURCE = "hotpotqa"
KEYS = frozenset({"question", "supporting_facts", "context"})


def examples(rows: Iterable[Value], dropped: DropCounts) -> Iterator[Example]:
    """An example for each question whose answer stands in its supporting sentences."""
    for row in rows:
        with dropped.counting():
            yield _example(row, dropped)


def _example(row: Value, dropped: DropCounts) -> Example:
    question = row["question"].text().strip()
    given = row.get("answer")
    phrase = given.text().strip() if given else ""
    titles, sentences, lost = _supporting(row)
    answer = " ".join(sentences)
    if not question:
        raise NoExampleError(EMPTY_QUESTION)
    if not phrase:
        raise NoExampleError(NO_ANSWER)
    if is_yes_or_no(phrase):
        raise NoExampleError(YES_OR_NO)
    if not sentences:
        raise NoExampleError(NO_FACTS)
    exact = occurrences(answer, phrase)
    spans = exact or occurrences(answer, phrase, any_case=True)
    if not spans:
        raise NoExampleError(NOT_FOUND)
    if not exact:
        dropped.note(OTHER_CASE)
    if lost:
        dropped.note(LOST_FACT)
    return Example(question, answer, tuple(spans), SOURCE, digest(*titles))


def _supporting(row: Value) -> tuple[list[str], list[str], bool]:
    """Titles and sentences of the supporting facts, and whether some fact is not there."""
    marked = {
        (title.text(), number.number()) for title, number in row["supporting_facts"].pairs("title", "sent_id")
    }
    found: dict[tuple[str, int], str] = {}
    for title, sentences in row["context"].pairs("title", "sentences"):
        for number, sentence in enumerate(sentences):
            if (place := (title.text(), number)) in marked and place not in found:
                found[place] = sentence.text().strip()
    titles = sorted({title for title, _ in marked})
    return titles, [sentence for sentence in found.values() if sentence], len(found) < len(marked)
