"""One module per family of operations; importing this package fills `calls.OPERATIONS`."""

from marketplace.protocol.operations import (
    assignments,
    hits,
    qualification_requests,
    qualifications,
    unsupported,
    workers,
)

__all__ = ["assignments", "hits", "qualification_requests", "qualifications", "unsupported", "workers"]
