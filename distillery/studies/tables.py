"""The file of a one-file study: questions, passages, answers of systems or of none, as any table has them.

The reader is the one of all imports (`core.files.tables`). What is found here and nowhere else: a sheet or a
row of names below the first, where the first names no question; a column for each system; the system's name
where no column has one.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

from annotation.importing.records import Passage, id_of, identity, normal, passages_of, plain_form, texts_of
from core.files import reading
from core.files.cells import ColumnError, map_columns, quote_names
from core.files.reading import SHAPES, Reading, plain_name
from core.files.refusals import MOST_LISTED, BadFieldError, FileRefusedError, RowCounts, UnmappedError
from core.files.tables import FORMATS, ColumnRules, ValueTable, read_table, settle_format
from core.files.text_source import TextSource
from judgments.answer_files import LONGEST, LONGEST_SYSTEM
from judgments.questionnaire.materials import citations_of, nuggets_of
from judgments.questionnaire.sentences import cut

#: What a column of a study's file can hold, each with the names that are taken for it, the likeliest first.
NAMES: dict[str, tuple[str, ...]] = {
    "question_id": reading.NAMES["question_id"],
    "question": (*reading.NAMES["question"], "user_input", "utterance", "search_query"),
    "system": reading.NAMES["system"],
    "answer": (*reading.NAMES["answer"], "text"),
    "passages": ("passages", "passage", "contexts", "retrieved_contexts", "documents", "context"),
    "turns": reading.NAMES["context"],
    "citations": ("citations", "citation", "cited"),
    "nuggets": ("nuggets", "rubric", "rubrics", "criteria"),
}
#: Roles that several columns may hold together.
SEVERAL = {"references": re.compile(rf"{SHAPES['references'].pattern}|(reference|ref)_answers?")}
ROLES = (*NAMES, *SEVERAL)
#: Columns that no system's answers are looked for in.
_NO_ANSWERS = {
    *("language", "lang", "split", "topic", "title", "source", "url", "date", "comment", "note", "notes"),
    *("count", "conversation", "turn", "passage_id", "passage_title", "passage_url", "selected"),
    *chain.from_iterable(
        reading.NAMES[role]
        for role in (
            *("score", "type", "opinion", "entities", "response_filter"),
            *("simulated", "id", "item", "worker"),
        )
    ),
}
_LETTER = re.compile(r"[^\W\d_]")
#: Rows that are looked at to tell columns of answers, and rows above a table that may hold its title.
_LOOKED_AT, _TITLE_ROWS = 200, 5
_PLACE = "/"
#: Endings of the files that are read of a folder.
_TABLES = (".csv", ".json", ".jsonl", ".ndjson", ".tab", ".tsv", ".xlsx")


@dataclass(frozen=True, slots=True)
class Choices:
    """What a person said of the file: a column for a role (empty: none), names of systems, its sheet."""

    columns: Mapping[str, str] = field(default_factory=dict)
    system: str = ""
    systems_from: Sequence[str] = ()
    encoding: str = ""
    sheet: str = ""
    header_row: int = 0


@dataclass(slots=True)
class Question:
    """A question with what its rows bring; `line` is the first of them, `id` empty where there is none."""

    line: int
    key: str
    id: str
    text: str
    turns: list[str]
    passages: list[Passage] = field(default_factory=list)
    references: list[str] = field(default_factory=list)
    nuggets: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system answered to a question; an empty text is an answer that it did not give.

    `passages` are those of its own row, which its citations count; `citations` has those of each sentence
    where a column says them.
    """

    line: int
    question: Question
    system: str
    text: str
    passages: tuple[str, ...] = ()
    citations: tuple[tuple[int, ...], ...] = ()

    @property
    def cites(self) -> bool:
        """It cites passages, by a column or by marks such as [1] in its text."""
        return bool(self.citations) or any(sentence.citations for sentence in cut(self.text))


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A row that was left out, and what to do."""

    file: str
    line: int
    field: str
    reason: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}, {self.field}: {self.reason}"


@dataclass(slots=True)
class StudyTable:
    """All that a file says. `read_as` is what every import says of its reading, `notes` are sentences.

    Questions are by their identity, in the order of the file.
    """

    name: str
    questions: dict[str, Question]
    answers: list[Answer]
    systems: list[str]
    read_as: dict[str, Any]
    notes: list[str]
    refused: list[RefusedRow]

    @property
    def roles(self) -> frozenset[str]:
        """What there is of the roles that presets ask for."""
        questions = self.questions.values()
        presence = {
            "question": bool(questions),
            "answer": any(each.text for each in self.answers),
            "passages": any(each.passages for each in questions),
            "references": any(each.references for each in questions),
            "turns": any(each.turns for each in questions),
            "nuggets": any(each.nuggets for each in questions),
            "citations": any(each.cites for each in self.answers),
        }
        return frozenset(role for role, is_there in presence.items() if is_there)


class _Columns(ColumnRules):
    """Columns by role: as chosen, the rest by their names; without an answer, one for each system."""

    def __init__(self, choices: Choices, texts: Callable[[], Mapping[str, list[str]]] = dict) -> None:
        self._choices, self._texts, self.named = choices, texts, choices.columns
        self.named_columns = [
            *(theirs for theirs in choices.columns.values() if theirs),
            *choices.systems_from,
        ]
        self.systems: tuple[str, ...] = ()

    def map(self, columns: Iterable[str]) -> dict[str, str]:
        """Columns by role; those of references and of systems are numbered behind the role."""
        headers = [column.strip() for column in columns]
        mapping = self._map(headers, self.named)
        if missing := [name for name in self._choices.systems_from if name not in headers]:
            raise ColumnError(f"There is no column {missing[0]!r}; the file has: {quote_names(headers)}.")
        if self._choices.systems_from:
            self.systems = tuple(self._choices.systems_from)
        elif (
            "question" in mapping and not mapping.keys() & {"answer", "system"} and "answer" not in self.named
        ):
            self.systems = tuple(
                self._answer_columns([name for name in headers if name not in mapping.values()])
            )
        if self.systems:
            mapping = {role: theirs for role, theirs in mapping.items() if theirs not in self.systems}
            mapping.pop("answer", None)
        return mapping | {f"answer{_PLACE}{at}": name for at, name in enumerate(self.systems)}

    def map_members(self, members: Sequence[str]) -> dict[str, str]:
        """The same of a later object, which may lack some."""
        columns = {role: name if name in members else "" for role, name in self.named.items()}
        mapping = self._map(members, columns)
        if self.systems:
            mapping.pop("answer", None)
        places = enumerate(self.systems)
        return mapping | {f"answer{_PLACE}{at}": name for at, name in places if name in members}

    def check(self, source: TextSource, columns: list[str], mapping: Mapping[str, str]) -> None:
        """A question is needed; whether an answer is, the study says."""
        if "question" not in mapping:
            raise UnmappedError(
                f"{source.name}: no column holds the question; the columns are {quote_names(columns)}. "
                "Name it: --column question=COLUMN.",
                columns,
            )

    def _map(self, columns: Sequence[str], named: Mapping[str, str]) -> dict[str, str]:
        for role in named:
            if role not in ROLES:
                raise ColumnError(
                    f"There is no {role!r} to choose a column for; there are: {', '.join(ROLES)}."
                )
        one = {role: name for role, name in named.items() if role in NAMES}
        lists = {role: name for role, name in named.items() if role in SEVERAL}
        if missing := [name for name in lists.values() if name and name not in columns]:
            raise ColumnError(f"There is no column {missing[0]!r}; the file has: {quote_names(columns)}.")
        used = set(lists.values())
        several = {
            role: [lists[role]]
            if lists.get(role)
            else []
            if role in lists
            else [name for name in columns if shape.fullmatch(plain_name(name)) and name not in one.values()]
            for role, shape in SEVERAL.items()
        }
        used |= {name for names in several.values() for name in names}
        mapping = map_columns([name for name in columns if name not in used], one, NAMES)
        if (
            "question" not in mapping
            and "answer" not in one
            and plain_name(mapping.get("answer", "")) == "text"
        ):
            mapping["question"] = mapping.pop("answer")
        return mapping | {
            f"{role}{_PLACE}{at}": name for role, names in several.items() for at, name in enumerate(names)
        }

    def _answer_columns(self, columns: Sequence[str]) -> list[str]:
        """Of these, the columns with texts of words, which may be a system's answers each."""
        texts = self._texts()
        likely = [name for name in columns if not _is_no_answer(name)]
        return [name for name in likely if any(_LETTER.search(text) for text in texts.get(name, [""]))]


