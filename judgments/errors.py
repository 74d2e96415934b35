"""Errors of the app, each with a sentence for the person who caused it.

CrowdError
└── FilteringError           filters cannot be run, applied or undone so
    ├── FiltersChangedError  other filters are in force than the person saw
    └── NothingMissingError  there is nothing to ask again for
"""

from crowd.errors import CrowdError


class FilteringError(CrowdError):
    """Filters cannot be run, applied or undone so; nothing was changed."""


class FiltersChangedError(FilteringError):
    """Other filters are in force than the person saw; nothing was changed."""


class NothingMissingError(FilteringError):
    """There is nothing to ask again for."""
