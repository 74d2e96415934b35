"""Which column of a table of human scores holds what: as given, the rest by the names that people use."""

import re
from collections.abc import Iterable, Mapping, Sequence

from core.files.cells import ColumnError, quote_names

#: Fields that one column holds, each with the names that are taken for it, the likeliest first.
ONE: dict[str, tuple[str, ...]] = {
    "query_id": ("query_id", "qid", "question_id", "queryid"),
    "query": ("query", "question", "query_text", "question_text", "prompt", "q"),
    "system": ("system", "model", "system_name", "model_name", "system_id", "run"),
    "answer": (
        "answer",
        "candidate",
        "response",
        "prediction",
        "candidate_answer",
        "system_answer",
        "hypothesis",
        "output",
        "text",
    ),
    "score": (
        "score",
        "scores",
        "mean",
        "mean_score",
        "score_mean",
        "human",
        "human_score",
        "human_scores",
        "human_mean",
        "human_judgment",
        "human_judgement",
        "correctness",
        "average",
        "avg",
    ),
    "n": ("n", "n_ratings", "num_ratings", "n_judgments", "raters"),
    "type": ("type", "query_type", "question_type"),
    "context": ("context_turns", "history", "previous_turns"),
    "simulated": ("simulated", "is_simulated"),
}
#: Fields that several columns may hold together, each with the shape of their names.
SEVERAL: dict[str, re.Pattern[str]] = {
    "references": re.compile(
        r"(references?|refs?|gold|gold_(reference|answer)s?|reference_answers?|targets?)[ _-]?\d*"
    ),
    "passages": re.compile(r"(passages?|contexts?|paragraphs?|documents?)[ _-]?\d*"),
    "ratings": re.compile(
        r"ratings?|(ratings?|scores?|judges?|annotators?|workers?|raters?|humans?|human_scores?)[ _-]?\d+"
    ),
}
FIELDS = (*ONE, *SEVERAL)
_BETWEEN = "/"


def mapped(columns: Iterable[str], given: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Which column holds which field; the columns of a field of several are `references/1`, `references/2` …

    `given` names the columns of a field; none or an empty name keeps the field from being looked for.
    ColumnError for a field that there is not, a column that the file has not, or two for a field of one.
    """
    there = [column.strip() for column in columns]
    found: dict[str, str] = {}
    for field, theirs in given.items():
        wanted = [name.strip() for name in theirs if name.strip()]
        if field not in FIELDS:
            raise ColumnError(f"There is no field {field!r}; there are: {', '.join(FIELDS)}.")
        if missing := [name for name in wanted if name not in there]:
            raise ColumnError(f"There is no column {missing[0]!r}; the file has: {quote_names(there)}.")
        if field in ONE and len(wanted) > 1:
            raise ColumnError(f"The field {field!r} takes one column, and {len(wanted)} are named.")
        found |= {_place(field, number): name for number, name in enumerate(wanted, 1)}
    taken = set(found.values())
    for field, known in ONE.items():
        likely = None if field in given else _likely(there, known, taken)
        if likely is not None:
            found[field] = likely
            taken.add(likely)
    for field, shape in SEVERAL.items():
        if field not in given:
            fits = [name for name in there if name not in taken and shape.fullmatch(_plain(name))]
            found |= {_place(field, number): name for number, name in enumerate(fits, 1)}
            taken.update(fits)
    return found


def several(values: Mapping[str, object], field: str) -> list[object]:
    """The values of a field's columns, in their order."""
    start = f"{field}{_BETWEEN}"
    return [value for place, value in values.items() if place.startswith(start)]


def _likely(there: Sequence[str], known: Sequence[str], taken: set[str]) -> str | None:
    by_name = {_plain(name): name for name in reversed(there) if name not in taken}
    return next((by_name[name] for name in known if name in by_name), None)


def _plain(name: str) -> str:
    return name.casefold().replace(" ", "_")


def _place(field: str, number: int) -> str:
    return field if field in ONE else f"{field}{_BETWEEN}{number}"


__all__ = ["FIELDS", "ONE", "SEVERAL", "ColumnError", "mapped", "several"]
