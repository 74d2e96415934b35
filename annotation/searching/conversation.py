"""The conversation that a search page holds: its turns, each with the options it was asked with.

The page keeps it in its address, or in its form where it is too long for one; the server keeps nothing. So an
address shows the same conversation to everybody who may see the project, Back and Reload are harmless, and
two windows are two conversations.

    ?q=what+is+a+monopoly&o=&q=and+an+oligopoly&o=alpha:0.8&in=textbooks

`q` are the turns, oldest first; the n-th `o` has the options of the n-th turn, as far as they are not the
defaults; one more `o` has those of the question that is to come. `in` names the corpora, all unless it is
there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.http import QueryDict

from annotation.importing.text import normal

#: Turns of a conversation, and characters of each: more is refused in words.
MOST_TURNS = 30
LONGEST_QUESTION = 2_000
#: Bytes of an address; longer conversations stay in the form. The web server reads 8,190.
_LONGEST_ADDRESS = 6_000


class RefusedError(Exception):
    """A question or a conversation that is not searched for, in words."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: the question, and its options as the address has them."""

    question: str
    options: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns, oldest first; the corpora that are searched, none for all; options of the next question."""

    turns: tuple[Turn, ...] = ()
    corpora: tuple[str, ...] = ()
    options: str = ""

    @property
    def questions(self) -> list[str]:
        """What was asked, oldest first."""
        return [turn.question for turn in self.turns]

    def up_to(self, number: int) -> "Conversation":
        """The conversation as it was after its turn of this number, counted from 1."""
        turns = self.turns[:number]
        return replace(self, turns=turns, options=turns[-1].options if turns else self.options)

    def with_question(self, question: str, options: str) -> "Conversation":
        """One turn more. RefusedError where it is empty, too long, or one too many."""
        asked = checked(question)
        if len(self.turns) >= MOST_TURNS:
            raise RefusedError(f"A conversation has {MOST_TURNS} turns at most. Clear it and ask again.")
        return replace(self, turns=(*self.turns, Turn(asked, options)), options=options)

    def without_last(self) -> "Conversation":
        """One turn less; the options stay as they are."""
        return replace(self, turns=self.turns[:-1])

    def cleared(self) -> "Conversation":
        """No turns; the options stay as they are."""
        return replace(self, turns=())

    def fields_of_turns(self) -> list[tuple[str, str]]:
        """Names and values of the hidden fields of a form that has the options itself."""
        return [pair for turn in self.turns for pair in (("q", turn.question), ("o", turn.options))]

    def fields(self) -> list[tuple[str, str]]:
        """Names and values of an address, or of the hidden fields of a form."""
        pairs = self.fields_of_turns()
        if self.options != (self.turns[-1].options if self.turns else ""):
            pairs.append(("o", self.options))
        return [*pairs, *(("in", slug) for slug in self.corpora)]

    def address(self) -> str:
        """The part of an address after the path; empty for a new conversation."""
        return f"?{written}" if (written := urlencode(self.fields())) else ""

    @property
    def fits_an_address(self) -> bool:
        """Whether it can be redirected to and linked."""
        return len(self.address()) <= _LONGEST_ADDRESS


def checked(question: str) -> str:
    """A question without invisible characters and superfluous white space. RefusedError in words."""
    asked = normal(question)
    if not asked:
        raise RefusedError("Type a question.")
    if len(asked) > LONGEST_QUESTION:
        raise RefusedError(
            f"A question has {LONGEST_QUESTION:,} characters at most; this one has {len(asked):,}. "
            "Shorten it."
        )
    return asked


def read(given: QueryDict) -> Conversation:
    """The conversation of an address or a form; RefusedError for one that no page of ours has made."""
    questions, options = given.getlist("q"), given.getlist("o")
    if len(questions) > MOST_TURNS:
        raise RefusedError(f"A conversation has {MOST_TURNS} turns at most.")
    turns = tuple(
        Turn(checked(question), option)
        for question, option in zip(questions, _as_long(options, len(questions)), strict=True)
    )
    next_one = options[len(questions) :][:1] or [turns[-1].options if turns else ""]
    return Conversation(turns, tuple(dict.fromkeys(filter(None, given.getlist("in")))), next_one[0])


def _as_long(options: Sequence[str], count: int) -> list[str]:
    return [*options[:count], *[""] * (count - len(options))]
