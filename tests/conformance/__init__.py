"""Conformance to the MTurk requester protocol, seen from outside. README.md points it at any endpoint."""
