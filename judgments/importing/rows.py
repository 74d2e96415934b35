"""One line of a file of answers, read and checked field by field, and what became of each line."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypedDict

from annotation.importing.fields import id_of, texts_of
from annotation.importing.records import quoted
from annotation.models import Answer
from core.files.json_objects import check_storable
from core.files.refusals import MOST_LISTED, BadFieldError, FileRefusedError, RowCounts
from judgments.models import System

#: Our fields, each with the names that are taken for it, the likeliest first.
NAMES: dict[str, tuple[str, ...]] = {
    "query_id": ("query_id", "qid", "question_id", "queryid", "id"),
    "query": ("query", "question", "query_text", "q"),
    "system": ("system", "system_name", "system_id", "model", "run"),
    "text": ("answer", "text", "candidate", "answer_text", "prediction", "response", "candidate_answer"),
    "opinion": ("opinion", "yes_no", "yesno", "yesno_answer", "opinion_label", "label"),
    "entities": ("entities", "entity_answers", "spans"),
    "context": ("context_turns", "history", "previous_turns"),
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
            "system", "The line does not name its system.", "Name it in the line, or once with --system."
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
    found = _listed(value)
    if len(found) > _MOST_ENTITIES:
        raise RowRefusedError(
            "entities", f"There are {len(found):,} entities.", f"Name at most {_MOST_ENTITIES}."
        )
    for each in found:
        if isinstance(each, str):
            span = _standing(each.strip(), text, after)
        elif isinstance(each, dict):
            span = _given(each, text, after)
        else:
            raise RowRefusedError(
                "entities", "An entity is neither text nor a span.", 'Write "Rome" or {"start": 0, "end": 4}.'
            )
        if span is not None:
            spans.append(span)
    return sorted(spans, key=lambda each: (each["start"], each["end"]))


def _listed(value: Any) -> list[Any]:
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
            f"The entity {quoted(entity)} does not stand in the answer{again}.",
            "Write it as the answer has it, or give its place: {start, end}.",
        )
    after[entity] = start + len(entity)
    return Span(start=start, end=start + len(entity), text=entity)


def _given(each: dict[str, Any], text: str, after: dict[str, int]) -> Span | None:
    start, end, said = each.get("start"), each.get("end"), each.get("text")
    if start is None and end is None and isinstance(said, str):
        return _standing(said.strip(), text, after)
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
        raise RowRefusedError(
            "entities",
            f"The span from {quoted(str(start))} to {quoted(str(end))} is no part of the answer.",
            "Count characters from 0; the end is the first character after the entity.",
        )
    there = text[start:end]
    if not there.strip() or (said is not None and said != there):
        raise RowRefusedError(
            "entities",
            f"From {start} to {end} the answer has {quoted(there)}, not {quoted(str(said or ''))}.",
            "Count characters (not bytes) from 0; the end is the first character after the entity.",
        )
    return Span(start=start, end=end, text=there)


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
