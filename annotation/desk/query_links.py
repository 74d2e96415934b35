"""Pages about a query that apps above have: pages on which a query stands link to them.

Each is a part of its app's extension:

    PageOfQuery("Metrics of this query", "evaluations:query")
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from annotation.models import Query
from core.extensions import parts_of
from core.projects.models import Project


@dataclass(frozen=True, slots=True)
class PageOfQuery:
    """A page at an address that takes the project's slug and the query's key in the database."""

    label: str
    url_name: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link as templates draw it."""

    label: str
    address: str


def links_of_query(project: Project, query: Query, asked: Mapping[str, object] | None = None) -> list[Link]:
    """Links to those pages for a query; `asked` is what their addresses ask for."""
    tail = f"?{urlencode(asked)}" if asked else ""
    return [
        Link(page.label, reverse(page.url_name, args=[project.slug, query.pk]) + tail)
        for page in parts_of(PageOfQuery)
    ]
