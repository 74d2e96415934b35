"""Errors of the app, each with a sentence for the person who caused it.

CrowdError
├── BudgetError          the budget of a stage or project would be passed
├── NotArmedError        real money, and nobody typed the amount
├── ReadOnlyError        the project's data come from elsewhere and stay as they are
├── SpendingRightError   who acts may not spend from this endpoint
├── StageStateError      not possible in the stage's present state
├── TooLongError         a worker's answers are longer than is kept; says how long they may be
└── WorkRefusedError     a worker cannot do this; says why and what to do
"""

from core.errors import ActionError, NameTakenError


class CrowdError(ActionError):
    """Something that cannot be done; nothing was changed."""


class StageNameTakenError(NameTakenError, CrowdError):
    """There is a stage of this short name in the project."""


class EndpointNameTakenError(NameTakenError, CrowdError):
    """There is an endpoint of this name."""

    field = "name"


class BudgetError(CrowdError):
    """A budget would be passed."""


class NotArmedError(CrowdError):
    """Spending real money needs the amount typed by a person."""


class ReadOnlyError(CrowdError):
    """The project is read-only: nothing is collected or changed in it."""


class SpendingRightError(CrowdError):
    """Who acts may not spend from this endpoint."""


class StageStateError(CrowdError):
    """Not possible in this state of the stage."""


class TooLongError(CrowdError):
    """More text than is kept."""


class WorkRefusedError(CrowdError):
    """A worker cannot do this work; the sentence says why."""
