"""Errors of the app, each with a sentence for the person who caused it.

PeopleError
└── JoinError    a person cannot join by this link now; `status` is that of the page that says so
"""

from core.errors import ActionError


class PeopleError(ActionError):
    """Something that cannot be done; nothing was changed."""


class JoinError(PeopleError):
    """A person cannot join by this link now."""

    def __init__(self, sentence: str, *, status: int = 403) -> None:
        super().__init__(sentence)
        self.status = status


class LinkClosedError(JoinError):
    """No further person can join by this link any more; who joined before goes on."""