def _is_no_answer(name: str) -> bool:
    return plain_name(name) in _NO_ANSWERS or bool(SHAPES["ratings"].fullmatch(plain_name(name)))


def read_study_table(path: Path, choices: Choices | None = None) -> StudyTable:
    """Everything a file, or each file of a folder, says. FileRefusedError says what is wrong, and the remedy.

    In a folder without a column for the system each file holds the answers of the system of its name.
    """
    choices = choices or Choices()
    if not path.is_dir():
        return _Reader(path.name).read([path], choices)
    files = sorted(each for each in path.iterdir() if each.is_file() and not each.name.startswith("."))
    tables = [each for each in files if each.name.casefold().removesuffix(".gz").endswith(_TABLES)]
    if not tables:
        endings = ", ".join(_TABLES)
        raise FileRefusedError(
            f"{path} is a folder without tables ({endings}). Name a table, or another folder."
        )
    table = _Reader(path.name).read(tables, choices)
    others = [each.name for each in files if each not in tables]
    table.notes.insert(0, f"Files that were read: {', '.join(each.name for each in tables)}.")
    if others:
        table.notes.insert(1, f"Files of the folder that were not read: {', '.join(others)}.")
    return table


class _Reader:
    """Reads the rows of one file, or of several into one table."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._questions: dict[str, Question] = {}
        self._answers: dict[tuple[str, str], Answer] = {}
        #: Citations of the rows of the present file, by line.
        self._citations: dict[int, tuple[tuple[int, ...], ...]] = {}
        self._systems: dict[str, None] = {}
        self._notes: list[str] = []
        self._refused: list[RefusedRow] = []
        #: Rows of the present file by what became of them, as `RowCounts` names it.
        self._rows: Counter[str] = Counter()
        self._file = ""

    def read(self, files: Sequence[Path], choices: Choices) -> StudyTable:
        """All files, in the order of their names."""
        readings = []
        for path in files:
            table, rules = _open(path, choices)
            self._file = path.name
            self._rows.clear()
            self._citations.clear()
            system = choices.system or (name_of_file(path.name) if len(files) > 1 else "")
            self._read_rows(table, rules, choices, system)
            readings.append(table.reading(RowCounts(self._rows.total(), **self._rows)))
            self._notes += table.notes()
            if table.source.guess is not None and table.source.guess.encoding != "utf-8":
                self._notes.append(f"Encoding: {table.source.encoding_said}. Another one: --encoding NAME.")
        if not self._questions:
            first = f" {self._refused[0]}" if self._refused else ""
            raise FileRefusedError(f"{self._name} has no row that can be read.{first}")
        return StudyTable(
            self._name, self._questions, list(self._answers.values()),
            list(self._systems), _as_json(readings), self._notes, self._refused,
        )  # fmt: skip

    def _read_rows(self, table: ValueTable, rules: _Columns, choices: Choices, system: str) -> None:
        """All rows of a file; those with one answer once it is known whether any of them names a system."""
        answers: list[tuple[Question, str, str]] = []
        for line, values in table.values(self._refuse):
            try:
                question = _question_of(values, line)
                self._citations[line] = tuple(map(tuple, citations_of(values.get("citations"))))
                texts = {
                    name: _text_of(values.get(f"answer{_PLACE}{at}")) for at, name in enumerate(rules.systems)
                }
                if "answer" in values:
                    answers.append((question, _name_of(values.get("system")), _text_of(values["answer"])))
                else:
                    self._keep(question, texts)
            except BadFieldError as error:
                self._refuse(line, str(error), field=error.field)
        if rules.systems and not choices.systems_from:
            self._notes.append(
                f"No column is called answer: {quote_names(rules.systems)} are read as the answers of "
                "a system each. Another way: --column answer=COLUMN, or --systems-from COLUMN,COLUMN."
            )
        if answers and not system and not any(name for _, name, _ in answers):
            answers = self._name_systems(answers)
        for question, name, text in answers:
            if name or system:
                self._keep(question, {name or system: text})
            else:
                remedy = "Name it in the row, or for all rows that name none: --system NAME."
                self._refuse(question.line, f"The row names no system. {remedy}", field="system")

    def _name_systems(self, answers: Sequence[tuple[Question, str, str]]) -> list[tuple[Question, str, str]]:
        """Nothing names the systems: one of the file's name, or the answers to a question in their order."""
        numbers: dict[str, dict[str, int]] = {}
        for question, _, text in answers:
            of_question = numbers.setdefault(question.key, {})
            of_question.setdefault(text, len(of_question) + 1)
        most = max(map(len, numbers.values()))
        if most == 1:
            name = name_of_file(self._file)
            self._notes.append(
                f"No column names the system: all answers are of one, called {name!r} after the file. "
                "Another name: --system NAME."
            )
            return [(question, name, text) for question, _, text in answers]
        self._notes.append(
            f"No column names the system. Questions have up to {most} different answers: the first one of "
            "each is read as that of “system 1”, and so on. Another way: --column system=COLUMN."
        )
        return [(question, f"system {numbers[question.key][text]}", text) for question, _, text in answers]

    def _keep(self, question: Question, texts: Mapping[str, str]) -> None:
        """Keep a row, which is used, merged, repeated or refused as a whole; `texts` are its answers."""
        stored = self._questions.get(question.key, question)
        if plain_form(normal(stored.text)) != plain_form(normal(question.text)):
            why = f"The id {question.id!r} has another question in line {stored.line}."
            self._refuse(question.line, f"{why} Give each question an id of its own.", field="question_id")
            return
        before = {name: self._answers.get((question.key, name)) for name in texts}
        for name, answer in before.items():
            if answer is not None and answer.text != texts[name]:
                why = f"{name} has another answer to this question in line {answer.line}."
                remedy = "Give a second answer to a system of another name."
                self._refuse(question.line, f"{why} {remedy}", field="answer")
                return
        self._questions[question.key] = stored
        own = tuple(each.text for each in question.passages)
        texts_before = {each.text for each in stored.passages}
        passages = [each for each in question.passages if each.text not in texts_before]
        references = [each for each in question.references if each not in stored.references]
        stored.passages += passages
        stored.references += references
        nuggets_before = {each["text"] for each in stored.nuggets}
        nuggets = [each for each in question.nuggets if each["text"] not in nuggets_before]
        stored.nuggets += nuggets
        fresh = [name for name, answer in before.items() if answer is None]
        for name in fresh:
            self._answers[question.key, name] = Answer(
                question.line, stored, name, texts[name], own, self._citations.get(question.line, ())
            )
            self._systems[name] = None
        if fresh or stored is question:
            self._rows["used"] += 1
        else:
            self._rows["merged" if passages or references or nuggets else "repeats"] += 1

    def _refuse(self, line: int, reason: str, /, field: str = "row") -> None:
        self._rows["refused"] += 1
        if len(self._refused) < MOST_LISTED:
            self._refused.append(RefusedRow(self._file, line, field, reason))


