"""What this room adds to others when Django starts."""


def everything() -> None:
    """Pages of the desk, actions of the log, and notices."""
