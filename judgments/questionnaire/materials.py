"""Files of units: nuggets and criteria, sentences with citations, conversations, rows of any table.

What is read is kept by key, as `judgments.questionnaire.units` makes units of it.
"""

import json
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.importing.records import id_of, normal, plain_form
from annotation.models import Query
from core.files.cells import AmbiguousNumberError, ColumnError, quote_names, unguarded
from core.files.json_objects import check_storable
from core.files.reading import NAMES, plain_name
from core.files.refusals import BadFieldError, FileRefusedError, RowCounts
from core.files.tables import FORMATS, ColumnRules, ValueTable, read_table, settle_format
from core.files.text_source import TextSource
from crowd.errors import CrowdError
from crowd.models import Stage
from judgments.models import System
from judgments.questionnaire.config import IMPORTANCE, questionnaire_config
from judgments.questionnaire.rows import csv_lines, written_nuggets
from judgments.questionnaire.sentences import Sentence
from judgments.questionnaire.units import FROM_FILE, keep_materials
from judgments.rating_source import number, short

#: Roles of columns in files of units, with the names that are taken for each.
ROLES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "item", "item_id", "unit", "conversation_id", "conversation", "dialogue_id", "task_id"),
    "question_id": ("question_id", "query_id", "topic_id", "topic", "qid"),
    "question": ("question", "query", *NAMES["question"]),
    "system": ("system", *NAMES["system"]),
    "nuggets": ("nuggets", "rubrics", "rubric", "criteria"),
    "nugget": ("nugget", "criterion", "fact", "nugget_text"),
    "importance": ("importance", "vitality"),
    "points": ("points", "weight"),
    "sentences": ("sentences",),
    "citations": ("citations", "citation", "cited"),
    "passages": ("passages", "contexts", "documents", "retrieved_contexts"),
    "turns": ("turns", "messages", "turn", "input", "dialogue", "utterances"),
    "targets": ("targets", "response", "responses"),
    "prefill": ("prefill",),
}
_SYSTEM_ROLES = {"system", "assistant", "agent", "bot", "model", "ai"}
_PERSON_ROLES = {"user", "human", "person", "customer", "client"}
_TEXTS = ("text", "content", "utterance", "raw_utterance", "message", "query", "question", "value")
_ANSWERS = ("response", "responses", "answer", "reply", "passage", "automatic_response")
_MOST_PARTS, _LONGEST = 400, 50_000
_LINE = re.compile(r"\s*(?:[-*•]\s*)?(?:(vital|okay|ok|[+-]?\d+(?:\.\d+)?)\s*:\s*)?(.+)", re.I)


def citations_of(value: Any) -> list[list[int]]:
    """Numbers of passages for each sentence: a list of lists, or text with bars between sentences."""
    value = _decoded(value)
    if value in (None, "", []):
        return []
    if isinstance(value, str):
        value = [re.findall(r"\d+", part) for part in value.split("|")]
    if not isinstance(value, list) or len(value) > _MOST_PARTS:
        raise BadFieldError("Citations are a list for each sentence, such as [[1], [2, 5], []].", "citations")
    rows = []
    for each in value:
        numbers = each if isinstance(each, list) else [each]
        try:
            rows.append([_positive(entry) for entry in numbers])
        except (TypeError, ValueError) as error:
            raise BadFieldError(
                f"{short(str(each))} names no passages. Write numbers from 1, such as [[1], [2, 5], []].",
                "citations",
            ) from error
    return rows


def _positive(entry: Any) -> int:
    if isinstance(entry, bool) or int(entry) != float(entry) or int(entry) < 1:
        raise ValueError(entry)
    return int(entry)


def nuggets_of(value: Any) -> list[dict[str, Any]]:
    """Nuggets or criteria: a list of texts or objects, or lines such as `vital: text` and `-3: text`."""
    value = _decoded(value)
    if value in (None, "", []):
        return []
    if isinstance(value, str):
        value = [line for line in value.splitlines() if line.strip()]
    if not isinstance(value, list) or len(value) > _MOST_PARTS:
        raise BadFieldError("Nuggets are a list of texts, or one in each line.", "nuggets")
    return [_nugget(each) for each in value]


def _nugget(each: Any) -> dict[str, Any]:
    if isinstance(each, str):
        match = _LINE.fullmatch(each)
        mark, text = (match[1] or "", match[2]) if match else ("", each)
        if number(mark) is not None:
            return nugget(text, points=mark)
        return nugget(text, importance=mark)
    if isinstance(each, Mapping):
        text = next(
            (each[name] for name in ("text", "nugget", "criterion", "criteria", "fact") if name in each), ""
        )
        return nugget(
            text, importance=each.get("importance", ""), points=each.get("points", each.get("weight", ""))
        )
    raise BadFieldError(f"{short(str(each))} is no nugget. Write a text, or text and importance.", "nuggets")


def nugget(text: Any, *, importance: Any = "", points: Any = "") -> dict[str, Any]:
    """One nugget with its importance, or criterion with its points; BadFieldError says what is wrong."""
    words = " ".join(str(text or "").split())
    if not words:
        raise BadFieldError("The nugget is empty. Write what the answer should have.", "nugget")
    if points not in ("", None):
        value = number(str(points))
        if value is None:
            raise BadFieldError(f"The points {short(str(points))} are no number.", "points")
        return {"text": words, "points": value}
    name = str(importance or "vital").strip().casefold()
    if name not in IMPORTANCE:
        raise BadFieldError(f"The importance {short(name)} is neither vital nor okay.", "importance")
    return {"text": words, "importance": IMPORTANCE[name]}


def turns_of(value: Any) -> list[dict[str, str]]:
    """The turns of a conversation, each of a person or the system.

    Objects with a role or speaker and a text; objects with what was asked and what was answered; or texts,
    which take turns beginning with the person.
    """
    value = _decoded(value)
    if not isinstance(value, list) or not value or len(value) > _MOST_PARTS:
        raise BadFieldError("A conversation is a list of turns.", "turns")
    turns: list[dict[str, str]] = []
    for place, each in enumerate(value):
        if isinstance(each, str):
            turns.append({"role": "system" if place % 2 else "person", "text": each.strip()})
        elif isinstance(each, Mapping):
            turns += _turns_of_object(each, place)
        else:
            raise BadFieldError(f"Turn {place + 1} is neither text nor object.", "turns")
    if not all(turn["text"] for turn in turns):
        raise BadFieldError("A turn is empty. Every turn needs a text.", "turns")
    return turns


def _turns_of_object(turn: Mapping[str, Any], place: int) -> list[dict[str, str]]:
    text = next((str(turn[name]).strip() for name in _TEXTS if turn.get(name) not in (None, "")), "")
    role = str(turn.get("role") or turn.get("speaker") or turn.get("author") or turn.get("from") or "")
    name = role.strip().casefold()
    if name and name not in _SYSTEM_ROLES | _PERSON_ROLES:
        raise BadFieldError(f"Turn {place + 1} is of {short(role)}. Say user or system.", "turns")
    answer = next((_first_text(turn[key]) for key in _ANSWERS if turn.get(key) not in (None, "", [])), "")
    if name:
        return [{"role": "system" if name in _SYSTEM_ROLES else "person", "text": text or answer}]
    if text and answer:
        return [{"role": "person", "text": text}, {"role": "system", "text": answer}]
    return [{"role": "system" if answer else "person", "text": text or answer}]


def _cast_id(topic: Any, turns: Any) -> str:
    """CAsT's id of a conversation's last turn, such as 132_2-13: branches of one topic share its number."""
    last = turns[-1] if isinstance(turns, list) and turns else None
    if topic is None or not isinstance(last, Mapping) or "number" not in last:
        return ""
    return id_of(f"{topic}_{last['number']}", "number")


def _first_text(answer: Any) -> str:
    """The text of an answer; of several, as in runs of CAsT, that of the first."""
    if isinstance(answer, list):
        answer = answer[0]
    return str(answer.get("text", "") if isinstance(answer, Mapping) else answer).strip()


def _decoded(value: Any) -> Any:
    """A cell that holds JSON as what it says."""
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


class _AnyColumns(ColumnRules):
    """Every column by its own name; roles are looked up row by row."""

    def map(self, columns: Iterable[str]) -> dict[str, str]:
        """Each as itself."""
        names = [name.strip() for name in columns]
        if len(set(names)) < len(names):
            raise ColumnError("Two columns have the same name. Give each its own.")
        return {name: name for name in names}

    def map_members(self, members: Sequence[str]) -> dict[str, str]:
        """Each as itself."""
        return self.map(members)

    def check(self, source: TextSource, columns: list[str], mapping: Mapping[str, str]) -> None:
        """Nothing is needed of all files."""


@dataclass(slots=True)
class UnitFile:
    """What a file of units brought: contents by key, how it was read, and rows that were refused."""

    materials: dict[str, dict[str, Any]] = field(default_factory=dict)
    read_as: dict[str, Any] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    stored: int = 0


class _Reader:
    """Reads the rows of a file for one stage."""

    def __init__(self, stage: Stage, table: ValueTable) -> None:
        self.stage, self.table = stage, table
        self.unit = questionnaire_config(stage).unit
        self.file = UnitFile()
        self.columns = self._columns()
        self.used = self.merged = 0
        queries = Query.objects.filter(project=stage.project_id).values_list("key", "text")
        self.query_keys: dict[str, str] = {}
        self.known: set[str] = set()
        for key, text in queries.iterator(2000):
            self.known.add(key)
            self.query_keys.setdefault(plain_form(normal(text)), key)
        self.systems = set(System.objects.filter(project=stage.project_id).values_list("name", flat=True))

    def _columns(self) -> dict[str, str]:
        by_plain = {plain_name(column): column for column in self.table.columns}
        return {
            role: next(by_plain[name] for name in names if name in by_plain)
            for role, names in ROLES.items()
            if any(name in by_plain for name in names)
        }

    def read(self) -> UnitFile:
        unread: list[tuple[int, str]] = []
        for line, values in self.table.values(lambda line, reason, **_: unread.append((line, reason))):
            try:
                check_storable(dict(values))
                self._take(line, values)
            except BadFieldError as error:
                self._refuse(line, error.field, str(error))
        for line, reason in unread:
            self._refuse(line, "", reason)
        refused = len(self.file.refused)
        rows = RowCounts(
            self.used + self.merged + refused, used=self.used, merged=self.merged, refused=refused
        )
        self.file.read_as = self.table.reading(rows).as_json()
        if not self.file.materials:
            first = f" {self.file.refused[0]}" if self.file.refused else ""
            raise FileRefusedError(f"{self.table.source.name} has no unit that can be read.{first}")
        return self.file

    def _refuse(self, line: int, field: str, reason: str) -> None:
        at = f"{self.table.source.name}, {self.table.unit} {line}{', ' + field if field else ''}"
        self.file.refused.append(f"{at}: {reason}")

    def _value(self, values: Mapping[str, Any], role: str) -> Any:
        """The cell of a role: objects may have other members than the first one."""
        column = self.columns.get(role)
        if column is not None and values.get(column) not in (None, ""):
            return values[column]
        for name, value in values.items():
            if plain_name(name) in ROLES[role] and value not in (None, ""):
                return value
        return None

    def _take(self, line: int, values: Mapping[str, Any]) -> None:
        match self.unit:
            case "nuggets":
                self._take_nuggets(line, values)
            case "conversation":
                self._take_conversation(line, values)
            case "row":
                self._keep(self._id(values, line), self._row(values), values)
            case "support":
                content = self._support(values)
                self._keep(self._key_of_answer(values), content, values)
            case _:
                prefill = self._prefill(values)
                if not prefill:
                    raise BadFieldError("The row brings nothing: there is no column prefill.", "prefill")
                self._keep(self._key_of_answer(values), {}, values)

    def _keep(self, key: str, content: dict[str, Any], values: Mapping[str, Any]) -> None:
        if prefill := self._prefill(values):
            content["prefill"] = prefill
        if len(json.dumps(content)) > 4 * _LONGEST:
            raise BadFieldError(f"The unit {short(key)} is too long to be read by a person.", "row")
        if key in self.file.materials:
            raise BadFieldError(f"The unit {short(key)} is in the file already. Give each its own id.", "id")
        self.file.materials[key] = content
        self.used += 1

    def _prefill(self, values: Mapping[str, Any]) -> dict[str, Any]:
        prefill = _decoded(self._value(values, "prefill"))
        if prefill is None:
            return {}
        if not isinstance(prefill, dict):
            raise BadFieldError(
                'Prefill is an object of values by field, such as {"support.1.2": "full"}.', "prefill"
            )
        return prefill

    def _take_nuggets(self, line: int, values: Mapping[str, Any]) -> None:
        key = self._question_key(values)
        nuggets = nuggets_of(self._value(values, "nuggets"))
        if not nuggets:
            text = self._value(values, "nugget")
            if text is None:
                raise BadFieldError("The row has no nugget. Name the column nugget or criterion.", "nugget")
            importance, points = self._value(values, "importance"), self._value(values, "points")
            text = unguarded(str(text))
            nuggets = [nugget(text, importance=importance or "", points="" if points is None else points)]
        known = self.file.materials.get(key, {}).get("nuggets", [])
        texts = {each["text"] for each in known}
        new = [each for each in nuggets if each["text"] not in texts]
        if not new:
            raise BadFieldError("The question has this nugget already.", "nugget")
        if len({"points" in each for each in (*known, *new)}) > 1:
            raise BadFieldError("Nuggets with importance and criteria with points do not mix.", "points")
        self.used, self.merged = self.used + (not known), self.merged + bool(known)
        self.file.materials[key] = {"nuggets": [*known, *new]}

    def _take_conversation(self, line: int, values: Mapping[str, Any]) -> None:
        turns = self._value(values, "turns")
        targets = _decoded(self._value(values, "targets"))
        decoded = _decoded(turns)
        if isinstance(targets, list) and isinstance(decoded, list):
            decoded = [*decoded, *targets]
        read = turns_of(decoded)
        if not any(turn["role"] == "system" for turn in read):
            raise BadFieldError("No turn is the system's, so there is nothing to judge.", "turns")
        content: dict[str, Any] = {"turns": read}
        if system := self._value(values, "system") or values.get("run_name"):
            content["system"] = " ".join(str(system).split())
        if passages := self._passages(values):
            content["passages"] = passages
        self._keep(_cast_id(values.get("number"), decoded) or self._id(values, line), content, values)

    def _support(self, values: Mapping[str, Any]) -> dict[str, Any]:
        content: dict[str, Any] = {}
        if passages := self._passages(values):
            content["passages"] = passages
        sentences, citations = _decoded(self._value(values, "sentences")), self._value(values, "citations")
        rows = citations_of(citations)
        if sentences is not None:
            if not isinstance(sentences, list) or not sentences:
                raise BadFieldError("Sentences are a list of texts, or of texts with citations.", "sentences")
            if rows and len(rows) != len(sentences):
                raise BadFieldError(
                    f"There are citations for {len(rows)} of {len(sentences)} sentences. Give each a list.",
                    "citations",
                )
            content["sentences"] = [
                _sentence(each, rows[place] if rows else None) for place, each in enumerate(sentences)
            ]
        elif rows:
            content["citations"] = rows
        if not content and not self._prefill(values):
            raise BadFieldError("The row brings neither sentences, citations nor passages.", "sentences")
        return content

    def _passages(self, values: Mapping[str, Any]) -> list[str]:
        passages = _decoded(self._value(values, "passages"))
        if passages is None:
            return []
        if isinstance(passages, str):
            return [passages]
        if not isinstance(passages, list):
            raise BadFieldError("Passages are a list of texts.", "passages")
        texts = []
        for each in passages:
            text = (
                each.get("text") or each.get("segment") or each.get("passage")
                if isinstance(each, Mapping)
                else each
            )
            if not isinstance(text, str) or not text.strip():
                raise BadFieldError("A passage has no text.", "passages")
            texts.append(text.strip())
        return texts

    def _row(self, values: Mapping[str, Any]) -> dict[str, Any]:
        skipped = {self.columns.get("prefill")}
        columns = {
            name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for name, value in values.items()
            if name not in skipped and value not in (None, "")
        }
        if not columns:
            raise BadFieldError("The row is empty.", "row")
        return {"columns": columns}

    def _id(self, values: Mapping[str, Any], line: int) -> str:
        value = self._value(values, "id")
        return id_of(value, "id") if value is not None else f"{line}"

    def _question_key(self, values: Mapping[str, Any]) -> str:
        key = self._value(values, "question_id")
        if key is None:
            key = self._value(values, "id") if str(self._value(values, "id")) in self.known else None
        if key is not None:
            if str(key) in self.known:
                return str(key)
            if self._value(values, "question") is None:
                raise BadFieldError(
                    f"The project has no question of the id {short(str(key))}.", "question_id"
                )
        text = self._value(values, "question")
        if text is None:
            raise BadFieldError("The row names no question. Give its id or its text.", "question_id")
        found = self.query_keys.get(plain_form(normal(str(text))))
        if found is None:
            raise BadFieldError(f"The project has no question {short(str(text))}.", "question")
        return found

    def _key_of_answer(self, values: Mapping[str, Any]) -> str:
        key, system = self._question_key(values), " ".join(str(self._value(values, "system") or "").split())
        if system not in self.systems:
            names = quote_names(sorted(self.systems))
            raise BadFieldError(f"The project has no system {short(system)}; it has {names}.", "system")
        return f"{key}/{system}"