def _question_of(values: Mapping[str, Any], line: int) -> Question:
    text = values.get("question")
    if not isinstance(text, str | int | float) or isinstance(text, bool) or not str(text).strip():
        raise BadFieldError("The row has no question. Fill the cell, or take the row out.", "question")
    turns = texts_of(values.get("turns"), "turns")
    id = id_of(values.get("question_id"), "question_id")
    # Typographic marks make no other question, as in the imports.
    key = id or identity(normal(str(text)), [normal(turn) for turn in turns], plain_form)
    question = Question(line, key, id, str(text).strip(), turns)
    question.passages = passages_of(values.get("passages"))
    question.nuggets = nuggets_of(values.get("nuggets"))
    for role, value in values.items():
        if role.partition(_PLACE)[0] == "references":
            question.references += [
                each for each in texts_of(value, "references") if each not in question.references
            ]
    return question


def _name_of(value: Any) -> str:
    name = "" if value is None else " ".join(str(value).split())
    if len(name) > LONGEST_SYSTEM:
        raise BadFieldError(f"The name has {len(name)} characters; at most {LONGEST_SYSTEM}.", "system")
    return name


def _text_of(value: Any) -> str:
    if isinstance(value, bool | dict | list):
        raise BadFieldError("The answer is no text. Write one text for each answer.", "answer")
    text = "" if value is None else str(value).strip()
    if len(text) > LONGEST:
        raise BadFieldError(f"The answer has {len(text):,} characters; at most {LONGEST:,}.", "answer")
    return text


