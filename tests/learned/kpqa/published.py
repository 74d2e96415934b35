"""Small files in exactly the shapes in which question answering sets are published."""

import copy
import json
from pathlib import Path
from typing import Any

NORMANS = (
    "The Normans were the people who in the 10th and 11th centuries gave their name to Normandy, a region in "
    "France. They were descended from Norse raiders and pirates from Denmark, Iceland and Norway. Their "
    "leader, Rollo, agreed to swear fealty to King Charles III of West Francia."
)
TESLA = "Nikola Tesla was born on 10 July 1856. Mr. Tesla died in New York. He was 86."


def asked(question: str, *answers: tuple[str, int], **more: Any) -> dict[str, Any]:
    given = [{"text": text, "answer_start": start} for text, start in answers]
    return {"id": "56ddde6b9a695914005b9628", "question": question, "answers": given, **more}


def at(context: str, text: str) -> tuple[str, int]:
    return text, context.index(text)


def squad(*paragraphs: tuple[str, list[dict[str, Any]]], **more: Any) -> dict[str, Any]:
    """Version 1.1, or any other with `more`."""
    made = [{"context": context, "qas": questions} for context, questions in paragraphs]
    return {"data": [{"title": "Normans", "paragraphs": made}], **more}


SQUAD_1 = squad(
    (
        NORMANS,
        [
            asked("In what country is Normandy located?", at(NORMANS, "France")),
            asked("Who was the Norse leader?", at(NORMANS, "Rollo")),
        ],
    ),
    (TESLA, [asked("When was Tesla born?", at(TESLA, "10 July 1856"))]),
    version="1.1",
)
SQUAD_2 = {
    "version": "v2.0",
    **squad(
        (
            NORMANS,
            [
                asked("In what country is Normandy located?", at(NORMANS, "France"), is_impossible=False),
                asked(
                    "Who gave their name to Paris?",
                    is_impossible=True,
                    plausible_answers=[{"text": "The Normans", "answer_start": 0}],
                ),
            ],
        )
    ),
}

HOTPOTQA = [
    {
        "_id": "5a7a06935542990198eaf050",
        "answer": "Arthur's Magazine",
        "question": "Which magazine was started first Arthur's Magazine or First for Women?",
        "supporting_facts": [["First for Women", 0], ["Arthur's Magazine", 0]],
        "context": [
            ["Radio City (Indian radio station)", ["Radio City is a station.", " It plays songs."]],
            [
                "Arthur's Magazine",
                [
                    "Arthur's Magazine (1844-1846) was an American literary periodical.",
                    " Edited by T.S. Arthur, it featured work by Edgar A. Poe.",
                ],
            ],
            ["First for Women", ["First for Women is a woman's magazine.", " It was started in 1989."]],
        ],
        "type": "comparison",
        "level": "medium",
    },
    {
        "_id": "5a8b57f25542995d1e6f1371",
        "answer": "yes",
        "question": "Were Scott Derrickson and Ed Wood of the same nationality?",
        "supporting_facts": [["Scott Derrickson", 0], ["Ed Wood", 0]],
        "context": [
            ["Ed Wood", ["Ed Wood was an American filmmaker."]],
            ["Scott Derrickson", ["Scott Derrickson is an American director."]],
        ],
        "type": "comparison",
        "level": "hard",
    },
]


def passages(*texts: str, chosen: int = 0) -> list[dict[str, Any]]:
    return [
        {"is_selected": int(place == chosen), "passage_text": text, "url": f"http://example.org/{place}"}
        for place, text in enumerate(texts)
    ]


MARCO_ROWS = [
    {
        "answers": ["It costs about $300."],
        "passages": passages("Prices vary.", "A visit is short. In most towns it costs about $300. Ask."),
        "query": "what does a visit cost",
        "query_id": 19699,
        "query_type": "NUMERIC",
        "wellFormedAnswers": ["A visit costs about $300."],
    },
    {
        "answers": ["No Answer Present."],
        "passages": passages("Nothing is known.", chosen=-1),
        "query": "who was first",
        "query_id": 19700,
        "query_type": "PERSON",
        "wellFormedAnswers": "[]",
    },
    {
        "answers": ["new york city"],
        "passages": passages("The firm sits in New York City. It has 80 people."),
        "query": "where is the firm",
        "query_id": 19701,
        "query_type": "LOCATION",
        "wellFormedAnswers": "[]",
    },
]
MARCO_ROWS[0]["passages"][0]["is_selected"], MARCO_ROWS[0]["passages"][1]["is_selected"] = 0, 1
COLUMNS = ("answers", "passages", "query", "query_id", "query_type", "wellFormedAnswers")


def marco_columns(order: tuple[str, ...] = COLUMNS) -> dict[str, Any]:
    """Version 2.1: an object for each column, by row id."""
    rows = copy.deepcopy(MARCO_ROWS)
    return {name: {str(17 * place): row[name] for place, row in enumerate(rows)} for name in order}


def marco_lines(rows: list[dict[str, Any]] = MARCO_ROWS) -> str:
    """Version 1.1: an object for each question, one in a line, without well-formed answers."""
    kept = ("passages", "query_id", "answers", "query_type", "query")
    return "".join(json.dumps({name: row[name] for name in kept}) + "\n" for row in rows)


def written(path: Path, given: Any) -> Path:
    path.write_text(given if isinstance(given, str) else json.dumps(given), encoding="utf-8")
    return path
