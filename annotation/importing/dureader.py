"""DuReader (He et al. 2018): one question a line, with documents, answers and their labels."""

from collections.abc import Iterator
from typing import Any

from annotation.importing import fields
from annotation.importing.jsonlines import ObjectReader
from annotation.importing.records import Passage, Record
from core.files.json_objects import Object
from core.files.refusals import BadFieldError, RefuseRecord

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
        answers = fields.texts_of(value.get("answers"), "answers")
        self._check_labels(value, kind, answers)
        yield Record(
            line=line,
            ordinal=0,
            text=_question(value),
            id=fields.id_of(value.get("question_id")),
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


def _question(value: Object) -> str:
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
        url=fields.web_address(value.get("url")),
        page=f"document {number}",
        start=start,
        end=end,
        selected=fields.selected_of(value.get("is_selected")),
    )
