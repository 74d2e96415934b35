"""What a statement does, as tests see it on its way to the database."""

_VERBS = ("INSERT", "UPDATE", "DELETE")


def is_write(sql: str) -> bool:
    """Whether a statement adds, changes or deletes rows."""
    text = sql.lstrip("( \n").upper()
    if text.startswith("WITH "):
        return any(f"({verb} " in text for verb in _VERBS)
    return text.startswith(_VERBS)
