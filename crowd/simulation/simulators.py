"""Simulators of panels, which an app of another distribution brings as parts of its extension."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class PanelSimulator:
    """A panel that answers at an address of this machine for as long as a block runs."""

    #: From the file of its books, its account's token, and the cents of a new account to the address.
    serve: Callable[[Path, str, int], AbstractContextManager[str]]
