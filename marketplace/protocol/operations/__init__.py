"""One module per family of operations; importing this package fills `calls.OPERATIONS`."""

from marketplace.protocol.operations import (
    assignments,
    hits,
    notifications,
    policies,
    qualifications,
    workers,
)

__all__ = [
    "assignments",
    "hits",
    "notifications",
    "policies",
    "qualification_requests",
    "qualifications",
    "workers",
]
