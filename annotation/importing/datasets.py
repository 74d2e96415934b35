"""Published data sets of questions, a reader for each: SQuAD, DuReader, TREC CAsT with rewrites, MS MARCO."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.importing import records
from annotation.importing.formats import ObjectReader
from annotation.importing.records import MOST_TURNS, Passage, Record
from core.files.json_objects import JsonStream, Object, read_json_records
from core.files.refusals import BadFieldError, FileRefusedError, Refuse, RefuseRecord
from core.files.text_source import TextSource

# SQuAD 1.1 and 2.0: one JSON document of articles, their paragraphs and the questions about them.


class SquadReader(ObjectReader):
    """SQuAD 1.1 and 2.0 (Rajpurkar et al. 2016, 2018): the paragraph is the candidate passage.

    Its offsets count in the article, taken as its paragraphs with a newline between them.
    """

    format = "squad"
    unit = "question"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._question = 0

    @property
    def description(self) -> str:
        """The format in words."""
        return "SQuAD"

    def objects(self, refuse: Refuse) -> Iterator[tuple[int, Object]]:
        """Its articles, with the number of the question before them."""
        stream = JsonStream(self.source)
        has_data, self._question = False, 0
        for name in stream.members():
            if name != "data":
                stream.value()
                continue
            has_data = True
            if stream.peek() != "[":
                raise stream.wrong("the member 'data' is no list")
            for _ in stream.items():
                value, _text = stream.value()
                if not isinstance(value, dict):
                    raise stream.wrong("an article is no object")
                yield self._question + 1, value
        stream.finish()
        if not has_data:
            raise FileRefusedError(f"{self.source.name} has no member 'data', so it is no SQuAD file.")

    def in_object(self, value: Object, line: int, refuse: RefuseRecord) -> Iterator[Record]:
        """The questions of an article; one that is wrong is refused on its own."""
        paragraphs = value.get("paragraphs")
        if not isinstance(paragraphs, list):
            raise BadFieldError("The article has no list of paragraphs.")
        title, start = str(value.get("title") or ""), 0
        for paragraph in paragraphs:
            context = paragraph.get("context") if isinstance(paragraph, dict) else None
            questions = paragraph.get("qas") if isinstance(paragraph, dict) else None
            if not isinstance(context, str) or not context.strip() or not isinstance(questions, list):
                refuse(self._question + 1, "A paragraph has no context or no list of questions.")
                continue
            end = start + len(context)
            for each in questions:
                self._question += 1
                try:
                    yield _question(
                        each, Passage(context, title, "", "", title[:2000], start, end), self._question
                    )
                except BadFieldError as error:
                    refuse(self._question, str(error))
            start = end + 1


def _question(value: Any, passage: Passage, number: int) -> Record:
    if not isinstance(value, dict):
        raise BadFieldError("The question is no object.")
    answers = value.get("answers") or []
    if not isinstance(answers, list):
        raise BadFieldError("The answers are no list.")
    impossible = records.yes_no_of(value.get("is_impossible")) or False
    if impossible and answers:
        raise BadFieldError("The labels contradict each other: is_impossible with answers.")
    texts = records.texts_of(answers, "answers")
    passage.selected = not impossible and bool(texts)
    record = records.record_of(
        {"text": value.get("question"), "id": value.get("id")},
        line=number,
        ordinal=0,
        extra={"is_impossible": True} if impossible else {},
    )
    record.passages = [passage]
    record.references = list(dict.fromkeys(texts))
    if answers:
        record.extra["answer_spans"] = [
            {"text": each["text"], "start": each["answer_start"]}
            for each in answers
            if isinstance(each, dict) and type(each.get("answer_start")) is int and "text" in each
        ]
    return record


# DuReader (He et al. 2018): one question a line, with documents, answers and their labels.

_OPINIONS = {"Yes", "No", "Depends", "No_Opinion"}
_KINDS = {"ENTITY": "ENTITY", "DESCRIPTION": "DESCRIPTION", "YES_NO": ""}
_KEPT = ("fact_or_opinion", "question_type", "yesno_answers", "entity_answers", "yesno_type", "answer_docs")


class DuReaderReader(ObjectReader):
    """Questions with their documents as candidate passages.

    Of a document the paragraph that the file calls the most related is offered, with its place in the
    document; all its paragraphs where the file calls none so.
    """

    format = "dureader"

    @property
    def description(self) -> str:
        """The format in words."""
        return "DuReader, a question per line"

    def in_object(self, value: Object, line: int, refuse: RefuseRecord) -> Iterator[Record]:
        """One question."""
        kind = str(value.get("question_type") or "").strip().upper()
        if kind and kind not in _KINDS:
            raise BadFieldError(f"The question_type {kind[:40]!r} is none of {', '.join(_KINDS)}.")
        answers = records.texts_of(value.get("answers"), "answers")
        self._check_labels(value, kind, answers)
        yield Record(
            line=line,
            ordinal=0,
            text=_dureader_question(value),
            id=records.id_of(value.get("question_id")),
            type=_KINDS.get(kind, ""),
            yes_no=kind == "YES_NO" if kind else None,
            passages=_documents(value.get("documents")),
            references=answers,
            extra={name: value[name] for name in _KEPT if value.get(name)},
        )

    def _check_labels(self, value: Object, kind: str, answers: list[str]) -> None:
        opinions = value.get("yesno_answers") or []
        if not isinstance(opinions, list) or not all(isinstance(each, str) for each in opinions):
            raise BadFieldError("The yesno_answers are no list of words.")
        unknown = sorted(set(opinions) - _OPINIONS)
        if unknown:
            raise BadFieldError(
                f"The yes-no label {unknown[0][:40]!r} is none of Yes, No, Depends, No_Opinion."
            )
        if opinions and kind != "YES_NO":
            raise BadFieldError(f"The labels contradict each other: {kind or 'no type'} with yes-no answers.")
        if opinions and len(opinions) != len(answers):
            raise BadFieldError(
                f"The labels contradict each other: {len(opinions)} yes-no labels for {len(answers)} answers."
            )


def _dureader_question(value: Object) -> str:
    text = value.get("question")
    if not isinstance(text, str) or not text.strip():
        raise BadFieldError("The question has no text.")
    return text


def _documents(value: Any) -> list[Passage]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise BadFieldError("The documents are no list.")
    return [passage for number, each in enumerate(value, 1) if (passage := _document(each, number))]


def _document(value: Any, number: int) -> Passage | None:
    paragraphs = value.get("paragraphs") if isinstance(value, dict) else None
    if not isinstance(paragraphs, list) or not all(isinstance(each, str) for each in paragraphs):
        raise BadFieldError(f"Document {number} has no list of paragraphs.")
    page = "\n".join(paragraphs)
    best = value.get("most_related_para")
    start, end = 0, len(page)
    if type(best) is int and 0 <= best < len(paragraphs) and paragraphs[best].strip():
        start = sum(len(each) + 1 for each in paragraphs[:best])
        end = start + len(paragraphs[best])
    if not page[start:end].strip():
        return None
    return Passage(
        text=page[start:end],
        title=str(value.get("title") or ""),
        url=records.web_address(value.get("url")),
        page=f"document {number}",
        start=start,
        end=end,
        selected=records.selected_of(value.get("is_selected")),
    )


# TREC Conversational Assistance Track topics as they were published from 2019 to 2022 (Dalton et al. 2020).
#
# 2019 and 2020: a list of topics with numbered `raw_utterance`s; 2020 and later also rewritten ones. 2021:
# each turn has the `passage` of its canonical result, which the next turns speak of. 2022: a tree, in which
# every turn names its `parent` (in the sample: `parent_turn`) and the system's turns have a `response`; or
# the paths of that tree one after the other ("flattened"), in which a turn has its own response and turns
# that two paths share are there twice.

_TEXT = ("raw_utterance", "utterance", "text")
_REPLY = ("response", "passage")
_PARENT = ("parent", "parent_turn")
#: Members of a turn that a record has fields for.
_TAKEN = {*_TEXT, *_PARENT, "number", "id", "participant"}
_ABOUT = ("title", "description")


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a topic: what the user said, or what the system replied, or both."""

    number: str
    place: int | None
    utterance: str
    reply: str
    parent: str | None
    by_system: bool
    value: Object