def name_of_file(name: str) -> str:
    """What a file is called without its endings, such as `run.csv.gz`."""
    return Path(name.removesuffix(".gz")).stem[:LONGEST_SYSTEM] or "system"


def _open(path: Path, choices: Choices) -> tuple[ValueTable, _Columns]:
    """The table of a file: of the first sheet, and below the first row of names, that has a question."""
    source = TextSource(path, encoding=choices.encoding, sheet=choices.sheet)
    first_error: FileRefusedError | None = None
    names: list[str] = []
    sheets = source.workbook.sheets if source.workbook and not choices.sheet else [choices.sheet]
    for sheet in sheets:
        if source.workbook and sheet and sheet != source.workbook.sheet:
            source = TextSource(path, sheet=sheet)
        for row in [choices.header_row] if choices.header_row else [0, *range(2, _TITLE_ROWS + 1)]:
            try:
                return _open_at(source, choices, row)
            except FileRefusedError as error:
                if first_error is None:
                    first_error, names = error, getattr(error, "columns", [])
    assert first_error is not None
    is_list = len(names) == 1 or (names and path.suffix.casefold() == ".txt")
    if is_list and not any(choices.columns.values()):  # questions, a line each, without a row of names
        return _open_at(source, Choices({"question": "1"}, choices.system), 0, header=False)
    raise first_error


