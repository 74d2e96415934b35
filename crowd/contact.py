"""What a round hears from an endpoint: answers, or errors that are not the marketplace's own word."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class Contact:
    """Whether the endpoint answered during a round, and why not; `must_end` says that the round is to end."""

    must_end: Callable[[], bool] = lambda: False
    answers: int = 0
    trouble: str = ""
    is_down: bool = False
    #: Nothing was asked, because a restore keeps all calls back.
    is_held: bool = False

    def note_answer(self) -> None:
        """The marketplace itself said something, be it a refusal."""
        self.answers += 1

    def note_trouble(self, cause: object) -> None:
        """Nothing came, or something that is no answer of the marketplace; the first cause is kept."""
        self.trouble = self.trouble or str(cause) or type(cause).__name__
