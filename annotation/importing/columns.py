"""Names of columns and members, ours and those that people use."""

from collections.abc import Iterable, Mapping

#: Our fields, each with the names that are taken for it, the likeliest first.
NAMES: dict[str, tuple[str, ...]] = {
    "text": ("query", "question", "text", "query_text", "utterance", "raw_utterance", "search_query", "q"),
    "count": ("count", "frequency", "freq", "occurrences", "query_count", "n"),
    "id": ("id", "query_id", "qid", "question_id", "queryid"),
    "type": ("type", "query_type", "answer_type", "class"),
    "yes_no": ("yes_no", "yesno", "is_yes_no", "yes-no"),
    "conversation": (
        "conversation",
        "conversation_id",
        "session",
        "session_id",
        "topic_number",
        "dialogue_id",
    ),
    "turn": ("turn", "turn_number", "turn_id", "turn_no"),
    "passages": ("passages", "candidates", "passage", "contexts"),
    "passage_id": ("passage_id", "pid", "docid", "doc_id", "document_id"),
    "passage_title": ("passage_title", "doc_title", "document_title"),
    "passage_url": ("passage_url", "doc_url", "document_url"),
    "selected": ("is_selected", "selected"),
    "references": ("references", "answers", "reference_answers", "reference", "answer"),
    "context": ("context_turns", "history", "previous_turns"),
}
FIELDS = tuple(NAMES)


class ColumnError(ValueError):
    """Columns that cannot be mapped, in words."""


def mapped(
    columns: Iterable[str], given: Mapping[str, str], names: Mapping[str, tuple[str, ...]] = NAMES
) -> dict[str, str]:
    """Which column holds which of our fields: as given, the rest by name; an empty one in `given` is none.

    `names` are our fields with the names taken for each: those of queries unless another app has its own.
    Raises ColumnError for a field that we do not have, or a column that the file does not have.
    """
    there = [column.strip() for column in columns]
    for ours, theirs in given.items():
        if ours not in names:
            raise ColumnError(f"There is no field {ours!r}; there are: {', '.join(names)}.")
        if theirs and theirs not in there:
            raise ColumnError(f"There is no column {theirs!r}; the file has: {named(there)}.")
    found = {ours: theirs for ours, theirs in given.items() if theirs}
    taken = set(found.values())
    by_name = {column.casefold().replace(" ", "_"): column for column in reversed(there)}
    for ours, known in names.items():
        if ours in given:
            continue
        likely = next(
            (by_name[name] for name in known if name in by_name and by_name[name] not in taken), None
        )
        if likely is not None:
            found[ours] = likely
            taken.add(likely)
    return found


def named(columns: Iterable[str]) -> str:
    """Names of columns for a message, not too long."""
    words = ", ".join(repr(column[:60]) for column in columns)
    return words if len(words) <= 400 else words[:400] + " …"
