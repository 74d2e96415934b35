"""Why a file, or a line of it, is not taken: errors of every importer, and the list that reports show."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Protocol

# What is wrong with one place of a file.


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a file: where (a line, or a record of files without any), what, what to do."""

    line: int
    field: str
    what: str
    remedy: str
    unit: str = "line"

    def __str__(self) -> str:
        field = f" [{self.field}]" if self.field else ""
        return f"{self.unit} {self.line}{field}: {self.what}. {self.remedy}"


# What became of the rows of a file that was imported: one sum, the same for every import.

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
    read, repeats = counts["rows_read"], counts["repeats"]
    return (
        f"{read:,} {unit}{'s' * (read != 1)} read = {counts['used']:,} used + {counts['merged']:,} merged + "
        f"{repeats:,} identical repeat{'s' * (repeats != 1)} + {counts['refused']:,} refused"
    )


#: Refused lines that a report lists; the rest are only counted.
MOST_LISTED = 1000


class FileRefusedError(Exception):
    """The file as a whole cannot be imported; the message names it and says what to do."""


class UnmappedError(FileRefusedError):
    """No column holds the query; the file has these."""

    def __init__(self, message: str, columns: list[str]) -> None:
        super().__init__(message)
        self.columns = columns


@dataclass(frozen=True, slots=True)
class Refusal:
    """A line that was left out."""

    line: int
    reason: str


#: Told of a line that cannot be taken, and why.
Refuse = Callable[[int, str], None]


class RefuseRecord(Protocol):
    """The same where records are made: `field` is the one of ours that is at fault, if one is."""

    def __call__(self, line: int, reason: str, /, field: str = "") -> None:
        """Refuse one line."""


class LookedEnoughError(Exception):
    """A look at a file has read as many lines as it may."""


class Refusals:
    """Counts refused lines and keeps the first ones; with `strict` the first one refuses the file.

    `fields` counts them by the field at fault.
    """

    def __init__(self, file: str, *, strict: bool = False, unit: str = "line") -> None:
        self.file, self.strict, self.unit = file, strict, unit
        self.total = 0
        self.listed: list[Refusal] = []
        self.fields: Counter[str] = Counter()

    def __call__(self, line: int, reason: str, /, field: str = "") -> None:
        """Refuse one line; FileRefusedError if strict."""
        if self.strict:
            raise FileRefusedError(f"{self.file}, {self.unit} {line}: {reason} Nothing was imported.")
        self.total += 1
        if field:
            self.fields[field] += 1
        if len(self.listed) < MOST_LISTED:
            self.listed.append(Refusal(line, reason[:300]))

    def looking(self, most: int) -> RefuseRecord:
        """The same, until so many lines are refused: LookedEnoughError."""

        def refuse(line: int, reason: str, /, field: str = "") -> None:
            self(line, reason, field)
            if self.total >= most:
                raise LookedEnoughError

        return refuse


class BadFieldError(ValueError):
    """A record with a field that cannot be taken as it is, in words; `field` is its name, where it is one."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


def ignore(_line: int, _reason: str, /, field: str = "") -> None:
    """For a second pass: what it refuses was refused before."""
