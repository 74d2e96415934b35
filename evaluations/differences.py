"""The answers on which a metric and people differ most, with their texts (Lee et al. 2021, 5.4)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from evaluations.errors import EvaluationError
from evaluations.report.parts import Differences
from evaluations.scores import Part
from evaluations.tables.first_pass import AnswerColumns
from evaluations.tables.rows import AnswerTable
from metrics.base import Floats
from metrics.metaeval.data import ScoredAnswers
from metrics.metaeval.disagreement import MOST, Disagreement, largest_differences

FILE = "differences.csv"
_NO_TYPE = "(no type)"


def refuse_unknown(names: Sequence[str], known: Sequence[str]) -> None:
    """EvaluationError for a metric that is not evaluated."""
    for name in names:
        if name not in known:
            raise EvaluationError(
                f"--differences {name}: that metric is not evaluated. There are: {', '.join(known)}."
            )


def list_differences(
    table: AnswerTable, gathered: AnswerColumns, judged: ScoredAnswers, names: Sequence[str], most: int = MOST
) -> dict[str, Any]:
    """For each metric the answers with the largest differences in rank, and how many there are by type.

    The table is read once more for the texts of these answers alone.
    """
    listed = {name: largest_differences(judged, name, most) for name in names}
    wanted = {each.row for found in listed.values() for each in found}
    rows = {at: row for at, row in enumerate(table.rows()) if at in wanted}

    def entry(each: Disagreement) -> dict[str, Any]:
        row, question = rows[each.row], gathered.questions[each.row]
        return {
            "row": each.row + 1,
            "id": row.id,
            "question": row.question or gathered.question_names[question],
            "system": gathered.system_names[gathered.systems[each.row]],
            "type": gathered.types[question] if gathered.types else "",
            "answer": row.answer,
            "references": row.references,
            "human": each.human,
            "metric": each.metric,
            "human_rank": each.human_rank,
            "metric_rank": each.metric_rank,
            "difference": each.difference,
        }

    metrics = {}
    for name, found in listed.items():
        answers = [entry(each) for each in found]
        counts = Counter(each["type"] or _NO_TYPE for each in answers)
        metrics[name] = {
            "answers": answers,
            "types": dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))),
        }
    return {"most": most, "metrics": metrics}


def difference_parts(differences: Differences) -> Iterator[Part]:
    """The list as rows of `differences.csv`."""
    for name, entry in differences.metrics.items():
        answers = entry.answers
        texts: dict[str, Sequence[str | int | None]] = {
            "name": [name] * len(answers),
            "row": [each.row for each in answers],
            "id": [each.id for each in answers],
            "question": [each.question for each in answers],
            "system": [each.system for each in answers],
            "type": [each.type for each in answers],
            "answer": [each.answer for each in answers],
            "references": [" | ".join(each.references) for each in answers],
        }
        numbers: dict[str, Floats] = {
            "human": np.array([each.human for each in answers], np.float64),
            "metric": np.array([each.metric for each in answers], np.float64),
            "human_rank": np.array([each.human_rank for each in answers], np.float64),
            "metric_rank": np.array([each.metric_rank for each in answers], np.float64),
            "difference": np.array([each.difference for each in answers], np.float64),
        }
        yield texts, numbers
