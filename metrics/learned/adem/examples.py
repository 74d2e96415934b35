"""What ADEM learns from: answers with the scores that people gave them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RatedResponse:
    """`context` are turns, the last one the question; of several references the model takes each in turn.

    `key` names the context: examples of one context stand on the same side of every split.
    """

    key: str
    context: tuple[str, ...]
    references: tuple[str, ...]
    response: str
    system: str
    score: float


def turns(question: str) -> tuple[str, ...]:
    """A question as a context: its lines that say something, in training as in scoring."""
    return tuple(line.strip() for line in question.splitlines() if line.strip())
