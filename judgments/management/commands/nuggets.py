"""`manage.py nuggets`: scores of answers from labels of nuggets or criteria, without a project."""

from collections.abc import Iterator, Mapping
from typing import Any

from judgments.answer_measures import NUGGET_FIELDS, measure_nuggets
from judgments.answer_report import agreement_sentences, mean_text
from judgments.table_command import TableCommand, draw_table
from metrics.figure import NONE
from metrics.nuggets import NAMES


class Command(TableCommand):
    """Reads labels of nuggets, or of a rubric's criteria, and scores answers and systems."""

    help = (
        "Scores of systems from labels of nuggets (item, system, worker, nugget, importance, label) or of a "
        "rubric (criterion, points, met) (docs/preferences.md)."
    )
    fields = NUGGET_FIELDS
    metavar = "FILE"

    def measure(self, options: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
        """Means of each system, and the scores of each answer."""
        return measure_nuggets(options["file"], options, columns)

    def show(self, facts: Mapping[str, Any]) -> Iterator[Any]:
        """A row for each system."""
        if facts["kind"] == "rubric":
            rows = [(each["system"], mean_text(each["score"]), f"{each['n']:,}") for each in facts["systems"]]
            yield draw_table(("system", "score", "answers"), rows)
        else:
            yield draw_table(
                ("system", *(name.replace("_", " ") for name in NAMES), "95 % of vital strict", "answers"),
                [
                    (
                        each["system"],
                        *(NONE if each[name] is None else f"{each[name]:.3f}" for name in NAMES),
                        NONE if each["low"] is None else f"{each['low']:.3f} to {each['high']:.3f}",
                        f"{each['n']:,}",
                    )
                    for each in facts["systems"]
                ],
            )
        yield from agreement_sentences(facts["agreement"])
