"""DuReader (He et al. 2018): SPLIT.jsonl, one question a line, with documents, answers and their labels.

A curated passage is a document of one paragraph that is selected. Labels of opinion stand with yes-no
questions alone, as in the published files; an answer without one has No_Opinion. Earlier turns have no place
in the format.
"""

from pathlib import Path
from typing import Any

from releases.formats.identifiers import identifier
from releases.formats.lines import on_one_line
from releases.formats.registry import Written
from releases.source import Progress, Source, by_split
from releases.tables import REFERENCES, Row

NAME = "dureader"
NO_OPINION = "No_Opinion"
#: MS MARCO's classes as DuReader's; a class that is not known is left empty.
_KINDS = {
    "PERSON": "ENTITY",
    "NUMERIC": "ENTITY",
    "LOCATION": "ENTITY",
    "ENTITY": "ENTITY",
    "DESCRIPTION": "DESCRIPTION",
}


def write(folder: Path, source: Source, progress: Progress) -> Written:
    """One file per split of the reference sets."""
    written: Written = {}
    done, total = 0, sum(source.rows.get(REFERENCES.name, {}).values())
    for parts in by_split(source.tables[REFERENCES.name]):
        for split, rows in parts.items():
            name = f"{split}.jsonl"
            with (folder / name).open("ab") as file:
                file.writelines(on_one_line(question(row)) + b"\n" for row in rows)
            written[name] = written.get(name, 0) + len(rows)
            done += len(rows)
        progress(done, total, "DuReader")
    return written


def question(row: Row) -> dict[str, Any]:
    """A query of the reference sets as one question."""
    values = dict(zip(REFERENCES.names, row, strict=True))
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
