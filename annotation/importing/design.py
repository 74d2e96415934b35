"""What a sample of queries is asked to be; how it is drawn is in `sampling`, which brings numpy."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from annotation.importing.records import TYPES

DESIGNS = ("all", "uniform", "count", "strata")
STRATA = {"count": ("head", "torso", "tail"), "type": (*TYPES, "YES_NO", "NONE")}
#: More would be a project that nobody can pay for, and all of it would have to be written at once.
MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class SampledQuery:
    """A query of the sample."""

    ordinal: int
    count: int
    weight: float
    stratum: str = ""


@dataclass(frozen=True, slots=True)
class Design:
    """How to sample. `size` counts for all designs but `all`; quotas take its place in `strata`.

    Head, torso and tail: the most frequent queries that make up the first third of all lines, those of the
    second third, and the rest; or by least counts where `head_from` and `torso_from` say so. Equal counts are
    never in different strata.
    """

    by: str = "all"
    size: int = 0
    seed: int = 1
    strata: str = "count"
    quotas: Mapping[str, int] = field(default_factory=dict)
    head_from: int | None = None
    torso_from: int | None = None

    def check(self) -> None:
        """ValueError for a design that makes no sense."""
        if self.by not in DESIGNS:
            raise ValueError(f"There is no design {self.by!r}; there are: {', '.join(DESIGNS)}.")
        if self.by != "all" and not self.quotas and not 1 <= self.size <= MOST:
            raise ValueError(f"A sample has 1 to {MOST:,} queries, not {self.size:,}.")
        if self.quotas and self.by != "strata":
            raise ValueError("Quotas are for the design `strata`.")
        if self.strata not in STRATA:
            raise ValueError(f"There are no strata by {self.strata!r}; there are: {', '.join(STRATA)}.")
        unknown = [name for name in self.quotas if name not in STRATA[self.strata]]
        if unknown:
            raise ValueError(
                f"There is no stratum {unknown[0]!r}; there are: {', '.join(STRATA[self.strata])}."
            )
        if any(not 0 <= quota <= MOST for quota in self.quotas.values()):
            raise ValueError("A quota is a whole number from 0 on.")
        if not -(2**63) <= self.seed < 2**63:
            raise ValueError("A seed is a whole number of 64 bits.")
        if (self.head_from is None) != (self.torso_from is None):
            raise ValueError("Head and torso are bounded both, or neither.")
        if self.head_from is not None and not 1 <= (self.torso_from or 0) <= self.head_from:
            raise ValueError("The torso begins at a count of at least 1 that is not above the head's.")


def key_of(seed: int) -> bytes:
    """What goes into the hash before the text, 16 bytes."""
    return seed.to_bytes(16, "little", signed=True)
