"""Errors of the room, each with a sentence for the person who caused it.

CrowdError
└── FilteringError   filters cannot be run, applied or undone so
"""

from crowd.errors import CrowdError


class FilteringError(CrowdError):
    """Filters cannot be run, applied or undone so; nothing was changed."""
