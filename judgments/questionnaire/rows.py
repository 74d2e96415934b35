"""Responses as rows: one for each field and part, and as tables that other commands read.

Answers of a pair are named by their systems, never by a side; which one a person saw first is in the row.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import DEFAULT_DB_ALIAS

from core.files.cells import cell, csv_line_writer
from crowd.models import Stage
from crowd.selectors.pseudonyms import worker_pseudonyms
from judgments.models import Candidate, QuestionnaireUnit, UnitResponse
from judgments.questionnaire.config import LEFT, RIGHT, WRITTEN, QuestionnaireConfig, QuestionnaireField
from judgments.questionnaire.prompts import Prompt, nugget_lines, prompts_of
from judgments.questionnaire.sentences import count_citations
from judgments.questionnaire.units import UNASKED, counted_responses

_CHUNK = 2_000
_OTHER = {LEFT: RIGHT, RIGHT: LEFT}
#: What stands for a worker in rows about answers that cite nothing, about which no one is prompt.
_NO_ONE = "-"
Table = tuple[Sequence[str], Iterator[Sequence[Any]]]
#: Headings, items of lists and bold words.
_MARKDOWN = re.compile(r"^ {0,3}(?:#{1,6}|[-*+•]|\d{1,3}[.)])[ \t]|\*\*[^*\n]+\*\*|__[^_\n]+__", re.MULTILINE)


def _count_markdown(text: str) -> int:
    return len(_MARKDOWN.findall(text))


#: Numbers of an answer that may decide what people prefer, whatever it says: characters, marks, formats.
STYLES: Mapping[str, Callable[[str], int]] = {
    "length": len,
    "citations": count_citations,
    "markdown": _count_markdown,
}


@dataclass(frozen=True, slots=True)
class FieldAnswer:
    """A field that a person answered about a unit or a part of it."""

    response: UnitResponse
    prompt: Prompt
    value: Any

    @property
    def unit(self) -> QuestionnaireUnit:
        """What it is about."""
        return self.response.unit

    @property
    def named_value(self) -> Any:
        """The value; of a pair the system that won."""
        if self.prompt.field.compares and self.value in _OTHER and self.unit.other_id is not None:
            return system_of(self.unit, self.value)
        return self.value

    @property
    def is_prefilled(self) -> bool:
        """The person was shown a value to begin with."""
        prefill = self.unit.content.get("prefill") or {}
        return self.prompt.field.prefill and self.prompt.name in prefill


def system_of(unit: QuestionnaireUnit, side: str = LEFT) -> str:
    """The system of a unit, of a pair of a side of its key; empty where there is none."""
    candidate = unit.other if side == RIGHT else unit.candidate
    if candidate is not None:
        return candidate.system.name
    columns = unit.content.get("columns") or {}
    return str(unit.content.get("system") or columns.get("system") or columns.get("model") or "")


def item_of(unit: QuestionnaireUnit) -> str:
    """What answers of several systems have in common: the question, or the unit's own item."""
    if unit.query is not None:
        return str(unit.query.key)
    columns = unit.content.get("columns") or {}
    return str(columns.get("question_id") or columns.get("item") or unit.key)


def responses_of(stage: Stage, *, using: str = DEFAULT_DB_ALIAS) -> Iterator[UnitResponse]:
    """Responses that count, in the order in which they came, with all that rows need."""
    rows = counted_responses(stage, using)
    related = ("unit__query", "unit__candidate__system", "unit__other__system", "worker")
    return rows.select_related(*related).order_by("pk").iterator(_CHUNK)


def field_answers_of(response: UnitResponse, config: QuestionnaireConfig) -> Iterator[FieldAnswer]:
    """All fields that a response has a value for."""
    for prompt in prompts_of(response.unit, config):
        value = response.values.get(prompt.field.name)
        if prompt.part:
            value = value.get(prompt.part) if isinstance(value, Mapping) else None
        if value is not None:
            yield FieldAnswer(response, prompt, value)


class Names:
    """Pseudonyms of workers, looked up once."""

    def __init__(self, stage: Stage) -> None:
        self._project, self._names = stage.project, dict[int, str]()

    def __getitem__(self, worker: int) -> str:
        if worker not in self._names:
            self._names |= worker_pseudonyms(self._project, [worker])
        return self._names[worker]


