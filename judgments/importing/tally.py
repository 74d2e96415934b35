"""What became of each line of a file of answers: counts, examples, refusals with their remedy."""

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from core.files.refusals import MOST_LISTED, FileRefusedError, RowCounts

#: What can become of a line; each line is counted in exactly one of these.
RULES = {
    "new": "new, to be judged",
    "kept": "new, the same as a reference and judged all the same",
    "exact": "new, set aside: the same as a reference",
    "empty": "new, set aside: the system gave no answer",
    "unchanged": "there already, the same",
    "repeated": "repeated in the file",
    "unknown": "refused: the project does not have the query",
    "conflict": "refused: another answer than the system's first to this query",
    "refused": "refused for another reason",
}
#: Rules whose lines become rows of the database.
STORED = ("new", "kept", "exact", "empty")
_REPEATS = ("unchanged", "repeated")
_REFUSED = ("unknown", "conflict", "refused")
_EXAMPLES = 5
_LONGEST_EXAMPLE = 160
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Refusal:
    """A line that was left out: which field is why, and what to do."""

    line: int
    field: str
    reason: str
    remedy: str


@dataclass(slots=True)
class Tally:
    """Counts lines by what became of them. With `strict`, the first refusal refuses the file."""

    file: str
    unit: str
    strict: bool = False
    rules: Counter[str] = field(default_factory=Counter)
    systems: dict[str, Counter[str]] = field(default_factory=dict)
    examples: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)

    def count(self, rule: str, line: int, system: str, text: str) -> None:
        """A line that was taken, or that changes nothing."""
        self.rules[rule] += 1
        self.systems.setdefault(system, Counter())[rule] += 1
        examples = self.examples.setdefault(rule, [])
        if len(examples) < _EXAMPLES:
            short = text if len(text) <= _LONGEST_EXAMPLE else f"{text[: _LONGEST_EXAMPLE - 1]}…"
            examples.append((line, short))

    def refuse(
        self, line: int, field: str, reason: str, remedy: str, *, rule: str = "refused", system: str = ""
    ) -> None:
        """A line that was left out."""
        if self.strict:
            place = f"{self.file}, {self.unit} {line}, {field}: " if field != self.unit else ""
            place = place or f"{self.file}, {self.unit} {line}: "
            raise FileRefusedError(" ".join([f"{place}{reason}", *([remedy] if remedy else ()), _NOTHING]))
        self.rules[rule] += 1
        if system:
            self.systems.setdefault(system, Counter())[rule] += 1
        if len(self.refusals) < MOST_LISTED:
            self.refusals.append(Refusal(line, field, reason[:_LONGEST], remedy[:_LONGEST]))

    @property
    def stored(self) -> int:
        """Lines that become rows of the database."""
        return sum(self.rules[rule] for rule in STORED)

    def counts(self) -> RowCounts:
        """What became of every row, in the sum that all imports have."""
        return RowCounts(
            rows_read=self.rules.total(),
            used=self.stored,
            repeats=sum(self.rules[rule] for rule in _REPEATS),
            refused=sum(self.rules[rule] for rule in _REFUSED),
        )

    def report(self) -> dict[str, Any]:
        """All counts, ready for JSON."""
        return {
            "records": self.rules.total(),
            "counts": self.counts().as_json(),
            "rules": {
                rule: {
                    "words": words,
                    "count": self.rules[rule],
                    "examples": [{"line": line, "text": text} for line, text in self.examples.get(rule, [])],
                }
                for rule, words in RULES.items()
            },
            "refused": sum(self.rules[rule] for rule in _REFUSED),
            "refusals": [asdict(each) for each in sorted(self.refusals, key=lambda each: each.line)],
            "systems": {
                name: {rule: counts[rule] for rule in RULES} for name, counts in sorted(self.systems.items())
            },
            "stored": self.stored,
        }


_NOTHING = "Nothing was imported."
