"""The tables of this app's pages, and the links to pages about a query that other apps have."""

from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, cast
from urllib.parse import urlencode

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.db.models import QuerySet
from django.http import QueryDict
from django.urls import reverse
from django.utils.safestring import SafeString

from annotation.models import Query
from annotation.selectors import curation, review
from annotation.selectors import queries as selectors
from core.extensions import parts_of
from core.projects.models import Project
from web import cells
from web.cells import Cell, chip, isolated, link, more, several
from web.tables import Choices, Column, Grid, Words, count_column

register = template.Library()

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
class QueryLink:
    """A link as templates draw it."""

    label: str
    address: str


def links_of_query(
    project: Project, query: Query, parameters: Mapping[str, object] | None = None
) -> list[QueryLink]:
    """Links to those pages for a query; `parameters` are those of their addresses."""
    tail = f"?{urlencode(parameters)}" if parameters else ""
    return [
        QueryLink(page.label, reverse(page.url_name, args=[project.slug, query.pk]) + tail)
        for page in parts_of(PageOfQuery)
    ]


_GOOD, _BAD = ("accepted", "curated", "answered"), ("excluded", "unanswerable", "withdrawn")


@register.filter
def status_chip(status: str) -> SafeString:
    """Where a query stands."""
    return chip(status, "good" if status in _GOOD else "bad" if status in _BAD else "wait")


def _draw_query(cell: Cell) -> object:
    query, _ = cell.row
    turn = query.context and more(f"turn {query.turn or 'later'} of a conversation")
    return several(link(query.text, cell.address("annotation:query", query.pk), most=140), turn)


def _draw_status(cell: Cell) -> object:
    query, _ = cell.row
    reason = query.status_reason and more(isolated(query.status_reason, most=90))
    return several(status_chip(query.status), query.by_hand and chip("by hand"), reason)


def _draw_type(cell: Cell) -> object:
    query, _ = cell.row
    return several(query.type.lower(), query.yes_no and "yes-no", between=", ") or cells.NONE


def _draw_import(cell: Cell) -> object:
    return isolated(cell.row[0].source.name, most=40)


#: Their file has columns of its own, which are read without a model instance per row.
QUERIES = Grid(
    "queries",
    columns=(
        Column("text", "Query", None, by="text", cell=_draw_query),
        Column("status", "Status", None, by="status", cell=_draw_status),
        Column("type", "Type", None, by="type", cell=_draw_type),
        Column("conversation", "Conversation", None, by="conversation", then=("turn",), on_page=False),
        count_column("count", "Count", None, cell=lambda cell: intcomma(cell.row[0].count)),
        Column("votes", "Votes", None, number=True, cell=lambda cell: cell.row[1].votes),
        Column("selections", "Selections", None, number=True, cell=lambda cell: cell.row[1].selections),
        Column("answers", "Answers", None, number=True, cell=lambda cell: cell.row[1].answers),
        Column("number", "Import", None, by="pk", cell=_draw_import),
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


def _draw_undecided(cell: Cell) -> object:
    return link(cell.value, cell.address("annotation:case", cell.row.pk), most=120)


def _draw_doubt(cell: Cell) -> object:
    words = {"one-flag": "one flag", "doubt": "in doubt"}.get(cell.value, cell.value)
    return chip(words, "bad" if cell.value == "doubt" else "wait")


UNDECIDED = Grid(
    "adjudication",
    columns=(
        Column("id", "Id", "key", on_page=False),
        Column("query", "Query", "text", by="text", cell=_draw_undecided),
        Column("state", "State", by="state", cell=_draw_doubt),
        Column("why", "Why", by="why"),
        Column("since", "Since", by="since", gaps=True),
        Column("number", "Number", None, by="pk", on_page=False),
    ),
    filters=(Choices("state", "Which queries to show", curation.WAITING_FOR_US, tabs=True),),
    order="number",
)


def _first(name: str) -> Any:
    """A field of the query in a row of the table of answers."""
    return lambda row: getattr(row[0], name)


def _draw_answered(cell: Cell) -> object:
    return link(cell.value, cell.address("annotation:answers_of_query", cell.row[0].pk), most=120)


ANSWERS = Grid(
    "answers",
    columns=(
        Column("id", "Id", _first("key"), on_page=False),
        Column("query", "Query", _first("text"), by="text", cell=_draw_answered),
        Column(
            "fewest",
            "Answers",
            _first("counted"),
            by="counted",
            number=True,
            cell=lambda cell: f"{cell.value} of {cell.access.stage.redundancy}",
        ),
        Column("undecided", "To review", _first("undecided"), by="undecided", down=True, number=True),
        Column(
            "flagged",
            "Flagged",
            _first("flagged"),
            by="flagged",
            down=True,
            number=True,
            cell=lambda cell: chip(cell.value, "wait") if cell.value else "0",
        ),
        Column("excluded", "Excluded", _first("excluded"), by="excluded", down=True, number=True),
        Column(
            "characters",
            "Characters, median",
            lambda row: row[1].middle if row[1] else None,
            number=True,
            cell=lambda cell: cells.NONE if cell.value is None else f"{cell.value:g}",
        ),
        Column("overlap", "Overlap", itemgetter(2), number=True),
        Column("newest", "Newest", _first("newest"), by="newest", down=True, gaps=True, number=True),
        Column("number", "Number", None, by="pk", on_page=False),
    ),
    filters=(Choices("state", "Which queries to show", review.FILTERS, tabs=True),),
    order="number",
)


def _draw_writer(cell: Cell) -> object:
    name = link(cell.value, cell.address("annotation:answers_of_worker", cell.row.pk), mono=True)
    return several(name, cell.row.simulated and chip("simulated"))


WRITERS = Grid(
    "writers",
    columns=(
        Column("worker", "Worker", "external_id", by="external_id", cell=_draw_writer),
        Column("simulated", "Simulated", on_page=False),
        Column("answers", "Answers", "given", by="given", down=True, number=True),
        Column("flagged", "Flagged", by="flagged", down=True, number=True),
        Column("excluded", "Excluded", by="excluded", down=True, number=True),
    ),
    filters=(Words("q", "Worker"),),
    order="flagged",
)
