"""What became of the rows of a file that was imported: one sum, the same for every import."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

#: The parts of the sum, in the order in which reports show them, with their words.
PARTS = {
    "used": "used",
    "merged": "merged into an earlier row",
    "repeats": "identical repeats",
    "refused": "refused or left out",
}


@dataclass(frozen=True, slots=True)
class RowCounts:
    """Rows read = used + merged + repeats + refused. ValueError where the sum does not hold.

    `used` rows made something new, `merged` ones added to what an earlier row made, `repeats` had nothing
    that is not there already, and `refused` were left out, by a fault or by a rule.
    """

    rows_read: int
    used: int = 0
    merged: int = 0
    repeats: int = 0
    refused: int = 0

    def __post_init__(self) -> None:
        parts = (self.used, self.merged, self.repeats, self.refused)
        if min(parts) < 0 or sum(parts) != self.rows_read:
            raise ValueError(f"{self.rows_read} rows were read, and became {parts}.")

    def as_json(self) -> dict[str, int]:
        """As reports keep it under `counts`."""
        return asdict(self)


def sum_in_words(counts: Mapping[str, int], unit: str = "row") -> str:
    """The sum as one line: 120 rows read = 8 used + 32 merged + 80 identical repeats + 0 refused."""
    return (
        f"{counts['rows_read']:,} {unit}s read = {counts['used']:,} used + {counts['merged']:,} merged + "
        f"{counts['repeats']:,} identical repeats + {counts['refused']:,} refused"
    )
