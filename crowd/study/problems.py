"""What is wrong with a study's file, for people and for programs."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

Code = Literal[
    "unreadable",
    "too-large",
    "not-utf8",
    "not-toml",
    "repeated",
    "unknown-key",
    "missing",
    "wrong-type",
    "wrong-value",
    "out-of-bounds",
    "not-together",
    "no-such-user",
    "no-such-kind",
    "no-such-endpoint",
    "no-such-stage",
    "no-such-name",
    "no-keys",
    "below-spent",
    "not-changeable",
    "refused",
    "caution",
]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, where it stands, and what to do. A caution keeps nobody from applying."""

    code: Code
    file: str
    line: int
    field: str
    what: str
    remedy: str

    @property
    def caution(self) -> bool:
        """Worth a look, but no error."""
        return self.code == "caution"

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: " + (f"{self.field}: " if self.field else "")
        return f"{where}{'caution: ' if self.caution else ''}{self.what}\n    {self.remedy}"

    def facts(self) -> dict[str, Any]:
        """For JSON."""
        return {"level": "caution" if self.caution else "error", **asdict(self)}


class StudyError(Exception):
    """A file that cannot be applied; `problems` says why, all of it at once."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems
