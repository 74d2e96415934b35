"""Names of columns and members, ours and those that people use."""

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