def response_rows(stage: Stage, config: QuestionnaireConfig) -> Iterator[dict[str, Any]]:
    """A row for each field that a person answered."""
    names = Names(stage)
    for response in responses_of(stage):
        for field_answer in field_answers_of(response, config):
            yield response_row(field_answer, names[response.worker_id])


def response_row(field_answer: FieldAnswer, person: str) -> dict[str, Any]:
    """One row as files have it. Of a pair `left` and `right` are what the person saw there."""
    response, unit = field_answer.response, field_answer.unit
    row: dict[str, Any] = {"person": person, "unit": unit.key, "question_id": item_of(unit)}
    if unit.other_id is not None:
        left, right = sides_seen(response)
        row |= {"left": left, "right": right}
    else:
        row["system"] = system_of(unit)
    row |= {
        "field": field_answer.prompt.field.name,
        "part": field_answer.prompt.part,
        "value": field_answer.named_value,
    }
    row |= {"simulated": response.worker.simulated, "prefilled": field_answer.is_prefilled}
    return row | {"at": response.at.isoformat(timespec="seconds")}


def sides_seen(response: UnitResponse) -> tuple[str, str]:
    """The systems at the left and at the right, as the person saw them."""
    pair = (system_of(response.unit, LEFT), system_of(response.unit, RIGHT))
    return (pair[1], pair[0]) if response.flipped else pair


# Tables that commands read.


def csv_lines(table: Table) -> Iterator[str]:
    """A table as lines of CSV."""
    line, (columns, rows) = csv_line_writer(), table
    yield line(columns)
    for row in rows:
        yield line(row)


def pair_table(stage: Stage, config: QuestionnaireConfig, using: str = DEFAULT_DB_ALIAS) -> Table:
    """A row for each person and pair: a column for each field that compares, and for style of either side."""
    fields = [field for field in config.fields if field.compares]
    styles = [f"{style}_{side}" for side in (LEFT, RIGHT) for style in STYLES]

    def rows() -> Iterator[Sequence[Any]]:
        names = Names(stage)
        for response in responses_of(stage, using=using):
            unit = response.unit
            left, right = sides_seen(response)
            values = [_as_seen(response, field) for field in fields]
            sides = [_styles_of(candidate) for candidate in (unit.candidate, unit.other)]
            of_left, of_right = reversed(sides) if response.flipped else sides
            worker, simulated = names[response.worker_id], int(response.worker.simulated)
            yield (item_of(unit), left, right, worker, *values, *of_left, *of_right, simulated)

    columns = ("item", "left", "right", "worker", *(field.name for field in fields), *styles, "simulated")
    return columns, rows()


def _styles_of(candidate: Candidate | None) -> list[int]:
    """The numbers of style of an answer."""
    return [count(candidate.text if candidate is not None else "") for count in STYLES.values()]


def _as_seen(response: UnitResponse, field: QuestionnaireField) -> str:
    value = str(response.values.get(field.name) or "")
    return _OTHER.get(value, value) if response.flipped else value


def protocol_of(config: QuestionnaireConfig) -> str:
    """Which protocol of support, nuggets or rubrics the fields are those of; empty for none."""
    by_name = config.by_name
    if config.unit == "support":
        if {"interpretable", "attributable"} <= by_name.keys():
            return "ais"
        support = by_name.get("support")
        if (
            support is None
            or support.per != "citation"
            or set(support.options) != {"full", "partial", "none"}
        ):
            return ""
        recall = by_name.get("recall")
        return "alce" if recall is not None and recall.per == "sentence" else "trec"
    if config.unit == "nuggets":
        label, met = by_name.get("label"), by_name.get("met")
        if label is not None and set(label.options) == {"support", "partial", "not"}:
            return "nuggets"
        return "rubric" if met is not None and met.type == "yesno" else ""
    return ""


def protocol_table(stage: Stage, config: QuestionnaireConfig, using: str = DEFAULT_DB_ALIAS) -> Table | None:
    """The table that `support` or `nuggets` reads; None where the fields are of no such protocol."""
    match protocol_of(config):
        case "ais":
            return _ais_table(stage, using)
        case "alce" | "trec" as protocol:
            return _citation_table(stage, using, recall=protocol == "alce")
        case "nuggets" | "rubric" as protocol:
            return _nugget_table(stage, using, rubric=protocol == "rubric")
    return None


