"""What the flags are computed from, and what they are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that a measure must pass to be flagged, and words; a kind's configuration has the same names."""

    copy_share: float = 0.5
    copy_run: int = 12
    same_from: int = 40
    near_ratio: float = 0.9
    pasted_share: float = 0.5
    typing_rate: float = 600.0
    spelling_share: float = 0.3
    length_z: float = 3.5
    listed_words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Work:
    """What the task page measured of one assignment, and how many characters its answers have in all."""

    characters: int
    active_ms: int | None = None
    pasted_characters: int | None = None
    keystrokes: int | None = None


@dataclass(frozen=True, slots=True)
class FlaggedAnswer:
    """One answer as the flags see it; `key` names it to the caller, `author` its writer."""

    key: int
    author: int
    text: str
    work: Work | None = None
    canary: str = ""


@dataclass(frozen=True, slots=True)
class FlagQuery:
    """A query with what its answers were written from; `language` is a BCP 47 tag."""

    text: str
    passages: tuple[str, ...]
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Flag:
    """Something noticed: what was measured, the bound it passed, and evidence that fits into JSON.

    `evidence["spans"]` is a list of {start, end} in characters of the answer, where there is something to
    show in its text.
    """

    name: str
    value: float | None = None
    limit: float | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
