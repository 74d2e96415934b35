"""Attention checks drawn from the data: items whose right score is known, and that look like all others.

- Foreign: an answer that a system gave to another query. It could be right by accident, so these are left
  out: yes-no queries; queries that ask nearly the same; answers that share half of their words with a
  reference or with another answer of the query, or stand in its passages; texts of fewer than three words;
  texts that were given to more than one query, such as "no answer".
- Reference: one of the query's accepted references as the answer. Judges then see another one as the
  correct answer. Two references may disagree, so only those are taken that are much alike; where a query
  has no such pair, the same text is in both places, which is always fair.
- Instruction: a line that says which score to choose.

No database, and the same result for the same seed.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from judgments.seeded_order import rank
from judgments.word_overlap import contained, covered, nearest, size
from metrics.agreement.scale import Scale

_SHARED = 0.5
_SAME_QUESTION = 0.7
_STANDS_IN = 0.7
_ALIKE = 0.5
_LEAST_WORDS = 3
_BYTE = 256
#: Donors that are looked at for one query.
_TRIES = 40


@dataclass(frozen=True, slots=True)
class Item:
    """One query of the stage with what checks are made of; `accepted` are references without doubt."""

    pk: int
    key: str
    text: str
    yes_no: bool
    answers: Sequence[str]
    references: Sequence[str]
    passages: Sequence[str]
    accepted: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """An attention check as it is stored; the accepted scores are in units of the scale."""

    key: str
    source: str
    query: int
    text: str
    accepted: tuple[int, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """How many checks of each source, on which scale; scores are in its units."""

    foreign: int
    reference: int
    instruction: int
    scale: Scale
    low: tuple[int, ...]
    high: tuple[int, ...]
    instruction_words: str


def draw_checks(items: Sequence[Item], check_plan: CheckPlan, seed: int) -> list[Check]:
    """As many checks as are wanted and can be made; the same for the same seed, however sorted."""
    repeated = {
        text for text, n in Counter(text for item in items for text in set(item.answers)).items() if n > 1
    }
    makers: list[tuple[str, int, Callable[[Item], Check | None]]] = [
        ("foreign", check_plan.foreign, lambda item: _foreign(item, items, repeated, check_plan, seed)),
        ("reference", check_plan.reference, lambda item: _reference(item, check_plan, seed)),
        ("instruction", check_plan.instruction, lambda item: _instruction(item, check_plan, seed)),
    ]
    return [
        check for source, count, make in makers for check in _make_checks(items, source, count, make, seed)
    ]


def _make_checks(
    items: Sequence[Item], source: str, count: int, make: Callable[[Item], Check | None], seed: int
) -> Iterator[Check]:
    """The first `count` that can be made; those about queries with references alike come first."""
    check_count = 0
    for item in _sort_items(items, source, seed):
        if check_count >= count:
            return
        check = make(item)
        if check is not None:
            check_count += 1
            yield check


def _sort_items(items: Sequence[Item], source: str, seed: int) -> list[Item]:
    pairs_first = source == "reference"
    return sorted(
        items,
        key=lambda item: (pairs_first and not _alike(item), rank(source, seed, item.key)),
    )


def _named(source: str, item: Item) -> str:
    """The check's key: that of its query, or where that is too long a digest of it."""
    name = f"{source}:{item.key}"
    return name if len(name) <= 100 else f"{source}:{rank(item.key).hex()}"


def _foreign(
    item: Item, items: Sequence[Item], repeated: set[str], check_plan: CheckPlan, seed: int
) -> Check | None:
    if item.yes_no:
        return None
    donors = sorted(
        (other for other in items if other.pk != item.pk), key=lambda o: rank(seed, item.key, o.key)
    )
    for donor in donors[:_TRIES]:
        for text in sorted(donor.answers, key=lambda text: rank(seed, item.key, text)):
            if text not in repeated and not _right_by_accident(text, item, donor):
                reason = "It answers another question."
                return Check(_named("foreign", item), "foreign", item.pk, text, check_plan.low, reason)
    return None


def _right_by_accident(text: str, item: Item, donor: Item) -> bool:
    return (
        size(text) < _LEAST_WORDS
        or contained(item.text, donor.text) > _SAME_QUESTION
        or any(contained(text, other) >= _SHARED for other in (*item.references, *item.answers))
        or any(contained(a, b) >= _SHARED for a in donor.references for b in item.references)
        or covered(text, item.passages) >= _STANDS_IN
    )


def _alike(item: Item) -> list[str]:
    """Accepted references that are much like another one of their query."""
    return [
        text
        for text in item.accepted
        if nearest(text, [other for other in item.accepted if other != text]) >= _ALIKE
    ]


def _reference(item: Item, check_plan: CheckPlan, seed: int) -> Check | None:
    text = min(_alike(item) or item.accepted, key=lambda text: rank(seed, item.key, text), default=None)
    if text is None:
        return None
    reason = "It is one of the correct answers."
    return Check(_named("reference", item), "reference", item.pk, text, check_plan.high, reason)


def _instruction(item: Item, check_plan: CheckPlan, seed: int) -> Check:
    scores, digest = check_plan.scale.scores, rank("score", seed, item.key)
    score = scores[(digest[0] if len(scores) <= _BYTE else int.from_bytes(digest[:2])) % len(scores)]
    text = check_plan.instruction_words.replace("{score}", check_plan.scale.text(score))
    return Check(
        _named("instruction", item),
        "instruction",
        item.pk,
        text,
        (score,),
        "The line says which score to choose.",
    )