def _ais_table(stage: Stage, using: str) -> Table:
    def rows() -> Iterator[Sequence[Any]]:
        names = Names(stage)
        for response in responses_of(stage, using=using):
            unit, values = response.unit, response.values
            attributable = values.get("attributable", {})
            about = (item_of(unit), system_of(unit), names[response.worker_id])
            for sentence, interpretable in values.get("interpretable", {}).items():
                simulated = int(response.worker.simulated)
                yield (*about, sentence, interpretable, attributable.get(sentence, ""), simulated)

    return ("item", "system", "worker", "sentence", "interpretable", "attributable", "simulated"), rows()


def _citation_table(stage: Stage, using: str, *, recall: bool) -> Table:
    def rows() -> Iterator[Sequence[Any]]:
        names = Names(stage)
        for response in responses_of(stage, using=using):
            unit, labels = response.unit, response.values.get("support", {})
            recalled = response.values.get("recall", {})
            about = (item_of(unit), system_of(unit), names[response.worker_id])
            simulated = int(response.worker.simulated)
            for number, sentence in enumerate(unit.content["sentences"], 1):
                if recall and str(number) in recalled:
                    yield (*about, number, "", recalled[str(number)], simulated)
                elif not recall and not sentence["citations"]:
                    yield (*about, number, "", "", simulated)
                for citation in sentence["citations"]:
                    if (label := labels.get(f"{number}.{citation}")) is not None:
                        yield (*about, number, citation, label, simulated)
        if not recall:
            yield from _unasked(stage, using)

    return ("item", "system", "worker", "sentence", "citation", "label", "simulated"), rows()


def _unasked(stage: Stage, using: str) -> Iterator[Sequence[Any]]:
    """Sentences of answers that cite nothing."""
    units = QuestionnaireUnit.objects.using(using).filter(stage=stage, gold={}, content__has_key=UNASKED)
    for unit in units.select_related("query", "candidate__system").order_by("key").iterator(_CHUNK):
        for number in range(1, len(unit.content["sentences"]) + 1):
            yield (item_of(unit), system_of(unit), _NO_ONE, number, "", "", 0)


def written_nuggets(stage: Stage) -> Table:
    """Nuggets that people wrote, in the columns that a stage of nuggets reads; the same text once.

    Texts that differ in case or white space are the same. Vital is what at least half of its writers say.
    """

    def rows() -> Iterator[Sequence[Any]]:
        names = Names(stage)
        by_text: dict[tuple[str, str], list[tuple[str, str, str]]] = defaultdict(list)
        for response in responses_of(stage):
            for _, importance, text in nugget_lines(response.values.get(WRITTEN, "")):
                entry = (text, importance, names[response.worker_id])
                by_text[item_of(response.unit), text.casefold()].append(entry)
        for (item, _), entries in sorted(by_text.items()):
            vital = sum(importance == "vital" for _, importance, _ in entries)
            importance = "vital" if 2 * vital >= len(entries) else "okay"
            people = sorted({person for *_, person in entries})
            yield (item, cell(entries[0][0]), importance, len(people), " ".join(people))

    return ("question_id", "nugget", "importance", "written_by", "people"), rows()


def _nugget_table(stage: Stage, using: str, *, rubric: bool) -> Table:
    name = "met" if rubric else "label"

    def rows() -> Iterator[Sequence[Any]]:
        names = Names(stage)
        for response in responses_of(stage, using=using):
            unit, labels = response.unit, response.values.get(name, {})
            about = (item_of(unit), system_of(unit), names[response.worker_id])
            for number, nugget in enumerate(unit.content["nuggets"], 1):
                weight = nugget.get("points", 1) if rubric else nugget.get("importance", "vital")
                if (label := labels.get(str(number))) is not None:
                    yield (*about, nugget["text"], weight, label, int(response.worker.simulated))

    columns = ("criterion", "points", "met") if rubric else ("nugget", "importance", "label")
    return ("item", "system", "worker", *columns, "simulated"), rows()
