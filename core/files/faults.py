"""What is wrong with one place of a file."""

from dataclasses import dataclass


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
