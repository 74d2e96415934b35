"""How rare words are among the references of a project, between 0 and 1.

    idf(word) = log((N + 1) / (n(word) + 1)) / log(N + 1)

of N references, n of which hold the word: BERTScore's formula with words in place of word pieces, divided by
what a word has that no reference holds.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from annotation.models import Query
from core.projects.models import Project
from judgments.selectors.references import reference_texts
from metrics.learned.words import cut

#: Queries whose references are counted, the first ones; and those of one statement.
MOST_QUERIES = 20_000
_AT_ONCE = 500


def words_of(text: str) -> list[str]:
    """The words of a text as they are counted."""
    return [text[begin:end].lower() for begin, end in cut(text)]


def counted(project: Project, words: Collection[str]) -> tuple[int, Counter[str]]:
    """How many references the project has, and how many of them hold each of these words."""
    wanted, found, total = frozenset(words), Counter[str](), 0
    for text in _references(project):
        total += 1
        found.update(wanted.intersection(words_of(text)))
    return total, found


def rarity(words: Sequence[str], total: int, found: Counter[str]) -> list[float]:
    """The weight of each word; 0 for all where there is no reference."""
    most = math.log(total + 1)
    return [math.log((total + 1) / (found[word] + 1)) / most if most else 0.0 for word in words]


def _references(project: Project) -> Iterator[str]:
    rows = Query.objects.filter(project=project).order_by("pk").values_list("pk", flat=True)
    keys = list(rows[:MOST_QUERIES])
    for start in range(0, len(keys), _AT_ONCE):
        for texts in reference_texts(keys[start : start + _AT_ONCE]).values():
            yield from texts
