"""What simulated editors who understood the passages write."""

import random

from annotation.flags.tokens import mostly_spaceless, tokens
from annotation.models import Answer
from annotation.selectors.material import Material
from annotation.truth import truth_of
from crowd.simulation.profiles import Habit, Profile

_OPENINGS = ("", "", "", "It is said that ", "In short, ", "As far as I read, ")
#: Share of editors who put an answer together themselves although true ones are known.
_OWN_WORDS = 0.25
_LONGEST = 380


def simulated_answer(material: Material, profile: Profile, rng: random.Random, seed: int) -> dict[str, str]:
    """Fields of an answer: one that the query's file has as true, else words of a passage put together.

    Entities are left empty for those who do not read: what they write is not known here.
    """
    own = rng.random() < _OWN_WORDS
    text = (_composed(material, rng) if own else "") or _known(material, rng) or _composed(material, rng)
    fields = {"text": text[:_LONGEST].strip() or "Yes"}
    if material.wants_opinion:
        truth = random.Random(f"opinion:{seed}:{material.query.key}")
        fields["opinion"] = truth.choice(Answer.Opinion.values)
    if material.wants_entities:
        fields["entities"] = _entity(fields["text"]) if profile.habit is Habit.KNOWS else ""
    return fields


def _known(material: Material, rng: random.Random) -> str:
    answers = truth_of(material.query.extra).get("answers")
    answers = answers if isinstance(answers, list) else []
    good = [answer for answer in answers if isinstance(answer, str) and answer.strip()]
    if not good:
        return ""
    said = rng.sample(good, rng.randint(1, min(2, len(good))))
    return " ".join(answer.strip() for answer in said)


def _composed(material: Material, rng: random.Random) -> str:
    if not material.passages:
        return ""
    source = rng.choice(material.passages).text
    found = tokens(source)
    if not found:
        return ""
    start = rng.randrange(max(1, len(found) - 12))
    some = [token for token in found[start : start + rng.randint(4, 16)] if rng.random() < 0.75]
    words = [source[token.start : token.end] for token in some or found[start : start + 1]]
    if mostly_spaceless(found):
        return "".join(words)
    return f"{rng.choice(_OPENINGS)}{' '.join(words)}"


def _entity(text: str) -> str:
    """The first word with a capital, else the first one."""
    words = [text[token.start : token.end] for token in tokens(text)]
    return next((word for word in words if word[0].isupper()), words[0] if words else "")
