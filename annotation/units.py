"""Units in the stages of this app, `query:17` and `check:…`: their names, exclusions, texts and truths."""

from collections.abc import Iterable, Mapping
from typing import Any

from annotation.models import Query

# Names of what somebody may not do because of what they did before.
#
# Kinds of stages agree on them and need not know each other: whoever screened or curated a query gets
# `distil(query)` and writes no answer to it; whoever wrote one gets `judge(query)` and judges none of them.


def distil_scope(query: int) -> str:
    """Writing an answer to this query."""
    return f"query:{query}:distil"


def judge_scope(query: int) -> str:
    """Judging answers to this query."""
    return f"query:{query}:judge"


# What simulated editors know of a query: the column `truth` of its file, an object.


def simulated_truth(extra: Mapping[str, Any]) -> Mapping[str, Any]:
    """The truth among what else a query's file said; nothing where it has none."""
    columns = extra.get("columns")
    truth = columns.get("truth") if isinstance(columns, Mapping) else extra.get("truth")
    return truth if isinstance(truth, Mapping) else {}


def known_score(extra: Mapping[str, Any], system: str) -> float | None:
    """How correct a system's answer to the query is, where its file says so: `scores` by system."""
    scores = simulated_truth(extra).get("scores")
    score = scores.get(system) if isinstance(scores, Mapping) else None
    return float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None


def known_scale(extra: Mapping[str, Any]) -> tuple[float, float] | None:
    """The lowest and the highest of these scores, where the file names them: `scale`, such as [1, 5]."""
    ends = simulated_truth(extra).get("scale")
    if not isinstance(ends, list) or len(ends) != 2:
        return None
    if not all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends):
        return None
    return (float(ends[0]), float(ends[1])) if ends[0] < ends[1] else None


PREFIX = "query:"


def of_query(pk: int) -> str:
    """The unit of a query."""
    return f"{PREFIX}{pk}"


def query_of(unit: str) -> int:
    """The query of a unit; ValueError where the unit is not one of a query."""
    if not unit.startswith(PREFIX):
        raise ValueError(f"{unit!r} is not the unit of a query.")
    return int(unit.removeprefix(PREFIX))


# What researchers read for the units of this app.


def texts_of(units: Iterable[str]) -> dict[str, str]:
    """The texts of the queries among these units, in one question to the database."""
    keys = {query_of(unit): unit for unit in units if unit.startswith(PREFIX)}
    rows = Query.objects.filter(pk__in=keys).values_list("pk", "text")
    return {keys[pk]: text for pk, text in rows}
