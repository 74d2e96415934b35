"""The report of an import of queries in sentences, the same on the page and on the command line."""

from collections.abc import Iterator, Mapping
from typing import Any

from annotation.importing.records import quoted

#: Columns that one sentence names; the report has all of them.
_MOST_COLUMNS = 12
_FIELDS = {
    "text": "text",
    "context": "earlier turns",
    "yes_no": "yes-no flag",
    "passage_id": "id of a passage",
    "selected": "selection of a passage",
    "replies": "replies to earlier turns",
}
_OUTCOMES = {
    "first kept": "the first value was kept",
    "line refused": "these lines were refused",
    "both passages kept": "both passages were kept",
}


def differences_in_words(report: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each field in which rows of one query differ, and one for all columns that are no field.

    How many rows, what was kept, and the first example with its lines and values.
    """
    found = report.get("contradictions", ())
    for each in found:
        if each["column"]:
            continue
        name = _FIELDS.get(each["field"], each["field"])
        words = f"The {name} differs in {_how_many(each)}: {_OUTCOMES[each['outcome']]}."
        if each["examples"]:
            first = each["examples"][0]
            words += (
                f" {report['unit'].capitalize()} {first['line']} of {quoted(first['query'])} has "
                f"{quoted(first['value'])}, {report['unit']} {first['first_line']} {quoted(first['kept'])}."
            )
        yield words
    columns = [f"{quoted(each['field'])} ({_how_many(each)})" for each in found if each["column"]]
    if columns:
        further = f" and {len(columns) - _MOST_COLUMNS:,} more" if len(columns) > _MOST_COLUMNS else ""
        yield (
            "Columns that are no field stay as the first row of each query has them; they differ in "
            f"{', '.join(columns[:_MOST_COLUMNS])}{further}."
        )


def _how_many(each: Mapping[str, Any]) -> str:
    rows = "1 row" if each["lines"] == 1 else f"{each['lines']:,} rows"
    queries = "1 query" if each["queries"] == 1 else f"{each['queries']:,} queries"
    return f"{rows} of {queries}"


def nothing_new(report: Mapping[str, Any]) -> bool:
    """Whether an import found nothing that the project did not have."""
    return bool(report.get("already_there")) and not report.get("stored") and not report.get("dry_run")