def _sentence(each: Any, citations: list[int] | None) -> dict[str, Any]:
    text = each.get("text") if isinstance(each, Mapping) else each
    if not isinstance(text, str) or not text.strip():
        raise BadFieldError("A sentence has no text.", "sentences")
    if citations is None:
        own = each.get("citations", []) if isinstance(each, Mapping) else []
        citations = [entry for row in citations_of([own] if own else []) for entry in row]
    return Sentence(text.strip(), tuple(dict.fromkeys(citations))).as_json()


def import_units(
    *, stage: Stage, path: Path, encoding: str = "", sheet: str = "", name: str = ""
) -> UnitFile:
    """Read a file of units and keep what it brings; FileRefusedError or CrowdError, and nothing is stored."""
    config = questionnaire_config(stage)
    source = TextSource(path, name=name or path.name, encoding=encoding, sheet=sheet)
    usual = {each for names in ROLES.values() for each in names}
    format = settle_format(source, "auto", {"auto": "", **FORMATS}, column_names=usual)
    try:
        table = read_table(source, format=format, header=True, rules=_AnyColumns())
        file = _Reader(stage, table).read()
    except (ColumnError, AmbiguousNumberError) as error:
        raise FileRefusedError(f"{source.name}: {error}") from error
    if config.unit in FROM_FILE and config.columns:
        columns = {name for content in file.materials.values() for name in content.get("columns", ())}
        if missing := [name for name in config.columns if name not in columns]:
            raise FileRefusedError(
                f"{source.name} has no column {missing[0]!r}, which the stage shows; it has "
                f"{quote_names(sorted(columns))}."
            )
    file.stored = keep_materials(stage, file.materials)
    return file


def nugget_stages(stage: Stage) -> list[Stage]:
    """The stages in which people write nuggets that this one can ask about."""
    if questionnaire_config(stage).unit != "nuggets":
        return []
    others = Stage.objects.filter(project=stage.project_id, kind=stage.kind).exclude(pk=stage.pk)
    rows = others.select_related("project").order_by("pk")
    return [each for each in rows if questionnaire_config(each).takes_nuggets]


def take_nuggets(*, stage: Stage, source: str) -> UnitFile:
    """Bring in the nuggets that people wrote in another stage of the project, as their file would."""
    written = {each.slug: each for each in nugget_stages(stage)}.get(source)
    if written is None:
        raise CrowdError(f"The project has no stage {source!r} in which people write nuggets for this one.")
    head, *lines = csv_lines(written_nuggets(written))
    if not lines:
        raise CrowdError(f"People have written no nuggets in the stage {source!r} yet.")
    with tempfile.NamedTemporaryFile("w", suffix=".csv", encoding="utf-8", newline="") as copy:
        copy.writelines([head, *lines])
        copy.flush()
        name = f"{source}-nuggets.csv"
        return import_units(stage=stage, path=Path(copy.name), encoding="utf-8", name=name)
