"""Reading settings from the environment, loudly: a value that cannot be used stops the start."""

import contextlib
import os
import re
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from django.apps import AppConfig
from django.core.checks import CheckMessage, Warning
from django.core.exceptions import ImproperlyConfigured
from rapidfuzz.distance import OSA

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off", ""}
_asked_for: set[str] = set()


def names_asked_for() -> frozenset[str]:
    """Every variable that was read until now."""
    return frozenset(_asked_for)


def text(name: str, default: str = "") -> str:
    """Value of the variable `name`, or the content of the file that `name`_FILE points to."""
    _asked_for.add(name)
    path = os.environ.get(f"{name}_FILE")
    if path:
        if name in os.environ:
            raise ImproperlyConfigured(f"Both {name} and {name}_FILE are set; keep one of them.")
        try:
            content = Path(path).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ImproperlyConfigured(f"{name}_FILE={path} cannot be read: {error.strerror}.") from error
        if not content:
            raise ImproperlyConfigured(f"{name}_FILE={path} is empty.")
        return content
    return os.environ.get(name, default)


def flag(name: str, default: bool = False) -> bool:
    """Boolean variable: 1/true/yes/on or 0/false/no/off."""
    value = text(name, "1" if default else "0").strip().lower()
    if value in TRUE:
        return True
    if value in FALSE:
        return False
    raise ImproperlyConfigured(f"{name}={value!r} is neither yes nor no. Use 1 or 0.")


def integer(name: str, default: int, *, least: int = 0) -> int:
    """Whole number variable, not below `least`."""
    value = text(name, str(default))
    try:
        number = int(value)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}={value!r} is not a whole number.") from error
    if number < least:
        raise ImproperlyConfigured(f"{name}={number} is below {least}.")
    return number


def choice(name: str, default: str, allowed: set[str]) -> str:
    """Variable with one of the `allowed` values."""
    value = text(name, default)
    if value not in allowed:
        raise ImproperlyConfigured(f"{name}={value!r} is not one of {', '.join(sorted(allowed))}.")
    return value


def address(name: str, schemes: set[str], example: str, default: str = "") -> str:
    """Address variable with one of the `schemes`. Its value is never shown: a password may be in it."""
    value = text(name, default)
    scheme, colon, rest = value.partition("://")
    if value and (not colon or scheme not in schemes or not rest):
        raise ImproperlyConfigured(f"{name} is no address like {example}.")
    return value


def name(variable: str, default: str) -> str:
    """Variable of small letters, digits and hyphens that begins with a letter."""
    value = text(variable, default)
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,39}", value):
        raise ImproperlyConfigured(
            f"{variable}={value!r} is not made of small letters, digits and hyphens, a letter first."
        )
    return value


def words(name: str, default: list[str]) -> list[str]:
    """Comma-separated variable."""
    value = text(name)
    return [word.strip() for word in value.split(",") if word.strip()] if value else default


def secret(name: str, folder: Path, *, needed: Callable[[], bool | None] = lambda: False) -> str:
    """Secret from the environment or `name`_FILE; else generated once into `folder`, for our eyes only.

    `needed` says whether something was sealed with it before. Then none is generated, because it would open
    nothing. Where nobody can say (None), one is made for this process alone and not kept.
    """
    secret_text = text(name)
    if secret_text:
        return secret_text
    path = folder / name.lower()
    if not path.exists():
        before = needed()
        if before:
            raise ImproperlyConfigured(
                f"{name} is missing: the database holds secrets that were sealed with it, and a new one "
                f"would open none of them. Put the old one back into {path} (it is in the keys file of each "
                f"backup), or set {name} as the other hosts have it."
            )
        if before is None:
            return secrets.token_urlsafe(50)
    try:
        return _generated(name, folder)
    except OSError as error:
        raise ImproperlyConfigured(
            f"{name} cannot be kept in {folder}: {error.strerror}. "
            "Set DATA_DIR to a folder this user can write."
        ) from error


def _generated(name: str, folder: Path) -> str:
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o750)
    folder.mkdir(exist_ok=True, mode=0o700)
    path = folder / name.lower()
    if path.exists():
        return path.read_text(encoding="utf-8").strip()
    candidate = folder / f".{name.lower()}.{secrets.token_hex(4)}"
    descriptor = os.open(candidate, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(secrets.token_urlsafe(50))
    try:
        # Of several processes starting at once, the first link wins and all read the same secret.
        os.link(candidate, path)
    except FileExistsError:
        pass
    finally:
        candidate.unlink()
    return path.read_text(encoding="utf-8").strip()


# Variables of the environment that look like settings and are none.

#: Names with fewer letters are too near to those of other programs.
_SHORTEST = 6
_MOST_EDITS = 2


def check_names(app_configs: Iterable[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """A variable whose name is nearly that of a setting: it changes nothing, which its author cannot see."""
    return [
        Warning(
            f"{name} is no setting of Distillery and changes nothing; {meant} is one.",
            hint=f"Set {meant} instead, or remove {name}.",
            id="distillery.W003",
        )
        for name, meant in sorted(resembling_names(os.environ).items())
    ]


def resembling_names(environment: Mapping[str, str]) -> dict[str, str]:
    """Names in the environment that no setting has, with the setting that each resembles."""
    names = names_asked_for()
    meanings = {}
    for name in environment.keys() - names:
        base = name.removesuffix("_FILE")
        if base in names or len(base) < _SHORTEST:
            continue
        distance, meant = min((OSA.distance(base, each, score_cutoff=_MOST_EDITS), each) for each in names)
        if distance <= _MOST_EDITS and len(meant) >= _SHORTEST:
            meanings[name] = f"{meant}_FILE" if base != name else meant
    return meanings


# Whether a database holds sealed values, asked before there are settings: no key is generated over them.

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
    parameters = [(name, value) for name, value in parse_qsl(parts.query) if name.startswith("ssl")]
    return urlunsplit(parts._replace(scheme="postgresql", query=urlencode(parameters)))


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
