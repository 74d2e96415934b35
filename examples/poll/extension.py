"""What this app adds to others: its kind of stage."""

from core.extensions import Extension
from examples.poll.kind import Poll

EXTENSION = Extension(Poll())
