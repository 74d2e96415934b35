"""SQuAD 1.1 and 2.0: one JSON document of articles, their paragraphs and the questions about them."""

from collections.abc import Iterator
from typing import Any

from annotation.importing import fields
from annotation.importing.jsonlines import ObjectReader
from annotation.importing.records import Passage, Record
from core.files.json_objects import JsonStream, Object
from core.files.refusals import BadFieldError, FileRefusedError, Refuse, RefuseRecord


class SquadReader(ObjectReader):
    """SQuAD 1.1 and 2.0 (Rajpurkar et al. 2016, 2018): the paragraph is the candidate passage.

    Its offsets count in the article, taken as its paragraphs with a newline between them.
    """

    format = "squad"
    unit = "question"

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._question = 0

    @property
    def description(self) -> str:
        """The format in words."""
        return "SQuAD"

    def objects(self, refuse: Refuse) -> Iterator[tuple[int, Object]]:
        """Its articles, with the number of the question before them."""
        stream = JsonStream(self.source)
        found, self._question = False, 0
        for name in stream.members():
            if name != "data":
                stream.value()
                continue
            found = True
            if stream.peek() != "[":
                raise stream.wrong("the member 'data' is no list")
            for _ in stream.items():
                value, _text = stream.value()
                if not isinstance(value, dict):
                    raise stream.wrong("an article is no object")
                yield self._question + 1, value
        stream.finish()
        if not found:
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
    impossible = fields.yes_no_of(value.get("is_impossible")) or False
    if impossible and answers:
        raise BadFieldError("The labels contradict each other: is_impossible with answers.")
    texts = fields.texts_of(answers, "answers")
    passage.selected = not impossible and bool(texts)
    record = fields.record_of(
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
