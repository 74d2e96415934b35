"""The tables of this app's pages, and the links to pages about a query that other apps have."""

from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, cast
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import QueryDict
from django.urls import reverse

from annotation.models import Query
from annotation.selectors import curation, review
from annotation.selectors import queries as selectors
from core.extensions import parts_of
from core.projects.models import Project
from web.tables import Choices, Column, Grid, Words

# Pages about a query that apps above have: pages that show a query link to them.
#
# Each is a part of its app's extension:
#
#     PageOfQuery("Metrics of this query", "evaluations:query")


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


def links_of_query(
    project: Project, query: Query, parameters: Mapping[str, object] | None = None
) -> list[Link]:
    """Links to those pages for a query; `parameters` are those of their addresses."""
    tail = f"?{urlencode(parameters)}" if parameters else ""
    return [
        Link(page.label, reverse(page.url_name, args=[project.slug, query.pk]) + tail)
        for page in parts_of(PageOfQuery)
    ]


#: Their file has columns of its own, which are read without a model instance per row.
QUERIES = Grid(
    "queries",
    columns=(
        Column("text", "Query", None, by="text"),
        Column("status", "Status", None, by="status"),
        Column("type", "Type", None, by="type"),
        Column("conversation", "Conversation", None, by="conversation", then=("turn",), on_page=False),
        Column("count", "Count", None, by="count", down=True, number=True),
        Column("votes", "Votes", None, number=True),
        Column("selections", "Selections", None, number=True),
        Column("answers", "Answers", None, number=True),
        Column("number", "Import", None, by="pk"),
    ),
    filters=(
        Words("q", "Text or id"),
        Choices("status", "Status", selectors.STATUSES),
        Choices("type", "Type", selectors.TYPES),
        Choices("only", "Only", selectors.ONLY),
    ),
    order="number",
    aliases={"newest": "-number", "rare": "-count"},
)
#: What of an address says which queries are asked for, and in which order.
_ASKED = ("q", "status", "type", "only", "source", "order")


def queries_asked(query: QueryDict) -> str:
    """What an address asks of the table of queries, in one form whatever else it holds."""
    return urlencode({name: query[name] for name in _ASKED if query.get(name)})


def rows_asked(project: Project, address_query: str) -> QuerySet[Query]:
    """The queries that an address asks for, in its order."""
    parameters = QueryDict(address_query)
    sorted_rows: Any = QUERIES.read_request(parameters).sort(
        selectors.rows(project, selectors.Filters.of(parameters.dict()))
    )
    return cast("QuerySet[Query]", sorted_rows)


UNDECIDED = Grid(
    "adjudication",
    columns=(
        Column("id", "Id", "key", on_page=False),
        Column("query", "Query", "text", by="text"),
        Column("state", "State", by="state"),
        Column("why", "Why", by="why"),
        Column("since", "Since", by="since", gaps=True),
        Column("number", "Number", None, by="pk", on_page=False),
    ),
    filters=(
        Choices(
            "state",
            "Which queries to show",
            curation.WAITING_FOR_US,
            tabs=True,
        ),
    ),
    order="number",
)


def _first(name: str) -> Any:
    """A field of the query in a row of the table of answers."""
    return lambda row: getattr(row[0], name)


ANSWERS = Grid(
    "answers",
    columns=(
        Column("id", "Id", _first("key"), on_page=False),
        Column("query", "Query", _first("text"), by="text"),
        Column("fewest", "Answers", _first("counted"), by="counted", number=True),
        Column("undecided", "To review", _first("undecided"), by="undecided", down=True, number=True),
        Column("flagged", "Flagged", _first("flagged"), by="flagged", down=True, number=True),
        Column("excluded", "Excluded", _first("excluded"), by="excluded", down=True, number=True),
        Column(
            "characters", "Characters, median", lambda row: row[1].middle if row[1] else None, number=True
        ),
        Column("overlap", "Overlap", itemgetter(2), number=True),
        Column("newest", "Newest", _first("newest"), by="newest", down=True, gaps=True, number=True),
        Column("number", "Number", None, by="pk", on_page=False),
    ),
    filters=(Choices("state", "Which queries to show", review.FILTERS, tabs=True),),
    order="number",
)
WRITERS = Grid(
    "writers",
    columns=(
        Column("worker", "Worker", "external_id", by="external_id"),
        Column("simulated", "Simulated", on_page=False),
        Column("answers", "Answers", "given", by="given", down=True, number=True),
        Column("flagged", "Flagged", by="flagged", down=True, number=True),
        Column("excluded", "Excluded", by="excluded", down=True, number=True),
    ),
    filters=(Words("q", "Worker"),),
    order="flagged",
)
