"""The requester protocol over HTTP: signature, model constraints, operations, errors."""
