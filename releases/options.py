"""How a release is built: formats, splits, groups of what is not accepted, and what only people can say."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from releases.errors import ReleaseError
from releases.formats import FORMATS
from releases.tables import SPLITS

# Groups of queries, answers and comments that a release leaves out, by the reason; some can be brought in.
#
# A release takes what was accepted. Each query and each answer of people that is not in it belongs to exactly
# one group, so that what went in and all groups together are everything there is.

QUERIES, ANSWERS, RATINGS = "queries", "answers", "ratings"
#: The group of what judges wrote beside their scores.
COMMENTS = "comments"


@dataclass(frozen=True, slots=True)
class Group:
    """One reason; `optional` where a person may bring the group in, else its decision stays as it is.

    `noun` follows a count in a sentence, `label` heads a row, `meaning` explains it.
    """

    name: str
    of: str
    label: str
    noun: str
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
            "No answers collected",
            "without collected answers",
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
        Group(
            COMMENTS,
            RATINGS,
            "Comments of judges",
            "comments of judges",
            "What judges wrote beside their scores. The ratings go in without them.",
            optional=True,
        ),
    )
}
#: Names of the groups that can be brought in, in their order.
OPTIONAL = tuple(group.name for group in GROUPS.values() if group.optional)


def left_out_of(steps: Iterable[Mapping[str, Any]], of: str) -> dict[str, int]:
    """Queries or answers that are not in the release of these steps (`releases.reports`), by group."""
    name = {QUERIES: "released", ANSWERS: "accepted"}[of]
    reasons_of_steps = (each["reasons"] for each in steps if (each["what"], each["step"]) == (of, name))
    return {
        group: count for reasons in reasons_of_steps for group, count in reasons.items() if group in GROUPS
    }


def words_of(counts: Mapping[str, int]) -> str:
    """Counts by group in the order of the groups, as a phrase: "2 undecided, 8 flagged"."""
    return ", ".join(f"{counts[name]:,} {group.noun}" for name, group in GROUPS.items() if counts.get(name))


# What a person chose.

_EVERYTHING = (1.0, 0.0, 0.0)


class Options(BaseModel):
    """What a person chose for a release; stored with it, and part of its manifest.

    By default all is in `train`: a small data set loses more by splits than it gains, and who evaluates
    systems on human scores wants all of them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    formats: tuple[str, ...] = Field(default=("jsonl", "csv", "parquet"), min_length=1, max_length=20)
    seed: int = Field(default=0, ge=0, le=2**62, description="Of the splits.")
    shares: tuple[
        Annotated[float, Field(ge=0, le=1)],
        Annotated[float, Field(ge=0, le=1)],
        Annotated[float, Field(ge=0, le=1)],
    ] = Field(default=_EVERYTHING, description="Shares of train, validation and test; together 1.")
    include: tuple[str, ...] = Field(
        default=(), max_length=20, description="Groups of what is not accepted that go in all the same."
    )
    answers: dict[str, Annotated[str, Field(max_length=10_000)]] = Field(
        default_factory=dict, max_length=100, description="Answers to the data card's questions, by key."
    )

    @field_validator("formats")
    @classmethod
    def _known_formats(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if name not in FORMATS:
                raise ValueError(f"there is no format {name!r}; there are {', '.join(FORMATS)}")
        return tuple(name for name in FORMATS if name in names)

    @field_validator("include")
    @classmethod
    def _known_groups(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if name not in OPTIONAL:
                raise ValueError(f"there is no group {name!r} to bring in; there are {', '.join(OPTIONAL)}")
        return tuple(name for name in OPTIONAL if name in names)

    @field_validator("shares")
    @classmethod
    def _sum_to_one(cls, shares: tuple[float, float, float]) -> tuple[float, float, float]:
        if abs(sum(shares) - 1) > 1e-6:
            raise ValueError(f"the shares of {', '.join(SPLITS)} must add up to 1, not {sum(shares):g}")
        if not shares[0]:
            raise ValueError("train must have a share; loaders take it for granted")
        return shares


def options_of(fields: dict[str, Any]) -> Options:
    """Options from stored or typed values; ReleaseError names the first that is wrong, in words."""
    try:
        return Options.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise ReleaseError(f"{name}: {first['msg'].removeprefix('Value error, ')}.") from error