class CastReader(ObjectReader):
    """Topics of conversations; every turn of a user is a query after the turns on its path."""

    format = "cast"
    unit = "topic"

    def __init__(self, source: TextSource, room: Path) -> None:
        super().__init__(source, room)
        self._topic = ""
        self._given: set[tuple[str, str, tuple[str, ...]]] = set()

    @property
    def description(self) -> str:
        """The format in words."""
        return "TREC CAsT topics"

    def objects(self, refuse: Refuse) -> Iterator[tuple[int, Object]]:
        """Its topics; a file with one topic only may do without the list."""
        self._topic, self._given = "", set()
        stream = JsonStream(self.source)
        if stream.peek() != "{":
            yield from read_json_records(self.source, refuse)
            return
        value, _text = stream.value()
        stream.finish()
        yield 1, value

    def in_object(self, value: Object, line: int, refuse: RefuseRecord) -> Iterator[Record]:
        """The user's turns of a topic. What another path of the same topic gave already is passed over."""
        turn_values = value.get("turn", value.get("turns"))
        if not isinstance(turn_values, list):
            raise BadFieldError("The topic has no list of turns ('turn').")
        topic = records.id_of(value.get("number", value.get("id")), "number of the topic")
        if not topic:
            raise BadFieldError("The topic has no number.")
        if topic != self._topic:
            self._topic, self._given = topic, set()
        turns = [_turn(each, place, topic) for place, each in enumerate(turn_values, 1)]
        paths = _tree(turns, topic) if any(each.parent is not None for each in turns) else _line(turns, topic)
        for turn, path in paths:
            record = _record(turn, path, topic, line)
            record.extra |= {f"topic_{name}": value[name] for name in _ABOUT if value.get(name)}
            same = (record.id, record.text, tuple(record.context))
            if same not in self._given:
                self._given.add(same)
                yield record


