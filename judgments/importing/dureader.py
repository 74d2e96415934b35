"""Results as DuReader's evaluation takes them (He et al. 2018): one question a line.

    {"question_id": 181574, "question_type": "YES_NO", "answers": ["…"], "yesno_answers": ["Yes"],
     "entity_answers": [[]]}

The first release names the members query_id, query_type and entities. Lists go together: the first label and
the first list of entities are those of the first answer. The evaluation scores the first answer of a
question, so that one is the system's; further ones are counted. A line without answers is a question that the
system left out.
"""

from typing import Any

from judgments.importing.rows import Row, RowRefusedError, row_of

Object = dict[str, Any]


def is_result(value: Object) -> bool:
    """Whether an object is a line of results."""
    named = "question_id" in value or "query_id" in value
    return (
        named
        and isinstance(value.get("answers"), list)
        and bool(value.keys() & {"yesno_answers", "entity_answers"})
    )


def row_of_result(value: Object, *, line: int, system: str) -> tuple[Row, int]:
    """The row of a line, and how many answers it gives beyond the first; or RowRefusedError."""
    answers = _list(value, "answers")
    opinions = _list(value, "yesno_answers")
    entities = _list(value, "entity_answers" if "entity_answers" in value else "entities")
    if opinions and len(opinions) != len(answers):
        raise RowRefusedError(
            "yesno_answers",
            f"There are {len(opinions):,} yes-no labels for {len(answers):,} answers.",
            "Give one label per answer, or none.",
        )
    first = entities[0] if entities else []
    named = value.get("question_id", value.get("query_id"))
    row = row_of(
        {
            "query_id": named,
            "query": None if named else value.get("question"),
            "system": None,
            "text": answers[0] if answers else None,
            "opinion": opinions[0] if opinions else None,
            "entities": first if isinstance(first, list) else entities,
        },
        line=line,
        system=system,
    )
    return row, max(0, len(answers) - 1)


def _list(value: Object, name: str) -> list[Any]:
    found = value.get(name)
    if found is None:
        return []
    if not isinstance(found, list):
        raise RowRefusedError(
            name, f"The {name} are no list.", "Write them as DuReader's evaluation takes them."
        )
    return found
