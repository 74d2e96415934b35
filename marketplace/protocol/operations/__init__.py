"""One module per family of operations; importing this package fills `calls.OPERATIONS`."""

from marketplace.protocol.operations import assignments, hits, qualifications, unsupported, workers

__all__ = ["assignments", "hits", "qualifications", "unsupported", "workers"]
