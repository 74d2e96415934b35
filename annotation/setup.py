"""What this room adds to others when Django starts."""

from crowd.desk import panels
from crowd.kinds import register
from projects.services import know_actions


def everything() -> None:
    """Kinds of stages, pages of the desk, actions of the event log."""
    _kinds()
    _pages()
    know_actions(
        {
            "queries.imported": "imported queries",
            "query.adjudicated": "decided about a query",
        }
    )


def _kinds() -> None:
    """Screening, curation, distillation."""
    from annotation.kinds.curation import Curation  # noqa: PLC0415 - needs the models
    from annotation.kinds.screening import Screening  # noqa: PLC0415

    register(Screening())
    register(Curation())


def _pages() -> None:
    """Tabs and sections."""
    panels.add_page(panels.Page("Adjudication", "annotation:adjudication", "adjudication"))
    panels.add_page(
        panels.Page("Agreement", "annotation:agreement", "agreement", kinds=("screening", "curation"))
    )
