"""Tests of qualifications: a QuestionForm to answer within a time, scored by an AnswerKey if there is one."""

from dataclasses import dataclass

from marketplace.errors import invalid_value
from marketplace.questionform.answerkey import parse_key
from marketplace.questionform.parsing import parse_form

MAX_DURATION_S = 31_536_000


@dataclass(frozen=True, slots=True)
class QualificationTest:
    """What a worker has to answer. XML as it came; without an answer key the requester decides."""

    questions: str
    answer_key: str
    duration_s: int

    def check(self) -> None:
        """Raises Refusal for what cannot be shown, scored or done in time."""
        form = parse_form(self.questions, parameter="Test")
        if self.answer_key:
            parse_key(self.answer_key, form)
        if not 1 <= self.duration_s <= MAX_DURATION_S:
            raise invalid_value(
                "TestDurationInSeconds", f"{self.duration_s} is not between 1 and {MAX_DURATION_S}."
            )

    def fields(self) -> dict[str, str | int]:
        """Values of the qualification type's fields."""
        return {"test": self.questions, "answer_key": self.answer_key, "test_duration_s": self.duration_s}
