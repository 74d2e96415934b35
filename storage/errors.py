"""Errors of storage, in words for the person who sees them."""


class StorageUnavailableError(Exception):
    """The storage that hosts share does not answer, or refuses what was asked of it."""
