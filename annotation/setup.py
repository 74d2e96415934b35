"""What this room adds to others when Django starts."""

from projects.services import know_actions


def everything() -> None:
    """Kinds of stages, pages of the desk, actions of the event log."""
    _kinds()
    _pages()
    know_actions(
        {
            "queries.imported": "imported queries",
        }
    )


def _kinds() -> None:
    """Screening, curation, distillation."""


def _pages() -> None:
    """Tabs and sections."""
