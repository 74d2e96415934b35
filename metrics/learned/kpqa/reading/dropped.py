"""Why questions of a file became no examples, counted in words for people."""

from collections import Counter
from dataclasses import dataclass, field

EMPTY_QUESTION = "the question is empty"
NO_ANSWER = "it has no answer"
IMPOSSIBLE = "it is marked impossible"
YES_OR_NO = "the answer is yes or no"
NOT_FOUND = "the answer is no span of its passage"
MISFIT = "the answer does not stand at its answer_start"
NOTHING_SELECTED = "no passage is selected"
NO_FACTS = "no supporting fact is in its context"
REPEATED = "it is there already, with the same answer sentence"
WHOLE = "the key phrase is all of its answer sentence"

#: What was kept, and yet should be known.
OTHER_CASE = "the answer was found after its letter case was ignored"
LOST_FACT = "a supporting fact is not in its context"


@dataclass(slots=True)
class Dropped:
    """Counts by reason: `reasons` of questions that were dropped, `noted` of those that were kept."""

    reasons: Counter[str] = field(default_factory=Counter)
    noted: Counter[str] = field(default_factory=Counter)

    def add(self, reason: str) -> None:
        """One more question is dropped."""
        self.reasons[reason] += 1

    def note(self, remark: str) -> None:
        """One more question is kept with a remark."""
        self.noted[remark] += 1

    def total(self) -> int:
        """Questions that were dropped."""
        return self.reasons.total()
