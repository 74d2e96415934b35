"""What this app adds to others: its actions in the event log."""

from core.extensions import Extension
from core.projects.services import EventActions

EXTENSION = Extension(
    EventActions(
        {
            "corpus.created": "made a corpus",
            "corpus.removed": "removed a corpus",
            "network.built": "built a word proximity network",
            "passages.added": "added passages",
            "passages.removed": "removed passages",
        }
    )
)
