"""Which answers are to the same question, and of which system each is.

Questions are told apart by their ids. Without ids they are told apart by their texts; where one text comes
with different references and so must stand for several questions ("is he alone?" about two pictures), by text
and references together.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from evaluations.tables.rows import NO_SYSTEM, Row

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
#: Longer texts are named by their beginning and a digest, so that memory does not grow with them.
_LONGEST_NAME = 80
_DIGEST = 8


class Keys:
    """Codes from 0 for texts as they come, and a name for each."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self.of_rows = array("i")

    def add(self, text: str) -> None:
        """The code of one more row."""
        self.of_rows.append(self._codes.setdefault(text, len(self._codes)))

    def __len__(self) -> int:
        return len(self._codes)

    @property
    def codes(self) -> Codes:
        """The codes of all rows (n)."""
        return np.array(self.of_rows, dtype=np.int32)

    @property
    def names(self) -> list[str]:
        """What the codes stand for."""
        return list(self._codes)

    def in_order(self) -> tuple[Codes, list[str]]:
        """Codes in the order of the names, which is the same whatever the order of the rows."""
        return in_order(self.codes, self.names)


def in_order(codes: Codes, names: Sequence[str]) -> tuple[Codes, list[str]]:
    """Codes numbered again in the order of their names."""
    order = sorted(range(len(names)), key=names.__getitem__)
    places = np.empty(len(names), dtype=np.int32)
    places[order] = np.arange(len(names), dtype=np.int32)
    return places[codes], [names[place] for place in order]


@dataclass(frozen=True, slots=True, eq=False)
class QuestionColumns:
    """Questions and systems of n answers, and what must be said about how they were found."""

    questions: Codes
    question_names: list[str]
    systems: Codes
    system_names: list[str]
    inferred: bool
    notes: list[str]


class Teller:
    """Hears of all rows, then says which question and which system each row belongs to."""

    def __init__(self, has: frozenset[str]) -> None:
        self.has = has
        self.ids, self.systems = Keys(), Keys()
        self.texts, self.items = Keys(), Keys()
        self.n = 0

    def add(self, row: Row) -> None:
        """One more row."""
        self.n += 1
        text = " ".join(row.question.split())
        references = blake2b(
            "\0".join(sorted(" ".join(each.split()) for each in row.references)).encode(
                "utf-8", "surrogatepass"
            ),
            digest_size=_DIGEST,
        ).hexdigest()
        self.texts.add(_name(text) if text else f"(no question, references {references})")
        self.items.add(f"{_name(text)} (references {references})")
        if "question_id" in self.has:
            self.ids.add(row.question_id or f"(no id) {_name(text)}")
        elif "id" in self.has:
            self.ids.add(row.id or f"(no id) {_name(text)}")
        if "system" in self.has:
            self.systems.add(row.system or NO_SYSTEM)

    def told(self) -> QuestionColumns:
        """What was found when all rows were heard."""
        notes: list[str] = []
        questions = self._questions(notes)
        if "system" in self.has:
            systems, names = self.systems.in_order()
            return QuestionColumns(*questions.in_order(), systems, names, inferred=False, notes=notes)
        count = uniform(questions.codes, len(questions))
        codes, names = questions.in_order()
        if count > 1:
            width = len(str(count))
            systems = occurrence(questions.codes)
            return QuestionColumns(
                codes, names, systems, [f"system {k:0{width}d}" for k in range(1, count + 1)], True, notes
            )
        notes.append(
            "There is no column for the system, and the order of the rows does not tell systems apart: all "
            "answers are taken to be of one system. If they are not, name the column: --column system=NAME."
        )
        return QuestionColumns(codes, names, np.zeros(self.n, dtype=np.int32), ["all answers"], False, notes)

    def _questions(self, notes: list[str]) -> Keys:
        """The keys that tell questions apart."""
        if "question_id" in self.has:
            if "question" in self.has and self._pairs(self.ids, self.texts) > len(self.ids):
                notes.append(
                    "Some question ids come with several texts; the ids decide which answers belong together."
                )
            return self.ids
        if "id" in self.has and self._ids_are_of_questions():
            return self.ids
        if "question" not in self.has:
            notes.append(
                "There is no column for the question: answers with the same references are taken to be "
                "answers to the same question. If that is wrong, name a column: --column question_id=NAME."
            )
            return self.texts
        if self._texts_fit():
            return self.texts
        shared = len(self.items) - len(self.texts)
        notes.append(
            f"Some questions have the same text but other references ({shared:,} more questions than texts): "
            "they are taken to be different questions. If they are not, or to be sure, give ids: "
            "--column question_id=NAME."
        )
        return self.items

    def _ids_are_of_questions(self) -> bool:
        """Whether a column named id tells questions apart, not rows: it repeats, always with one text."""
        return len(self.ids) < self.n and self._pairs(self.ids, self.texts) == len(self.ids)

    def _pairs(self, a: Keys, b: Keys) -> int:
        return len(np.unique(a.codes.astype(np.int64) * len(b) + b.codes))

    def _texts_fit(self) -> bool:
        """Whether a text is one question: it has the same references, or one answer of each system."""
        if len(self.items) == len(self.texts):
            return True
        if "system" in self.has:
            return self._pairs(self.systems, self.texts) == self.n
        by_text = uniform(self.texts.codes, len(self.texts))
        return by_text > 1 and uniform(self.items.codes, len(self.items)) <= 1


def uniform(codes: Codes, size: int) -> int:
    """How many times every code occurs, 0 if not all occur equally often."""
    counts = np.bincount(codes, minlength=size)
    return int(counts[0]) if len(counts) and (counts == counts[0]).all() else 0


def occurrence(codes: Codes) -> Codes:
    """For each row, how many rows before it have its code (n)."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    found = np.empty(len(codes), dtype=np.int32)
    sizes = np.diff(np.r_[starts, len(codes)])
    found[order] = np.arange(len(codes)) - np.repeat(starts, sizes)
    return found


def _name(text: str) -> str:
    if len(text) <= _LONGEST_NAME:
        return text
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).hexdigest()
    return f"{text[: _LONGEST_NAME - 20]}… {digest}"
