"""Properties that all HITs of a batch share, and what they cost."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from core import money as fees
from marketplace.errors import invalid_value
from marketplace.lifecycle.hits import TypeProperties
from marketplace.qualifications.eligibility import Requirement

MINUTE, HOUR, DAY = 60, 3600, 86_400
MAX_LIFETIME_S = 365 * DAY
MAX_AUTO_APPROVAL_S = 30 * DAY
MAX_REWARD_CENTS = 100_000_00
MAX_PLACES = 10_000


@dataclass(frozen=True, slots=True)
class Properties:
    """Properties of a batch's HITs; times in seconds."""

    title: str
    description: str
    keywords: str = ""
    reward_cents: int = 10
    places: int = 1
    duration_s: int = HOUR
    lifetime_s: int = 7 * DAY
    auto_approval_s: int = 3 * DAY
    requirements: list[Requirement] = field(default_factory=list)

    def check(self) -> None:
        """Refuse what the protocol would refuse; forms check the same field by field."""
        limits = (
            ("Title", len(self.title), 1, 128),
            ("Description", len(self.description), 1, 2000),
            ("Keywords", len(self.keywords), 0, 1000),
            ("Reward", self.reward_cents, 0, MAX_REWARD_CENTS),
            ("MaxAssignments", self.places, 1, MAX_PLACES),
            ("AssignmentDurationInSeconds", self.duration_s, 30, MAX_LIFETIME_S),
            ("LifetimeInSeconds", self.lifetime_s, 30, MAX_LIFETIME_S),
            ("AutoApprovalDelayInSeconds", self.auto_approval_s, 0, MAX_AUTO_APPROVAL_S),
        )
        for name, value, least, most in limits:
            if not least <= value <= most:
                raise invalid_value(name, f"{value:,} is not between {least:,} and {most:,}.")

    def stored(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    def of_type(self) -> TypeProperties:
        """The part that makes a HIT type."""
        return TypeProperties(
            title=self.title,
            description=self.description,
            keywords=self.keywords,
            reward_cents=self.reward_cents,
            duration_s=self.duration_s,
            auto_approval_s=self.auto_approval_s,
            requirements=self.requirements,
        )


def from_stored(values: Mapping[str, Any]) -> Properties:
    """Properties of a template or a batch."""
    return Properties(**values)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a number of tasks costs at most, in cents; `each` is one task."""

    tasks: int
    places: int
    reward_cents: int
    fee_cents: int

    @property
    def assignments(self) -> int:
        """Answers that are paid for at most."""
        return self.tasks * self.places

    @property
    def rewards(self) -> int:
        """To workers."""
        return self.assignments * self.reward_cents

    @property
    def fees(self) -> int:
        """To the marketplace."""
        return self.assignments * self.fee_cents

    @property
    def each(self) -> int:
        """One task with all its places."""
        return self.places * (self.reward_cents + self.fee_cents)

    @property
    def total(self) -> int:
        """What publishing puts on hold."""
        return self.tasks * self.each


def cost(properties: Properties, *, tasks: int, fee_profile: str) -> Cost:
    """Cost of so many tasks by a requester with this fee profile."""
    fee = fees.reward_fee(
        fee_profile,
        reward_cents=properties.reward_cents,
        max_assignments=properties.places,
        qualification_ids=[item["QualificationTypeId"] for item in properties.requirements],
    )
    return Cost(tasks, properties.places, properties.reward_cents, fee)