def _turn(value: Any, place: int, topic: str) -> Turn:
    """A turn as it is written; BadFieldError names it, and says what is wrong with it."""
    if not isinstance(value, dict):
        raise BadFieldError(f"Turn {place} of topic {topic} is no object.")
    number = records.id_of(value.get("number", place), "number of a turn") or str(place)
    where = f"Turn {number} of topic {topic}"
    parents = [value[name] for name in _PARENT if value.get(name) not in (None, "")]
    utterance, reply = _read_text(value, _TEXT, where), _read_text(value, _REPLY, where)
    by_system = str(value.get("participant") or "user").strip().lower() == "system"
    if by_system and not reply:
        raise BadFieldError(f"{where} is the system's and has no 'response'.")
    if not by_system and not utterance:
        raise BadFieldError(f"{where} has no text: no member {', '.join(map(repr, _TEXT))}.")
    if not by_system and "participant" in value:
        reply = ""
    root = _PARENT[0] if "participant" in value else None
    return Turn(
        number,
        int(number) if number.isdecimal() else None,
        utterance,
        reply,
        records.id_of(parents[0], "parent of a turn") if parents else "" if root else None,
        by_system,
        value,
    )


def _read_text(value: Mapping[str, Any], names: tuple[str, ...], where: str) -> str:
    for name in names:
        text = value.get(name)
        if isinstance(text, str) and text.strip():
            return text
        if text not in (None, "") and not isinstance(text, str):
            raise BadFieldError(f"{where}: its {name!r} is no text.")
    return ""


def _line(turns: list[Turn], topic: str) -> Iterator[tuple[Turn, list[Turn]]]:
    """Turns that follow one another, each with all before it."""
    last = 0
    for at, turn in enumerate(turns):
        if turn.place is not None:
            if turn.place <= last:
                raise BadFieldError(f"Turn {turn.place} of topic {topic} comes after turn {last}.")
            last = turn.place
        yield turn, turns[:at]


