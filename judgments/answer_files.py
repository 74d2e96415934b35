"""Files of systems' answers: formats, each line read and checked field by field, and what became of each."""

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from io import StringIO
from itertools import chain
from typing import Any, TypedDict

from annotation.importing.records import id_of, quoted, texts_of
from annotation.models import Answer
from core.files import reading
from core.files.cells import ColumnError, map_columns, quote_names
from core.files.json_objects import Object, check_storable, read_json_lines
from core.files.reading import Reading, plain_name
from core.files.refusals import MOST_LISTED, BadFieldError, FileRefusedError, RowCounts, UnmappedError
from core.files.tables import ColumnRules, Values, read_table, reading_of, refuse_header_row, settle_format
from core.files.text_source import TextSource
from judgments.models import System

#: Our fields, each with the names that are taken for it, the likeliest first.
NAMES: dict[str, tuple[str, ...]] = {
    "query_id": ("query_id", *reading.NAMES["question_id"], "id"),
    "query": ("query", *reading.NAMES["question"]),
    "system": reading.NAMES["system"],
    "text": ("answer", "text", *reading.NAMES["answer"]),
    "opinion": ("opinion", *reading.NAMES["opinion"]),
    "entities": reading.NAMES["entities"],
    "context": reading.NAMES["context"],
}
FIELDS = tuple(NAMES)
#: The longest answer that is taken: more than that nobody reads for a judgment.
LONGEST = 20_000
LONGEST_SYSTEM = 100
_MOST_ENTITIES = 200
_OPINIONS = {str(each).casefold(): str(each) for each in Answer.Opinion.values}
#: DuReader's words for a yes-no answer without an opinion.
_NO_OPINION = {"", "none", "no_opinion"}


class Span(TypedDict):
    """A part of an answer. Places count characters (Unicode code points) from 0; `end` comes after it."""

    start: int
    end: int
    text: str


@dataclass(slots=True)
class Row:
    """One answer as its file has it. A text without words is an answer that the system did not give."""

    line: int
    query_id: str
    query: str
    system: str
    text: str
    opinion: str = ""
    entities: list[Span] = field(default_factory=list)
    context: list[str] = field(default_factory=list)


class RowRefusedError(ValueError):
    """A line that cannot be taken: which field, why, and what to do."""

    def __init__(self, field: str, reason: str, remedy: str) -> None:
        super().__init__(f"{reason} {remedy}")
        self.field, self.reason, self.remedy = field, reason, remedy


def row_of(values: Mapping[str, Any], *, line: int, system: str = "") -> Row:
    """A row from values by our names, or RowRefusedError; `system` is for rows that name none."""
    if not all(map(_plain, values.values())):
        try:
            check_storable(dict(values))
        except BadFieldError as error:
            raise RowRefusedError("line", str(error), "Take these characters out.") from error
    query_id, query = _id(values), _query(values.get("query"))
    if not query_id and not query:
        raise RowRefusedError(
            "query", "The line names no query.", "Give the query's id or its text in every line."
        )
    raw = _text(values.get("text"))
    entities = _entities(values.get("entities"), raw)
    text = raw.strip()
    before = raw.find(text)
    return Row(
        line=line,
        query_id=query_id,
        query=query,
        system=_system(values.get("system"), system),
        text=text,
        opinion=opinion_of(values.get("opinion")),
        entities=[_moved(each, before, len(text)) for each in entities],
        context=_context(values.get("context")),
    )


def _plain(value: Any) -> bool:
    """Whether a value can be stored for certain, by a look at it; most can."""
    return value is None or (isinstance(value, str) and value.isascii() and "\0" not in value)


def _id(values: Mapping[str, Any]) -> str:
    try:
        return id_of(values.get("query_id"), "query id")
    except BadFieldError as error:
        raise RowRefusedError("query_id", str(error), "Write the id as the query's file has it.") from error


