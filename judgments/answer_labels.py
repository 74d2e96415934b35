"""Tables of labels about parts of answers: sentences and citations, nuggets, criteria."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from core.files.cells import AmbiguousNumberError
from core.files.reading import NAMES
from judgments.label_table import OpenedTable
from judgments.rating_source import number, read_integer, short
from judgments.table_columns import find_column
from metrics.agreement.labels import LabelAlpha, Labels, label_alpha, level_distances
from metrics.item_means import majority
from metrics.nuggets import LABELS as NUGGET_LABELS
from metrics.nuggets import Nugget
from metrics.support import LABELS as SUPPORT_LABELS
from metrics.support import AttributedSentence, CitedSentence

T = TypeVar("T")
#: An answer: its item and its system.
Answer = tuple[str, str]
_YES, _NO = (
    {"yes", "y", "true", "t", "1", "met"},
    {"no", "n", "false", "f", "0", "not_met", "not met", "unmet"},
)
_SUPPORT = {
    "full": 2, "full support": 2, "full_support": 2, "supports": 2, "support": 2, "fs": 2,
    "partial": 1, "partial support": 1, "partial_support": 1, "ps": 1,
    "none": 0, "no": 0, "no support": 0, "no_support": 0, "ns": 0,
}  # fmt: skip
_NUGGETS = {
    "support": 2, "supported": 2, "full": 2,
    "partial": 1, "partial_support": 1, "partial support": 1, "partially supported": 1,
    "not": 0, "none": 0, "not_support": 0, "not support": 0, "not supported": 0, "no": 0,
}  # fmt: skip
_IMPORTANCE = {"vital": True, "okay": False, "ok": False}


@dataclass(slots=True)
class Votes:
    """The labels of each part of an answer by its workers, as places in an order."""

    by_part: dict[tuple[str, ...], dict[str, int]] = field(default_factory=dict)

    def add(self, part: tuple[str, ...], worker: str, label: int) -> bool:
        """Keep the first label of a worker about a part; False for a further one."""
        of_part = self.by_part.setdefault(part, {})
        if worker in of_part:
            return False
        of_part[worker] = label
        return True

    def decided(self, part: tuple[str, ...]) -> int:
        """The label of most of them."""
        return majority(list(self.by_part[part].values()))

    def alpha(self, n_labels: int, *, replicates: int, seed: int) -> LabelAlpha:
        """How far they agree, at the ordinal level."""
        workers = dict[str, int]()
        rows = [
            (place, workers.setdefault(worker, len(workers)), label)
            for place, part in enumerate(sorted(self.by_part))
            for worker, label in sorted(self.by_part[part].items())
        ]
        columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        labels = Labels(columns[0], columns[1], columns[2], n_labels)
        return label_alpha(
            labels, level_distances(range(n_labels), "ordinal"), replicates=replicates, seed=seed
        )


@dataclass(frozen=True, slots=True)
class LabelledAnswers(Generic[T]):
    """The parts of each answer with the label that most workers gave, and how far these agree.

    `columns` are those that were read beside items and workers.
    """

    parts: Mapping[Answer, Sequence[T]]
    agreement: Mapping[str, LabelAlpha]
    columns: Mapping[str, Sequence[int]]
    notes: Sequence[str]


class AnswerReader:
    """Reads a table once; `replicates` and `seed` are of the interval of agreement."""

    def __init__(self, table: OpenedTable, columns: Mapping[str, str], *, replicates: int, seed: int) -> None:
        self.table, self.columns = table, columns
        self.bootstrap = {"replicates": replicates, "seed": seed}
        self.sheet = table.sheet
        self.places: dict[str, list[int]] = {}
        self.system = self._column("system", NAMES["system"])
        self.again = 0

    def _column(self, role: str, names: Sequence[str] = (), *, needed: bool = True) -> int:
        place = find_column(self.sheet, role, ((role,), names), self.columns, needed=needed)
        if place >= 0:
            self.places[role] = [place]
        return place

    def has(self, role: str) -> bool:
        """Whether the table has a column of this name."""
        return find_column(self.sheet, role, ((role,),), self.columns, needed=False) >= 0

    def read_citations(self, *, recall: bool) -> LabelledAnswers[CitedSentence]:
        """Sentences with the labels of their citations; with `recall` rows without one say yes or no."""
        sentence, citation = self._column("sentence"), self._column("citation")
        label = self._column("label", ("support", "judgment"))
        citations, recalled = Votes(), Votes()
        lines: dict[tuple[str, ...], int] = {}
        sentences: defaultdict[Answer, set[str]] = defaultdict(set)
        for line, item, worker, cells in self.table.rows():
            system = self._text(cells, self.system, "system", line)
            number = self._place_of(cells, sentence, "sentence", line)
            sentences[item, system].add(number)
            lines.setdefault((item, system, number), line)
            text = cells[label].strip()
            if not cells[citation].strip():
                if recall:
                    self._vote(recalled, (item, system, number), worker, self._yes(text, "label", line))
                continue
            cited = self._place_of(cells, citation, "citation", line)
            support = self._code_of(text, _SUPPORT, "label", SUPPORT_LABELS, line)
            self._vote(citations, (item, system, number, cited), worker, support)
        by_sentence: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        for cited_part in sorted(citations.by_part):
            by_sentence[cited_part[:3]].append(citations.decided(cited_part))
        answers: dict[Answer, list[CitedSentence]] = {}
        for answer, numbers in sorted(sentences.items()):
            for number in sorted(numbers, key=int):
                part: tuple[str, ...] = (*answer, number)
                if recall and by_sentence[part] and part not in recalled.by_part:
                    raise self.sheet.error(
                        f"sentence {number} of the answer of {short(answer[1])} has citations and no row "
                        "with an empty citation, which says whether they support it together. Add that row.",
                        line=lines[part],
                    )
                is_supported = bool(recalled.decided(part)) if part in recalled.by_part else None
                answers.setdefault(answer, []).append(CitedSentence(by_sentence[part], is_supported))
        agreement = {"citations": self._agree(citations, len(SUPPORT_LABELS))}
        if recall:
            agreement["sentences"] = self._agree(recalled, 2)
        return LabelledAnswers(answers, agreement, self.places, self._notes())

    def read_attributions(self) -> LabelledAnswers[AttributedSentence]:
        """Sentences that are interpretable or not, and attributable or not."""
        sentence = self._column("sentence")
        roles = ("interpretable", "attributable")
        places = [self._column(role) for role in roles]
        votes = {role: Votes() for role in roles}
        for line, item, worker, cells in self.table.rows():
            system = self._text(cells, self.system, "system", line)
            sentence_part = (item, system, self._place_of(cells, sentence, "sentence", line))
            understood = self._yes(cells[places[0]].strip(), roles[0], line)
            text = cells[places[1]].strip()
            # What cannot be understood is not asked about any further.
            attributed = self._yes(text, roles[1], line) if text or understood else 0
            if self._vote(votes[roles[0]], sentence_part, worker, understood):
                votes[roles[1]].add(sentence_part, worker, attributed)
        answers: dict[Answer, list[AttributedSentence]] = {}
        for part in sorted(votes[roles[0]].by_part, key=lambda part: (*part[:2], int(part[2]))):
            both = [bool(votes[role].decided(part)) for role in roles]
            answers.setdefault((part[0], part[1]), []).append(AttributedSentence(*both))
        agreement = {role: self._agree(of_role, 2) for role, of_role in votes.items()}
        return LabelledAnswers(answers, agreement, self.places, self._notes())

    def read_nuggets(self) -> LabelledAnswers[Nugget]:
        """Nuggets with their importance, which is one for each, and labels."""
        nugget, importance = self._column("nugget", ("nugget_id",)), self._column("importance")
        label = self._column("label", ("assignment", "judgment"))
        votes = Votes()
        vital: dict[tuple[str, str], tuple[bool, int]] = {}
        for line, item, worker, cells in self.table.rows():
            system = self._text(cells, self.system, "system", line)
            name = self._text(cells, nugget, "nugget", line)
            is_vital = self._code_of(
                cells[importance].strip(), _IMPORTANCE, "importance", ("vital", "okay"), line
            )
            if vital.setdefault((item, name), (is_vital, line))[0] != is_vital:
                raise self.sheet.error(
                    f"the nugget {short(name)} has another importance in line {vital[item, name][1]}. "
                    "Give it one.",
                    line=line,
                )
            assignment = self._code_of(cells[label].strip(), _NUGGETS, "label", NUGGET_LABELS, line)
            self._vote(votes, (item, system, name), worker, assignment)
        answers: dict[Answer, list[Nugget]] = {}
        for part in sorted(votes.by_part):
            item, system, name = part
            answers.setdefault((item, system), []).append(Nugget(vital[item, name][0], votes.decided(part)))
        agreement = {"label": self._agree(votes, len(NUGGET_LABELS))}
        return LabelledAnswers(answers, agreement, self.places, self._notes())

    def read_criteria(self) -> LabelledAnswers[tuple[float, bool]]:
        """Criteria with their points, which are one number for each, and whether they are met."""
        criterion, points, met = (self._column(role) for role in ("criterion", "points", "met"))
        votes = Votes()
        points_of: dict[tuple[str, str], tuple[float, int]] = {}
        for line, item, worker, cells in self.table.rows():
            system = self._text(cells, self.system, "system", line)
            name = self._text(cells, criterion, "criterion", line)
            value = self._points(cells[points].strip(), line)
            if points_of.setdefault((item, name), (value, line))[0] != value:
                raise self.sheet.error(
                    f"the criterion {short(name)} has other points in line {points_of[item, name][1]}. "
                    "Give it one number.",
                    line=line,
                )
            self._vote(votes, (item, system, name), worker, self._yes(cells[met].strip(), "met", line))
        answers: dict[Answer, list[tuple[float, bool]]] = {}
        for part in sorted(votes.by_part):
            item, system, name = part
            answers.setdefault((item, system), []).append(
                (points_of[item, name][0], bool(votes.decided(part)))
            )
        return LabelledAnswers(answers, {"met": self._agree(votes, 2)}, self.places, self._notes())

    def _vote(self, votes: Votes, part: tuple[str, ...], worker: str, label: int) -> bool:
        is_first = votes.add(part, worker, label)
        self.again += not is_first
        return is_first

    def _agree(self, votes: Votes, n_labels: int) -> LabelAlpha:
        if not votes.by_part:
            return LabelAlpha(None, reason="no labels", interval_reason="no labels")
        return votes.alpha(n_labels, **self.bootstrap)

    def _notes(self) -> list[str]:
        if not self.again:
            return []
        return [f"{self.again:,} further labels of a worker about the same part are left out."]

    def _text(self, cells: Sequence[str], place: int, role: str, line: int) -> str:
        if not (text := cells[place].strip()):
            raise self.sheet.error(f"the {role} is empty. Every row needs one.", line=line)
        return text

    def _place_of(self, cells: Sequence[str], place: int, role: str, line: int) -> str:
        """A number from 1, as it is compared."""
        value = read_integer(cells[place].strip())
        if value is None or value < 1:
            raise self.sheet.error(
                f"the {role} {short(cells[place])} is no whole number from 1, by which it is told.", line=line
            )
        return str(value)

    def _code_of(self, text: str, codes: Mapping[str, T], role: str, names: Sequence[str], line: int) -> T:
        try:
            return codes[text.casefold()]
        except KeyError:
            raise self.sheet.error(
                f"the {role} {short(text)} is not known. Write {', '.join(names[:-1])} or {names[-1]}.",
                line=line,
            ) from None

    def _yes(self, text: str, role: str, line: int) -> int:
        folded = text.casefold()
        if folded not in _YES | _NO:
            raise self.sheet.error(f"the {role} {short(text)} is not known. Write yes or no.", line=line)
        return int(folded in _YES)

    def _points(self, text: str, line: int) -> float:
        try:
            value = number(self.sheet.commas.point(text))
        except AmbiguousNumberError as error:
            raise self.sheet.error(f"the points are ambiguous: {error}", line=line) from error
        if value is None:
            raise self.sheet.error(f"the points {short(text)} are no number.", line=line)
        return value
