"""Which function does which kind of job.

An app registers its handlers in its `tasks` module:

    @handler("marketplace.ledger-audit", longest=timedelta(hours=6))
    def audit_ledger(context: JobContext) -> None:
        ...
        context.commit(lambda: store(report))
"""

import contextlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.utils.module_loading import autodiscover_modules

from core.jobs.context import JobContext

Handler = Callable[[JobContext], Any]

#: How long an attempt may take where its kind says nothing.
LONGEST = timedelta(hours=6)

_handlers: dict[str, Handler] = {}
_longest: dict[str, timedelta] = {}


def handler(kind: str, *, longest: timedelta | None = None) -> Callable[[Handler], Handler]:
    """Register the decorated function for jobs of this kind; an attempt that takes `longest` is ended."""

    def register(function: Handler) -> Handler:
        known = _handlers.setdefault(kind, function)
        if (known.__module__, known.__qualname__) != (function.__module__, function.__qualname__):
            raise ValueError(f"Jobs of kind {kind!r} already have the handler {known.__qualname__}.")
        _handlers[kind] = function
        if longest is not None:
            _longest[kind] = longest
        return function

    return register


def find(kind: str) -> Handler:
    """Handler of this kind, looked for in every app's `tasks` module; LookupError if there is none."""
    if kind not in _handlers:
        autodiscover_modules("tasks")
    try:
        return _handlers[kind]
    except KeyError as error:
        raise LookupError(f"This worker has no handler for jobs of kind {kind!r}.") from error


def longest_of(kind: str) -> timedelta:
    """How long an attempt at a job of this kind may take."""
    with contextlib.suppress(LookupError):
        find(kind)
    return _longest.get(kind, LONGEST)
