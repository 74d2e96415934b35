"""How far long work is: what reports it, and what listens to it."""

from collections.abc import Callable

#: Hears how much is done, of how much (0 where that is unknown), and what; it may raise to end the work.
Progress = Callable[[int, int, str], None]


# Compared by identity: a training prints lines only where no bar shows its progress.
def silent(_done: int, _total: int, _what: str) -> None:
    """Progress that is not shown."""