def _tree(turns: list[Turn], topic: str) -> Iterator[tuple[Turn, list[Turn]]]:
    """The user's turns of a tree, each with those on the way to it."""
    by_number: dict[str, Turn] = {}
    for turn in turns:
        if turn.number in by_number:
            raise BadFieldError(f"Topic {topic} has two turns {turn.number}.")
        by_number[turn.number] = turn
    for turn in turns:
        if not turn.by_system:
            yield turn, _path(turn, by_number, topic)


def _path(turn: Turn, by_number: Mapping[str, Turn], topic: str) -> list[Turn]:
    path: list[Turn] = []
    at = turn
    while at.parent:
        if at.parent not in by_number:
            raise BadFieldError(
                f"Turn {at.number} of topic {topic} follows turn {at.parent}, which the topic does not have."
            )
        at = by_number[at.parent]
        path.append(at)
        if len(path) > len(by_number):
            raise BadFieldError(f"The turns before turn {turn.number} of topic {topic} go round in a circle.")
    return path[::-1]


def _record(turn: Turn, path: list[Turn], topic: str, line: int) -> Record:
    """The query of a turn. What the system says before any user's turn answers nothing, and is left out."""
    context: list[str] = []
    replies: list[str] = []
    for each in path:
        if not each.by_system:
            context.append(each.utterance)
            replies.append(each.reply)
        elif replies:
            replies[-1] = f"{replies[-1]}\n{each.reply}".strip()
    if len(context) >= MOST_TURNS:
        raise BadFieldError(f"Topic {topic} has more than {MOST_TURNS} turns.")
    return Record(
        line=line,
        ordinal=0,
        text=turn.utterance,
        id=records.id_of(turn.value.get("id") or f"{topic}_{turn.number}"),
        conversation=topic,
        turn=turn.place or len(context) + 1,
        context=context,
        replies=replies,
        extra={name: each for name, each in turn.value.items() if name not in _TAKEN},
    )


# MS MARCO v2.1 (Bajaj et al. 2016): question answering records, as published and a record a line.
#
# The published files are one JSON object with a member per column (`query`, `passages`, `answers` …), each an
# object from record number to value. Columns come one after the other, so a record is whole only at the end
# of a file of some gigabytes: its columns are put into a temporary SQLite file and joined there.

COLUMNS = ("query", "query_id", "query_type", "answers", "passages", "wellFormedAnswers")
NO_ANSWER = "No Answer Present."


class MarcoReader(ObjectReader):
    """Column-wise or a record per line; `columnwise` says which."""

    format = "marco"

    def __init__(self, source: TextSource, room: Path, *, columnwise: bool) -> None:
        super().__init__(source, room)
        self.columnwise = columnwise
        self.unit = "record" if columnwise else "line"

    @property
    def description(self) -> str:
        """The format in words."""
        return "MS MARCO v2.1, " + ("a member per column" if self.columnwise else "a record per line")

    def objects(self, refuse: Refuse) -> Iterator[tuple[int, Object]]:
        """Records with their numbers."""
        return self._joined() if self.columnwise else super().objects(refuse)

    def in_object(self, value: Object, line: int, refuse: RefuseRecord) -> Iterator[Record]:
        """One record."""
        kind = value.get("query_type")
        answers = records.texts_of(value.get("answers"), "answers")
        if NO_ANSWER in answers and len(answers) > 1:
            raise BadFieldError("The answers say that there is no answer, and give one.")
        well_formed = value.get("wellFormedAnswers")
        better = well_formed if isinstance(well_formed, list) else []
        extra: Object = {"query_type": kind} if kind else {}
        if better:
            extra["well_formed_answers"] = records.texts_of(better, "well formed answers")
        text = value.get("query")
        record = records.record_of(
            {"text": text, "id": value.get("query_id"), "type": kind}, line=line, ordinal=0, extra=extra
        )
        record.references = [answer for answer in answers if answer != NO_ANSWER]
        record.passages = _passages(value.get("passages"))
        yield record

    def _joined(self) -> Iterator[tuple[int, Object]]:
        store = self.room / "marco.sqlite3"
        if not store.exists():
            unfinished = self.room / "marco.part"
            unfinished.unlink(missing_ok=True)
            self._store_columns(unfinished)
            unfinished.rename(store)
        names = ", ".join(f'"{name}"' for name in COLUMNS)
        with closing(sqlite3.connect(store)) as database:
            rows = database.execute(f"SELECT {names} FROM record ORDER BY rowid")  # noqa: S608  # our own names
            for number, row in enumerate(rows, 1):
                cells = zip(COLUMNS, row, strict=True)
                yield number, {name: json.loads(text) for name, text in cells if text is not None}

    def _store_columns(self, path: Path) -> None:
        columns = ", ".join(f'"{name}" TEXT' for name in COLUMNS)
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            # A temporary file needs no safety, only speed; the cache is 16 MiB.
            database.execute("PRAGMA journal_mode=OFF")
            database.execute("PRAGMA synchronous=OFF")
            database.execute("PRAGMA cache_size=-16384")
            database.execute(f"CREATE TABLE record (key TEXT PRIMARY KEY, {columns})")
            stream = JsonStream(self.source)
            seen = set()
            database.execute("BEGIN")
            for name in stream.members():
                if name not in COLUMNS:
                    stream.value()
                    continue
                if name in seen:
                    raise FileRefusedError(f"{self.source.name} has the member {name!r} twice.")
                seen.add(name)
                put = (
                    f'INSERT INTO record (key, "{name}") VALUES (?, ?) '  # noqa: S608  # a name of COLUMNS
                    f'ON CONFLICT (key) DO UPDATE SET "{name}" = excluded."{name}"'
                )
                database.executemany(put, self._column(stream, name))
            database.execute("COMMIT")
            stream.finish()
        if "query" not in seen:
            raise FileRefusedError(f"{self.source.name} has no member 'query', so it is no MS MARCO file.")

    def _column(self, stream: JsonStream, name: str) -> Iterator[tuple[str, str]]:
        if stream.peek() != "{":
            raise stream.wrong(f"the column {name!r} is no object")
        for key in stream.members():
            yield key, stream.value()[1]


