"""How a file of rows was read, said the same way by every command, page, report and answer of the API.

    reading = Reading(encoding="cp1252", separator=";", header_row=1, columns={"answer": ["response"]}, ...)
    reading.as_json()   what JSON has under `read_as`
    reading_lines(reading.as_json())   the same as sentences for a terminal or a page

The names by which columns are found are one table, too: `NAMES`, by what a column holds. A reader takes from
it the roles that it knows, and may add names that mean something only there.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.files.refusals import RowCounts, sum_in_words

#: Names of columns by what they hold, the likeliest first; compared as `plain_name` writes them.
NAMES: dict[str, tuple[str, ...]] = {
    "question": ("question", "query", "question_text", "query_text", "prompt", "q"),
    "question_id": ("question_id", "query_id", "qid", "questionid", "queryid", "q_id", "item_id"),
    "answer": (
        "answer",
        "candidate",
        "response",
        "prediction",
        "hypothesis",
        "generated_answer",
        "candidate_answer",
        "system_answer",
        "model_answer",
        "system_output",
        "model_output",
        "output",
        "generated",
        "predicted_answer",
        "predicted",
        "pred",
        "hyp",
        "answer_text",
        "candidate_text",
        "generated_text",
        "system_response",
        "model_response",
    ),
    "score": (
        "scores",
        "human_scores",
        "human_score",
        "human",
        "human_mean",
        "human_avg",
        "mean_human_score",
        "avg_human_score",
        "human_rating",
        "human_ratings",
        "human_judgment",
        "human_judgement",
        "human_eval",
        "score",
        "mean_score",
        "score_mean",
        "mean",
        "rating",
        "mean_rating",
        "correctness",
        "average_score",
        "avg_score",
        "average",
        "avg",
        "quality",
        "mos",
    ),
    "system": ("system", "model", "method", "system_name", "model_name", "system_id", "model_id", "run"),
    "type": ("type", "query_type", "question_type", "qtype", "category"),
    "opinion": ("label", "opinion", "yes_no", "yesno", "answer_opinion", "yesno_answer", "opinion_label"),
    "entities": ("entities", "gold_entities", "entity_answers", "spans"),
    "context": ("context_turns", "history", "previous_turns"),
    "response_filter": ("response_filter",),
    "simulated": ("simulated", "is_simulated"),
    "id": ("id", "candidate_id", "answer_id", "response_id", "example_id", "row_id", "uid"),
    "item": ("item", "item_id", "candidate_id"),
    "worker": (
        "worker",
        "worker_id",
        "workerid",
        "rater",
        "rater_id",
        "annotator",
        "annotator_id",
        "judge",
        "judge_id",
    ),
    "name": ("name", "student", "student_name", "full_name"),
    "email": ("email", "e_mail", "mail", "e_mail_address", "email_address"),
}
#: Shapes of the names of columns of which several may hold one thing together.
SHAPES: dict[str, re.Pattern[str]] = {
    "references": re.compile(
        r"(references?|refs?|golds?|(gold|reference|correct|ref|true|expected|target|gt)_(references?|answers?)"
        r"|ground_?truths?(_answers?)?|targets?|references?_texts?|expected)_?\d*"
    ),
    # A number or a single letter at the end: rating_1, Rater A, annotator_3.
    "ratings": re.compile(
        r"(individual_|single_|raw_|all_)?(ratings|(individual_|single_)scores)"
        r"|(human_)?(ratings?|scores?|raters?|annotators?|judges?|judgments?|workers?|humans?|annotations?)"
        r"(_?\d+|_[a-z])"
    ),
}


def plain_name(name: str) -> str:
    """The name of a column as it is compared: case, blanks, hyphens and points make no difference."""
    return re.sub(r"[\s\-.]+", "_", name.strip().casefold())


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file was read as.

    `encoding` is None for workbooks, `separator` (the character itself) for all but delimited text, `sheet`
    for all but workbooks, `header_row` (a line, or a row of its sheet) where no row names the columns.
    `columns` are the headers by the role that they were read as, `left_out` those that were not read. `rows`
    are counted once the file was read to its end.
    """

    encoding: str | None
    separator: str | None = None
    sheet: str | None = None
    header_row: int | None = None
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    left_out: Sequence[str] = ()
    rows: RowCounts | None = None

    def as_json(self) -> dict[str, Any]:
        """What reports, commands with `--json` and the API have under `read_as`."""
        rows = None
        if self.rows is not None:
            counts = self.rows.as_json()
            rows = {"read": counts.pop("rows_read"), **counts}
        return {
            "encoding": self.encoding,
            "separator": self.separator,
            "sheet": self.sheet,
            "header_row": self.header_row,
            "columns": {role: list(headers) for role, headers in self.columns.items()},
            "left_out": list(self.left_out),
            "rows": rows,
        }


_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks"}
_ORDER = {role: place for place, role in enumerate(NAMES)}


def reading_lines(read_as: Mapping[str, Any]) -> list[str]:
    """What `Reading.as_json` gives, as sentences for people; headers of strangers are quoted as they are."""
    form = []
    if read_as["sheet"] is not None:
        form.append(f"sheet {read_as['sheet']!r}")
    if read_as["encoding"] is not None:
        form.append(read_as["encoding"])
    if read_as["separator"] is not None:
        form.append(f"separated by {_SEPARATORS.get(read_as['separator'], repr(read_as['separator']))}")
    if read_as["header_row"] is not None:
        form.append(f"columns named in row {read_as['header_row']}")
    # As `NAMES` has them, then by name: PostgreSQL keeps members in an order of its own.
    columns = sorted(
        read_as["columns"].items(), key=lambda column: (_ORDER.get(column[0], len(_ORDER)), column[0])
    )
    roles = [f"{role} from {', '.join(headers)}" for role, headers in columns if headers]
    lines = [f"Read as: {'; '.join([*roles, *form])}."]
    if read_as["left_out"]:
        lines.append(f"Columns that were not read: {', '.join(read_as['left_out'])}.")
    if rows := read_as["rows"]:
        lines.append(f"{sum_in_words({**rows, 'rows_read': rows['read']})}.")
    return lines
