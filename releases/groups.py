"""Groups of queries and answers that a release leaves out, by the reason; some can be brought back in.

A release takes what was accepted. Each query and each answer of people that is not in it belongs to exactly
one group, so that what went in and all groups together are everything there is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

QUERIES, ANSWERS = "queries", "answers"


@dataclass(frozen=True, slots=True)
class Group:
    """One reason; `optional` where a person may bring the group in, else its decision stays as it is.

    `words` follow a count in a sentence, `label` heads a row, `meaning` explains it.
    """

    name: str
    of: str
    label: str
    words: str
    meaning: str
    optional: bool = False


GROUPS: Mapping[str, Group] = {
    group.name: group
    for group in (
        Group(
            "disputed",
            QUERIES,
            "Disputed or tied",
            "disputed",
            "People disagree about it, in screening or in curation, and no researcher has decided.",
            optional=True,
        ),
        Group(
            "unanswered",
            QUERIES,
            "Without a reference answer",
            "without a reference answer",
            "Systems answered it, but no reference answer that goes in belongs to it.",
            optional=True,
        ),
        Group(
            "taken_out",
            QUERIES,
            "Excluded or taken out",
            "excluded or taken out",
            "Screening or a researcher decided so. Put it back on its own page.",
        ),
        Group(
            "nothing_collected",
            QUERIES,
            "Nothing collected yet",
            "with nothing collected yet",
            "Neither people nor systems have answered it.",
        ),
        Group(
            "undecided",
            ANSWERS,
            "Undecided",
            "undecided",
            "No reviewer has decided about it; it has no flags.",
            optional=True,
        ),
        Group(
            "flagged",
            ANSWERS,
            "Flagged and undecided",
            "flagged",
            "A check noticed something about it, and no reviewer has decided.",
            optional=True,
        ),
        Group(
            "rewrite",
            ANSWERS,
            "Waiting for a rewrite",
            "waiting for a rewrite",
            "A reviewer asked its writer to write it again.",
            optional=True,
        ),
        Group(
            "held",
            ANSWERS,
            "Of work on hold",
            "of work on hold",
            "Its work waits for a decision, for example because an attention check failed.",
            optional=True,
        ),
        Group("excluded", ANSWERS, "Excluded", "excluded", "A reviewer decided so. Reopen it in the review."),
        Group(
            "replaced",
            ANSWERS,
            "Replaced by a rewrite",
            "replaced by a rewrite",
            "Its writer wrote it again; the rewrite is an answer of its own.",
        ),
        Group(
            "work_not_accepted",
            ANSWERS,
            "Of rejected or returned work",
            "of rejected or returned work",
            "The work was not accepted and not paid, so its answers cannot be published.",
        ),
        Group(
            "withdrawn",
            ANSWERS,
            "Of people who withdrew",
            "of people who withdrew",
            "Their writer came by a study link and withdrew from the study; the work stays paid.",
        ),
    )
}
#: Names of the groups that can be brought in, in their order.
OPTIONAL = tuple(group.name for group in GROUPS.values() if group.optional)


def left_out_of(steps: Iterable[Mapping[str, Any]], of: str) -> dict[str, int]:
    """Queries or answers that are not in the release of these steps (`releases.reports`), by group."""
    name = {QUERIES: "released", ANSWERS: "accepted"}[of]
    found = (each["reasons"] for each in steps if (each["what"], each["step"]) == (of, name))
    return {group: count for reasons in found for group, count in reasons.items() if group in GROUPS}


def words_of(counts: Mapping[str, int]) -> str:
    """Counts by group in the order of the groups, as a phrase: "2 undecided, 8 flagged"."""
    return ", ".join(f"{counts[name]:,} {group.words}" for name, group in GROUPS.items() if counts.get(name))
