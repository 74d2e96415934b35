"""One call of the protocol, and the table of the operations that answer calls."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from marketplace.models import Requester

Result = dict[str, Any]


@dataclass(slots=True)
class Call:
    """A checked call: who asks for what, at which marketplace time."""

    operation: str
    requester: Requester
    parameters: dict[str, Any]
    now: datetime
    request_id: uuid.UUID = field(default_factory=uuid.uuid4)
    #: Origin of this site, as the caller calls it.
    base_url: str = ""
    #: The access key may change nothing.
    read_only: bool = False

    def get(self, name: str, default: Any = None) -> Any:
        """An optional parameter."""
        return self.parameters.get(name, default)

    def __getitem__(self, name: str) -> Any:
        return self.parameters[name]


Handler = Callable[[Call], Result]


@dataclass(frozen=True, slots=True)
class Operation:
    """How an operation is answered; `writes` says that it changes something."""

    handler: Handler
    writes: bool


OPERATIONS: dict[str, Operation] = {}


def operation(name: str, *, writes: bool) -> Callable[[Handler], Handler]:
    """Register the function that answers the operation `name`."""

    def register(handler: Handler) -> Handler:
        OPERATIONS[name] = Operation(handler, writes)
        return handler

    return register
