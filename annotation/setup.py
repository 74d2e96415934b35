"""What this room adds to others when Django starts."""

from annotation.desk import funnel
from crowd.desk.panels import Page, Section, add_page, add_section
from projects.services import know_actions


def everything() -> None:
    """Kinds of stages, pages of the desk, actions of the event log."""
    _kinds()
    _pages()
    know_actions(
        {
            "queries.imported": "imported queries",
            "query.withdrawn": "took a query out",
            "query.put_back": "put a query back",
        }
    )


def _kinds() -> None:
    """Screening, curation, distillation."""


def _pages() -> None:
    """Tabs and sections."""
    add_page(Page("Queries", "annotation:queries", "queries"))
    add_section(Section("annotation/funnel.html", funnel.section))
