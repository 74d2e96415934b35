"""DuReader (He et al. 2018): SPLIT.jsonl, one question a line, with documents, answers and their labels.

A curated passage is a document of one paragraph that is selected. Labels of opinion stand with yes-no
questions alone, as in the published files; an answer without one has No_Opinion. Earlier turns have no place
in the format.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from releases.formats import Written, identifier
from releases.formats.jsonl import on_one_line
from releases.tables import REFERENCES, Row, Source, Table

NAME = "dureader"
NO_OPINION = "No_Opinion"
_SPLIT = REFERENCES.place("split")
_NAMES = REFERENCES.names
#: MS MARCO's classes as DuReader's; a class that is not known is left empty.
_KINDS = {
    "PERSON": "ENTITY",
    "NUMERIC": "ENTITY",
    "LOCATION": "ENTITY",
    "ENTITY": "ENTITY",
    "DESCRIPTION": "DESCRIPTION",
}


@contextmanager
def open_writer(folder: Path, source: Source) -> Iterator["_Writer"]:
    """One file per split of the reference sets."""
    with ExitStack() as files:
        yield _Writer(folder, files)


class _Writer:
    tables = (REFERENCES,)

    def __init__(self, folder: Path, files: ExitStack) -> None:
        self._folder, self._stack = folder, files
        self._files: dict[str, BinaryIO] = {}
        self._written: Counter[str] = Counter()

    def add(self, table: Table, rows: list[Row]) -> None:
        for row in rows:
            name = f"{row[_SPLIT]}.jsonl"
            if name not in self._files:
                self._files[name] = self._stack.enter_context((self._folder / name).open("wb"))
            self._files[name].write(on_one_line(question(row)) + b"\n")
            self._written[name] += 1

    def finish(self) -> Written:
        self._stack.close()
        return dict(self._written)


def question(row: Row) -> dict[str, Any]:
    """A query of the reference sets as one question."""
    values = dict(zip(_NAMES, row, strict=True))
    answers = values["answers"]
    kind = "YES_NO" if values["yes_no"] else _KINDS.get(values["type"] or "", "")
    return {
        "question_id": identifier(values["query_id"]),
        "question": values["query"],
        "question_type": kind,
        "fact_or_opinion": "",
        "documents": [
            {
                "bs_rank_pos": place,
                "title": each["title"] or "",
                "url": each["url"] or "",
                "paragraphs": [each["text"]],
                "most_related_para": 0,
                "is_selected": True,
            }
            for place, each in enumerate(values["passages"])
        ],
        "answers": [each["text"] for each in answers],
        "yesno_answers": [each["opinion"] or NO_OPINION for each in answers] if kind == "YES_NO" else [],
        "entity_answers": [[entity["text"] for entity in each["entities"] or []] for each in answers],
    }