def _open_at(
    source: TextSource, choices: Choices, header_row: int, *, header: bool = True
) -> tuple[ValueTable, _Columns]:
    column_names = {name for names in NAMES.values() for name in names}
    # The commas of a list of questions separate nothing.
    format = settle_format(
        source, "auto" if header else "tsv", {"auto": "", **FORMATS}, column_names=column_names
    )
    if header_row and format in ("json", "jsonl"):
        raise FileRefusedError(f"{source.name} has objects, and no row names their members.")

    def open_with(rules: _Columns) -> ValueTable:
        return read_table(source, format=format, header=header, rules=rules, header_row=header_row)

    def texts() -> Mapping[str, list[str]]:
        """The first cells of each column that is no column of ours."""
        cells: dict[str, list[str]] = {}
        for _, values in islice(open_with(_EveryColumn()).values(lambda *_, **__: None), _LOOKED_AT):
            for name, value in values.items():
                cells.setdefault(name, []).append(value if isinstance(value, str) else "")
        return cells

    rules = _Columns(choices, texts)
    return open_with(rules), rules


class _EveryColumn(_Columns):
    """Every column as itself, to look at its cells."""

    def __init__(self) -> None:
        super().__init__(Choices())

    def map(self, columns: Iterable[str]) -> dict[str, str]:
        """Each by its own name."""
        return {name.strip(): name.strip() for name in columns}

    def map_members(self, members: Sequence[str]) -> dict[str, str]:
        """Each by its own name."""
        return self.map(members)

    def check(self, source: TextSource, columns: list[str], mapping: Mapping[str, str]) -> None:
        """Nothing is needed."""


def _as_json(readings: Sequence[Reading]) -> dict[str, Any]:
    """How the first file was read, with the rows of all and what any of them has."""
    report = readings[0].as_json()
    for each in readings[1:]:
        other = each.as_json()
        for role, headers in other["columns"].items():
            mine = report["columns"].setdefault(role, [])
            mine += [header for header in headers if header not in mine]
        report["left_out"] += [header for header in other["left_out"] if header not in report["left_out"]]
        for name, count in other["rows"].items():
            report["rows"][name] += count
    return report
