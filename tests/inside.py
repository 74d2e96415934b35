"""Functions of a module, called inside a running server's installation.

The module has them in its `COMMANDS`, by name; the process that calls them is the server's console, which
stays (`tests/console.py`): starting Django takes seconds of a processor.
"""

from typing import Any

from tests.server import RunningServer


class Inside:
    """A module that works inside a server's installation."""

    def __init__(self, module: str, server: RunningServer) -> None:
        self._module, self._server = module, server

    def ask(self, what: str, /, **named: Any) -> Any:
        """Call a function inside; RuntimeError with its words where it raises."""
        return self._server.call(self._module, what, **named)
