"""Arguments of this app's commands, what they show on a terminal, and how they end when they are asked to."""

import json
import signal
import threading
from argparse import ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from releases.formats import FORMATS
from releases.options import OPTIONAL
from releases.tables import SPLITS


@contextmanager
def terminated() -> Iterator[None]:
    """Being asked to stop ends the work in order, so that the release is marked as failed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt("stopped before it was done")

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


# Arguments of this app's commands, read or refused in words.


def card(path: Path | None) -> dict[str, Any]:
    """Answers to the data card's questions, out of a JSON file."""
    if path is None:
        return {}
    try:
        answers = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise CommandError(f"--card {path} cannot be read: {error}.") from error
    if not isinstance(answers, dict):
        raise CommandError(f"--card {path} is no JSON object of questions and answers.")
    return answers


def formats(text: str) -> tuple[str, ...]:
    """Names of formats with commas between them, or all of them."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if names == ("all",):
        return tuple(FORMATS)
    unknown = [name for name in names if name not in FORMATS]
    if unknown or not names:
        what = f"there is no format {unknown[0]!r}" if unknown else "name at least one"
        raise ArgumentTypeError(f"{what}; there are {', '.join(FORMATS)}, or all")
    return names


def groups(text: str) -> tuple[str, ...]:
    """Names of groups to bring in with commas between them, or all of them."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if names == ("all",):
        return OPTIONAL
    for name in names:
        if name not in OPTIONAL:
            raise ArgumentTypeError(
                f"there is no group {name!r}; there are {', '.join(OPTIONAL)}, or all. What a person "
                "excluded or rejected comes in only when that decision is taken back"
            )
    return names


def shares(text: str) -> tuple[float, ...]:
    """The shares of train, validation and test."""
    try:
        shares = tuple(float(part) for part in text.split(","))
    except ValueError:
        shares = ()
    if len(shares) != len(SPLITS):
        raise ArgumentTypeError(f"give the shares of {', '.join(SPLITS)}, such as 0.8,0.1,0.1")
    return shares
