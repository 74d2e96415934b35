"""Rows of a file into the database, a batch in one transaction; ids that repeat are faults of the file."""

from collections.abc import Sequence

from django.db import IntegrityError, connection, transaction

from retrieval.models import Corpus, Passage
from retrieval.reading import MOST_FAULTS, PassageFile, Row

#: Passages in one statement: SQLite binds 999 values at least.
_ROWS = 100
_KEYS = 500
_COLUMNS = ("corpus_id", "key", "text", "title", "url", "page", "start", "end", "digest")


def insert(corpus: Corpus, batch: Sequence[tuple[Row, str]], file: PassageFile) -> bool:
    """Insert rows with their digests. False, and nothing of them, when ids repeat; `file` has the faults."""
    first: dict[str, int] = {}
    for row, _ in batch:
        if row.key in first:
            _repeated(file, row, f"the id {row.key[:60]!r} is on {file.unit} {first[row.key]} already")
        first.setdefault(row.key, row.line)
    if file.faults:
        return False
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            for at in range(0, len(batch), _ROWS):
                rows = batch[at : at + _ROWS]
                values = [value for row, digest in rows for value in (corpus.pk, *row[1:], digest)]
                cursor.execute(_insertion(len(rows)), values)
    except IntegrityError:
        known = known_among(corpus, list(first))
        for row, _ in batch:
            if row.key in known:
                _repeated(file, row, f"the id {row.key[:60]!r} is in the corpus already, or further up")
        if not file.faults:
            raise
        return False
    return True


def known_among(corpus: Corpus, keys: Sequence[str]) -> set[str]:
    """Which of these ids passages of the corpus have."""
    held = Passage.objects.filter(corpus=corpus)
    found: set[str] = set()
    for at in range(0, len(keys), _KEYS):
        found.update(held.filter(key__in=keys[at : at + _KEYS]).values_list("key", flat=True))
    return found


def _repeated(file: PassageFile, row: Row, what: str) -> None:
    if len(file.faults) < MOST_FAULTS:
        file.fault(row.line, "id", what, "Give every passage an id of its own.")


def _insertion(rows: int) -> str:
    names = ", ".join(connection.ops.quote_name(name) for name in _COLUMNS)
    places = ", ".join([f"({', '.join(['%s'] * len(_COLUMNS))})"] * rows)
    table = connection.ops.quote_name(Passage._meta.db_table)
    return f"INSERT INTO {table} ({names}) VALUES {places}"  # noqa: S608  # names of ours only