def _passages(value: Any) -> list[Passage]:
    """Passages as a list of objects, or as an object of lists."""
    if isinstance(value, dict):
        texts = value.get("passage_text")
        if not isinstance(texts, list):
            raise BadFieldError("The passages have no texts.")
        others = {name: value.get(name) for name in ("url", "is_selected")}
        lists = {name: each if isinstance(each, list) else [] for name, each in others.items()}
        if any(each and len(each) != len(texts) for each in lists.values()):
            raise BadFieldError("The passages' texts, urls and selections are not as many.")
        value = [
            {"passage_text": text, **{name: each[place] for name, each in lists.items() if each}}
            for place, text in enumerate(texts)
        ]
    return records.passages_of(value)


# Queries written so that they stand alone, from a file beside the topics: an id, a tab, a text.
#
# TREC CAsT 2019 published its manual rewrites like this (`evaluation_topics_annotated_resolved_v1.0.tsv`).

#: The member of `Query.extra` that CAsT's later years give the same in.
MEMBER = "manual_rewritten_utterance"
_MOST_BYTES = 64 * 2**20


def read_rewrites(path: Path) -> dict[str, str]:
    """Texts by the id of their query; FileRefusedError names the line that is wrong."""
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= _MOST_BYTES else b""
    except OSError as error:
        raise FileRefusedError(f"{path.name} could not be read: {error}.") from error
    if size > _MOST_BYTES:
        raise FileRefusedError(f"{path.name} is larger than {_MOST_BYTES // 2**20} MiB: no file of rewrites.")
    rewrites: dict[str, str] = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        where = f"{path.name}, line {number}"
        try:
            key, tab, text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip("\r").partition("\t")
        except UnicodeDecodeError as error:
            raise FileRefusedError(f"{where} is no UTF-8. Save the file as UTF-8.") from error
        key, text = key.strip(), " ".join(text.split())
        if not tab or not key or not text or "\0" in line.decode("utf-8"):
            raise FileRefusedError(f"{where}: expected the id of a turn, a tab, and its text.")
        if rewrites.setdefault(key, text) != text:
            raise FileRefusedError(f"{where}: {key!r} has another text in an earlier line.")
    if not rewrites:
        raise FileRefusedError(f"{path.name} has no line.")
    return rewrites
