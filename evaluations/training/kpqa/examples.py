"""What a keyphrase predictor learns from: a question, its answer sentences, and the key phrase in them."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from metrics.neural.pieces import Span

# Why questions of a file became no examples, counted in words for people.

EMPTY_QUESTION = "the question is empty"
NO_ANSWER = "there is no answer"
IMPOSSIBLE = "it is marked as impossible to answer"
YES_OR_NO = "the answer is yes or no"
NOTHING_SELECTED = "no passage is selected"
NO_FACTS = "no supporting fact is in the context"
NOT_FOUND = "the answer is no span of where it should stand"
MISFIT = "the answer does not stand at its answer_start"
REPEATED = "question and answer sentence were there before; the key phrases are united"
WHOLE = "the key phrase is all of the answer sentence"

#: What was kept, and yet should be known.
MOVED = "the answer stands a few characters from its answer_start"
OTHER_CASE = "the answer was found without regard to letter case"
LOST_FACT = "a supporting fact is not in the context"


class NoExampleError(Exception):
    """A question becomes no example, for the reason that is said."""


@dataclass(slots=True)
class DropCounts:
    """Counts by reason: `reasons` of questions that were dropped, `noted` of remarks on those that were kept.

    A question is dropped for one reason, the first that is found.
    """

    reasons: Counter[str] = field(default_factory=Counter)
    noted: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count a question that turns out inside to become no example."""
        try:
            yield
        except NoExampleError as reason:
            self.add(str(reason))

    def add(self, reason: str) -> None:
        """One more question is dropped."""
        self.reasons[reason] += 1

    def note(self, remark: str) -> None:
        """One more question is kept with a remark."""
        self.noted[remark] += 1

    def total(self) -> int:
        """Questions that were dropped."""
        return self.reasons.total()


@dataclass(frozen=True, slots=True)
class Example:
    """`spans` are places of the key phrase in `answer`, in characters, in order and apart.

    `source` names the form of the file it came from; examples of one `group` (a passage, a document) stand on
    the same side of the split into training and development.
    """

    question: str
    answer: str
    spans: tuple[Span, ...]
    source: str
    group: str