def _query(value: Any) -> str:
    """The query's text; ids that stand in a column named `query` are texts here too."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise RowRefusedError("query", "The query is neither text nor a number.", "Write its id or its text.")
    return str(value)


def _system(value: Any, otherwise: str) -> str:
    if value is None or value == "":
        value = otherwise
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise RowRefusedError("system", "The system's name is no text.", "Write its name as text.")
    name = " ".join(str(value).split())
    if not name:
        raise RowRefusedError(
            "system", "The line does not name its system.", "Name it in the line, or once for all lines."
        )
    if len(name) > LONGEST_SYSTEM:
        raise RowRefusedError(
            "system",
            f"The system's name has {len(name):,} characters; at most {LONGEST_SYSTEM} are taken.",
            "Shorten it, or look whether another column holds the system.",
        )
    return System.PEOPLE if name.casefold() == System.PEOPLE else name


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise RowRefusedError("text", "The answer is no text.", "Write one text per line.")
    text = str(value)
    if len(text) > LONGEST:
        raise RowRefusedError(
            "text",
            f"The answer has {len(text):,} characters; at most {LONGEST:,} are taken.",
            "Shorten it, or look whether another column holds the answer.",
        )
    return text


def opinion_of(value: Any) -> str:
    """Yes, No, Depends, or nothing, from a word in any case."""
    if value is None:
        return ""
    word = str(value).strip().casefold() if isinstance(value, str) else None
    if word in _NO_OPINION:
        return ""
    if word not in _OPINIONS:
        raise RowRefusedError(
            "opinion",
            f"The opinion {quoted(str(value))} is none of yes, no, depends.",
            "Write one of these, or nothing.",
        )
    return _OPINIONS[word]


def _context(value: Any) -> list[str]:
    try:
        return texts_of(value, "earlier turns")
    except BadFieldError as error:
        raise RowRefusedError("context", str(error), "Write a JSON list of texts.") from error


def _entities(value: Any, text: str) -> list[Span]:
    """Spans of the text: as given, or where strings stand; a string that is given twice is its next place."""
    spans: list[Span] = []
    after: dict[str, int] = {}
    entity_list = _read_list(value)
    if len(entity_list) > _MOST_ENTITIES:
        raise RowRefusedError(
            "entities", f"There are {len(entity_list):,} entities.", f"Name at most {_MOST_ENTITIES}."
        )
    for each in entity_list:
        if isinstance(each, str):
            span = _standing(each.strip(), text, after)
        elif isinstance(each, dict):
            span = _read_span(each, text, after)
        else:
            raise RowRefusedError(
                "entities", "An entity is neither text nor a span.", 'Write "Rome" or {"start": 0, "end": 4}.'
            )
        if span is not None:
            spans.append(span)
    return sorted(spans, key=lambda each: (each["start"], each["end"]))


def _read_list(value: Any) -> list[Any]:
    if value is None or value == "":
        return []
    if isinstance(value, str) and value.lstrip()[:1] == "[":
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise RowRefusedError(
                "entities", "The entities begin like JSON and are none.", 'Write a list: ["Rome", "Italy"].'
            ) from error
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        raise RowRefusedError("entities", "The entities are no list.", 'Write a list: ["Rome", "Italy"].')
    return value


def _standing(entity: str, text: str, after: dict[str, int]) -> Span | None:
    if not entity:
        return None
    start = text.find(entity, after.get(entity, 0))
    if start < 0:
        again = " once more" if entity in after else ""
        raise RowRefusedError(
            "entities",
            f"The entity {quoted(entity)} does not occur in the answer{again}.",
            "Write it as the answer has it, or give its place: {start, end}.",
        )
    after[entity] = start + len(entity)
    return Span(start=start, end=start + len(entity), text=entity)


def _read_span(each: dict[str, Any], text: str, after: dict[str, int]) -> Span | None:
    start, end, stated = each.get("start"), each.get("end"), each.get("text")
    if start is None and end is None and isinstance(stated, str):
        return _standing(stated.strip(), text, after)
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
        raise RowRefusedError(
            "entities",
            f"The span from {quoted(str(start))} to {quoted(str(end))} is no part of the answer.",
            "Count characters from 0; the end is the first character after the entity.",
        )
    excerpt = text[start:end]
    if not excerpt.strip() or (stated is not None and stated != excerpt):
        raise RowRefusedError(
            "entities",
            f"From {start} to {end} the answer has {quoted(excerpt)}, not {quoted(str(stated or ''))}.",
            "Count characters (not bytes) from 0; the end is the first character after the entity.",
        )
    return Span(start=start, end=end, text=excerpt)


def _moved(span: Span, before: int, length: int) -> Span:
    """The span in the answer without the white space around it."""
    lead = len(span["text"]) - len(span["text"].lstrip())
    text = span["text"].strip()
    start = min(max(span["start"] + lead - before, 0), length)
    return Span(start=start, end=start + len(text), text=text)


# What became of each line of a file of answers: counts, examples, refusals with their remedy.

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
                    "words": label,
                    "count": self.rules[rule],
                    "examples": [{"line": line, "text": text} for line, text in self.examples.get(rule, [])],
                }
                for rule, label in RULES.items()
            },
            "refused": sum(self.rules[rule] for rule in _REFUSED),
            "refusals": [asdict(each) for each in sorted(self.refusals, key=lambda each: each.line)],
            "systems": {
                name: {rule: counts[rule] for rule in RULES} for name, counts in sorted(self.systems.items())
            },
            "stored": self.stored,
        }


_NOTHING = "Nothing was imported."


# Results as DuReader's evaluation takes them (He et al. 2018): one question a line.
#
#     {"question_id": 181574, "question_type": "YES_NO", "answers": ["…"], "yesno_answers": ["Yes"],
#      "entity_answers": [[]]}
#
# The first release names the members query_id, query_type and entities. Lists go together: the first label
# and the first list of entities are those of the first answer. The evaluation scores the first answer of a
# question, so that one is the system's; further ones are counted. A line without answers is a question that
# the system left out.

ResultObject = dict[str, Any]


def is_result(value: ResultObject) -> bool:
    """Whether an object is a line of results."""
    named = "question_id" in value or "query_id" in value
    return (
        named
        and isinstance(value.get("answers"), list)
        and bool(value.keys() & {"yesno_answers", "entity_answers"})
    )


def row_of_result(value: ResultObject, *, line: int, system: str) -> tuple[Row, int]:
    """The row of a line, and how many answers it gives beyond the first; or RowRefusedError."""
    answers = _list(value, "answers")
    opinions = _list(value, "yesno_answers")
    entities = _list(value, "entity_answers" if "entity_answers" in value else "entities")
    if opinions and len(opinions) != len(answers):
        raise RowRefusedError(
            "yesno_answers",
            f"There are {len(opinions):,} yes-no labels for {len(answers):,} answers.",
            "Give one label per answer, or none.",
        )
    first = entities[0] if entities else []
    named = value.get("question_id", value.get("query_id"))
    row = row_of(
        {
            "query_id": named,
            "query": None if named else value.get("question"),
            "system": None,
            "text": answers[0] if answers else None,
            "opinion": opinions[0] if opinions else None,
            "entities": first if isinstance(first, list) else entities,
        },
        line=line,
        system=system,
    )
    return row, max(0, len(answers) - 1)


def _list(value: ResultObject, name: str) -> list[Any]:
    members = value.get(name)
    if members is None:
        return []
    if not isinstance(members, list):
        raise RowRefusedError(
            name, f"The {name} are no list.", "Write them as DuReader's evaluation takes them."
        )
    return members


FORMATS = {
    "auto": "find out from the file",
    "jsonl": "JSONL, one object a line",
    "json": "a JSON list of objects, or an object of them by their ids",
    "csv": "CSV",
    "tsv": "TSV",
    "dureader": "DuReader results",
}
#: Fields that every answer of a row shares, where a row has one of each system.
_SHARED = ("query_id", "query", "context")


def system_columns(text: str) -> tuple[str, ...]:
    """The names in `COLUMN,COLUMN`; one that holds a comma is in quotation marks."""
    names = next(csv.reader([text], skipinitialspace=True), [])
    return tuple(name.strip() for name in names if name.strip())


#: Told of a line that cannot be taken: its number, the field, why, and what to do.
Refuse = Callable[[int, str, str, str], None]
_NOT_READ = "line"
#: Before the name of a further column with a name for the answer, which is read where the first one is empty.
_FURTHER = "text/"


@dataclass(slots=True)
class Answers:
    """A file that gives rows. `columns` and `mapping` say how it is read; `unit` is what its numbers count.

    `further` counts answers of DuReader lines that give several: only the first is the system's. Each of
    `systems` is a column with its answers; `lines_read` counts the rows that they came from.
    """

    source: TextSource
    format: str
    description: str
    unit: str
    system: str
    columns: list[str]
    mapping: dict[str, str]
    values: Callable[[Callable[[int, str], None]], Values]
    reading: Callable[[RowCounts], Reading]
    #: Sentences about what the last reading met that may be meant otherwise.
    notes: Callable[[], list[str]] = list
    systems: Sequence[str] = ()
    #: Whether the column of the answers was chosen, not found by its name.
    text_chosen: bool = False
    further: int = 0
    lines_read: int = 0
    #: By whether the answer's own column is filled: the first line where a further one is.
    _beside: dict[bool, int] = field(default_factory=dict)
    #: Rows by the further column that is filled where the answer's own is empty.
    _elsewhere: Counter[str] = field(default_factory=Counter)

    def rows(self, refuse: Refuse) -> Iterator[Row]:
        """All rows in the order of the file; what cannot be taken is refused."""

        def unread(line: int, reason: str) -> None:
            self.lines_read += 1
            refuse(line, _NOT_READ, reason, "")

        self.further = self.lines_read = 0
        self._beside.clear()
        self._elsewhere.clear()
        for line, value in self.values(unread):
            self.lines_read += 1
            for answer in self._answers_in(value):
                try:
                    self._look_beside(answer, line)
                    if self.format == "dureader":
                        row, further = row_of_result(answer, line=line, system=self.system)
                        self.further += further
                    else:
                        row = row_of(answer, line=line, system=self.system)
                except RowRefusedError as error:
                    refuse(line, error.field, error.reason, error.remedy)
                else:
                    yield row

    def _answers_in(self, value: Object) -> list[Object]:
        """One for each system that has a column, else the value itself."""
        if not self.systems:
            return [value]
        shared = {name: value.get(name) for name in _SHARED}
        return [
            {**shared, "system": name, "text": value.get(f"text/{number}")}
            for number, name in enumerate(self.systems)
        ]

    def _look_beside(self, answer: Object, line: int) -> None:
        """Take an answer that its own column lacks from a further one, where never both are filled."""
        filled = [
            place for place, value in answer.items() if place.startswith(_FURTHER) and not _is_blank(value)
        ]
        if not filled:
            return
        own = not _is_blank(answer.get("text"))
        self._beside.setdefault(own, line)
        if not self.text_chosen and (len(self._beside) > 1 or (not own and len(filled) > 1)):
            names = quote_names([self.mapping["text"], *(place.removeprefix(_FURTHER) for place in filled)])
            where = f", and in {self.unit} {self._beside[True]} it is not" if True in self._beside else ""
            raise RowRefusedError(
                "text",
                f"In {self.unit} {self._beside[False]} the first of the columns {names} is empty while "
                f"another one with a name for the answer is filled{where}.",
                "Choose the column that holds the answers.",
            )
        if not own:
            self._elsewhere[filled[0].removeprefix(_FURTHER)] += 1
            if not self.text_chosen:
                answer["text"] = answer[filled[0]]

    def hints(self) -> list[str]:
        """What the last reading met that may be meant otherwise, in sentences."""
        wide = f"Rows of the file: {self.lines_read:,}, each with an answer of {len(self.systems):,} systems."
        return [*([wide] if self.systems else ()), *self._elsewhere_hints(), *self.notes()]

    def _elsewhere_hints(self) -> list[str]:
        if not self._elsewhere:
            return []
        own, others = repr(self.mapping["text"]), " or ".join(map(repr, self._elsewhere))
        rows = f"{self._elsewhere.total():,}, the first in {self.unit} {self._beside[False]}"
        if self.text_chosen:
            return [
                f"Rows without an answer in {own}, with a text in {others}: {rows}. They count as answers "
                f"that the system did not give. If they are answers, write them into {own}."
            ]
        return [f"Rows without an answer in {own}, whose answer was read from {others}: {rows}."]

    def read_as(self, rows: RowCounts) -> Reading:
        """How the file was read, once it was: further columns are those that gave an answer."""
        as_found = self.reading(rows)
        answer_columns = as_found.columns.get("text", ())
        if self.systems or len(answer_columns) < 2:
            return as_found
        mapped_columns = {self.mapping["text"], *(() if self.text_chosen else self._elsewhere)}
        return replace(
            as_found,
            columns={**as_found.columns, "text": [name for name in answer_columns if name in mapped_columns]},
            left_out=[*as_found.left_out, *(name for name in answer_columns if name not in mapped_columns)],
        )


class _AnswerColumns(ColumnRules):
    """Columns of answers: the text, which query it answers, and which system gave it."""

    def __init__(self, mapping: Mapping[str, str], system: str, systems: Sequence[str]) -> None:
        self._given, self._system, self._systems = mapping, system, systems
        self.named_columns = [*(theirs for theirs in mapping.values() if theirs), *systems]

    def map(self, columns: Iterable[str]) -> dict[str, str]:
        """As given, the rest by the names that people use."""
        names = [column.strip() for column in columns]
        if missing := [name for name in self._systems if name not in names]:
            raise ColumnError(f"There is no column {missing[0]!r}; the file has: {quote_names(names)}.")
        return self._map(names, self._given)

    def map_members(self, members: Sequence[str]) -> dict[str, str]:
        """What was given, as far as this object has it; a member that it lacks is none."""
        mapping = {ours: theirs if theirs in members else "" for ours, theirs in self._given.items()}
        return self._map(members, mapping)

    def _map(self, columns: Sequence[str], mapping: Mapping[str, str]) -> dict[str, str]:
        if not self._systems:
            places = map_columns(columns, mapping, NAMES)
            others = [name for name in columns if name not in places.values()] if "text" in places else []
            further = [name for name in others if plain_name(name) in NAMES["text"]]
            return places | {f"{_FURTHER}{name}": name for name in further}
        for ours, theirs in mapping.items():
            if theirs and ours not in _SHARED:
                raise ColumnError(
                    f"The column {theirs!r} is chosen for the {ours} of each row, and columns with a system "
                    "each are named, too. Choose one of both."
                )
        others = [name for name in columns if name not in self._systems]
        names = {ours: NAMES[ours] for ours in _SHARED}
        shared = map_columns(others, {ours: mapping[ours] for ours in _SHARED if ours in mapping}, names)
        return shared | {f"text/{number}": name for number, name in enumerate(self._systems)}

    def check(self, source: TextSource, columns: list[str], mapping: Mapping[str, str]) -> None:
        """UnmappedError says which field has no column, and which columns there are."""
        has = f"{source.name} has {quote_names(columns)}."
        if "text" not in mapping and not self._systems:
            raise UnmappedError(
                f"Nothing holds the answer. {has} Say which of them does, or which of them have the answers "
                "of a system each.",
                columns,
            )
        if "query_id" not in mapping and "query" not in mapping:
            raise UnmappedError(
                f"Nothing names the query. {has} Say which of them holds its id or its text.", columns
            )
        if "system" not in mapping and not self._system.strip() and not self._systems:
            raise UnmappedError(
                f"Nothing names the system. {has} Give its name, or say which of them holds it.", columns
            )


def open_answers(
    source: TextSource,
    *,
    format: str = "auto",
    mapping: Mapping[str, str] | None = None,
    header: bool | None = None,
    header_row: int = 0,
    system: str = "",
    systems_from: Sequence[str] = (),
) -> Answers:
    """The file as rows. FileRefusedError where it cannot be read; UnmappedError where a field has no column.

    `mapping` maps our fields to columns or members, an empty one to none; `system` names rows that name none.
    Each column of `systems_from` has the answers of the system of its name.
    """
    if system.strip() and systems_from:
        raise FileRefusedError(
            f"{source.name}: a system is named for all rows, and a column for each system. Name one of both."
        )
    if len(set(systems_from)) < len(systems_from):
        raise FileRefusedError(f"{source.name}: a column of {quote_names(systems_from)} is named twice.")
    rules = _AnswerColumns(mapping or {}, system, systems_from)

    def of_object(head: str) -> str:
        first = _first_object(head)
        return "dureader" if first is not None and is_result(first) and not rules.named_columns else ""

    known_names = {"turns", "answers", *chain.from_iterable(NAMES.values())}
    format = settle_format(source, format, FORMATS, column_names=known_names, of_object=of_object)
    if format == "dureader":
        refuse_header_row(source, FORMATS[format], header_row)
        if rules.named_columns:
            raise FileRefusedError(f"{source.name}: DuReader results have members of their own; map none.")
        if not system.strip():
            raise UnmappedError(f"{source.name}: DuReader results do not name their system. Name it.", [])
        described = "DuReader results, a question per line"
        return Answers(
            source,
            format,
            described,
            "line",
            system,
            [],
            {},
            lambda refuse: read_json_lines(source, refuse),
            lambda rows: reading_of(source, {}, rows),
        )
    table = read_table(source, format=format, header=header, rules=rules, header_row=header_row)
    return Answers(
        source,
        format,
        table.description,
        table.unit,
        system,
        table.columns,
        {
            ours: theirs
            for ours, theirs in table.mapping.items()
            if systems_from or not ours.startswith(_FURTHER)
        },
        table.values,
        table.reading,
        table.notes,
        systems_from,
        "text" in (mapping or {}),
    )


def _is_blank(value: Any) -> bool:
    return value is None or not str(value).strip()


def _first_object(head: str) -> Object | None:
    for line in StringIO(head):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    return None
