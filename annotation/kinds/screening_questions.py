"""The questions of the screening form, with the explanations and examples that stand beside each answer.

The examples are those of paper 000, section 3.1, where it has some.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Option:
    """An answer that can be chosen."""

    value: str
    words: str
    help: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question; `missing` is what somebody reads who left it out. `short`: its answers fit side by side."""

    name: str
    words: str
    missing: str
    options: tuple[Option, ...]
    short: bool = True


def _yes_no(name: str, words: str, missing: str, yes: str, no: str) -> Question:
    return Question(name, words, missing, (Option("yes", "Yes", yes), Option("no", "No", no)))


KIND = Question(
    "kind",
    "What kind of query is it?",
    "Say what kind of query it is.",
    (
        Option(
            "informational",
            "Looks for one piece of information",
            "such as “boiling point of water” or “how to get a passport”",
        ),
        Option("directions", "Directions, or what is near a place", "such as “pharmacy near me”"),
        Option("list", "A list that is never complete", "such as “holiday classroom activities”"),
        Option("topic", "Anything about a topic", "such as “leaning tower of pisa”"),
        Option("navigational", "Navigational: wants to get to a certain site", "such as “facebook”"),
        Option(
            "transactional",
            "Transactional: wants to watch, buy or download something",
            "such as “watch game of thrones”",
        ),
    ),
    short=False,
)
YES_NO = (
    _yes_no(
        "unambiguous",
        "Is it clear what this person wants to know?",
        "Say whether it is clear what this person wants to know.",
        "everybody would read it alike",
        "such as “mercury”: the planet, the metal or the singer?",
    ),
    _yes_no(
        "answerable",
        "Could one short passage of text settle it for good?",
        "Say whether one short passage could settle it.",
        "a few sentences could answer it completely",
        "it needs much more, or has no definite answer",
    ),
    _yes_no(
        "sensitive",
        "Does it contain sensitive information?",
        "Say whether it contains sensitive information.",
        "name, number or address of a private person; their health, faith or money",
        "nothing about a private person",
    ),
    _yes_no(
        "adult",
        "Is it about adult content?",
        "Say whether it is about adult content.",
        "sexual, very violent or offensive",
        "fit for everybody",
    ),
)
QUESTIONS = (KIND, *YES_NO)
