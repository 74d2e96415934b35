"""Whether a database holds sealed values, asked before there are settings: no key is generated over them."""

import contextlib
import sqlite3
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

#: Tables with sealed values, and the column. `distillery.canary` has the same as models.
SEALED_COLUMNS = (
    ("sealing_canary", "value_sealed"),
    ("marketplace_accesskey", "secret_sealed"),
    ("marketplace_signingkey", "private_key_sealed"),
    ("marketplace_worker", "payment_note_sealed"),
    ("marketplace_payeedetails", "details_sealed"),
    ("marketplace_payeedetails", "waiting_sealed"),
    ("marketplace_payoutline", "details_sealed"),
    ("marketplace_payout", "sender_sealed"),
    ("crowd_endpoint", "secret_sealed"),
    ("crowd_endpoint", "hook_secret_sealed"),
    ("people_studylink", "token_sealed"),
    ("people_studylink", "secret_sealed"),
    ("people_guest", "recovery_sealed"),
    ("people_rosterrow", "email_sealed"),
    ("api_idempotencyrecord", "body_sealed"),
    ("webhooks_webhook", "address_sealed"),
    ("webhooks_webhook", "secret_sealed"),
    ("webhooks_webhook", "former_secret_sealed"),
)
_CONNECT_SECONDS = 5


def holds_sealed_values(database_url: str) -> bool | None:
    """Whether secrets are sealed in the database; None where it does not answer."""
    if database_url.startswith("sqlite"):
        return _in_sqlite(Path(unquote(urlsplit(database_url).path.removeprefix("/"))))
    import psycopg2  # type: ignore[import-untyped]  # only on a host without a key

    try:
        connection = psycopg2.connect(_address(database_url), connect_timeout=_CONNECT_SECONDS)
    except psycopg2.Error:
        return None
    with contextlib.closing(connection), connection, connection.cursor() as cursor:
        for table, column in SEALED_COLUMNS:
            cursor.execute(
                "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attname = %s "
                "AND NOT attisdropped",
                [table, column],
            )
            if cursor.fetchone():
                cursor.execute(_any_row(table, column))
                if cursor.fetchone():
                    return True
    return False


def _address(database_url: str) -> str:
    """As libpq takes it: by its own name, and without options of Django's."""
    parts = urlsplit(database_url)
    kept = [(name, value) for name, value in parse_qsl(parts.query) if name.startswith("ssl")]
    return urlunsplit(parts._replace(scheme="postgresql", query=urlencode(kept)))


def _in_sqlite(path: Path) -> bool | None:
    if not path.exists():
        return False
    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            # A database of an earlier version lacks some of the tables and columns.
            return any(
                database.execute(_any_row(table, column)).fetchone()
                for table, column in SEALED_COLUMNS
                if database.execute(_HAS_COLUMN, [column, table]).fetchone()
            )
    except sqlite3.Error:
        return None


_HAS_COLUMN = "SELECT 1 FROM pragma_table_info(?2) WHERE name = ?1"


def _any_row(table: str, column: str) -> str:
    return f"SELECT 1 FROM {table} WHERE {column} <> '' LIMIT 1"  # noqa: S608 - names of our own
