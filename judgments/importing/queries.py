"""Which query of the project a line means: by its id, or by its text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotation.importing.text import folded, normal, query_digest
from annotation.models import Query, QuerySource
from annotation.quotes import quoted
from core.projects.models import Project
from judgments.importing.rows import Row, RowRefusedError
from judgments.selectors.candidates import OUT
from judgments.selectors.references import reference_forms

#: Queries that are remembered at most, so that memory does not grow with the file.
_MOST = 5000


class UnknownQueryError(RowRefusedError):
    """The project does not have the query of a line."""


@dataclass(frozen=True, slots=True)
class ProjectQuery:
    """A query of the project; `forms` are its references as copies equal them, `out`: nobody judges it."""

    pk: int
    text: str
    forms: frozenset[str]
    out: bool


class KnownQueries:
    """Finds queries for batches of rows, in a few statements a batch."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._by_key: dict[str, ProjectQuery | None] = {}
        self._by_digest: dict[str, ProjectQuery | None] = {}

    def learn(self, rows: Iterable[Row]) -> None:
        """Look up what `of` needs for these rows."""
        if len(self._by_key) + len(self._by_digest) > _MOST:
            self._by_key.clear()
            self._by_digest.clear()
        found = list(rows)
        keys = {key for row in found for key in (row.query_id, row.query.strip()) if key}
        digests = {_digest(row) for row in found if row.query}
        keys -= self._by_key.keys()
        digests -= self._by_digest.keys()
        if not keys and not digests:
            return
        self._by_key.update(dict.fromkeys(keys))
        self._by_digest.update(dict.fromkeys(digests))
        queries = Query.objects.filter(project=self._project, source__state=QuerySource.State.READY)
        wanted = ("pk", "key", "digest", "text", "status")
        values = {
            *(queries.filter(key__in=keys).values_list(*wanted) if keys else ()),
            *(queries.filter(digest__in=digests).values_list(*wanted) if digests else ()),
        }
        forms = reference_forms({pk for pk, *_ in values})
        for pk, key, digest, text, status in values:
            known = ProjectQuery(pk, folded(normal(text)), forms.get(pk, frozenset()), status in OUT)
            self._by_key[key] = self._by_digest[digest] = known

    def of(self, row: Row) -> ProjectQuery:
        """The query of a row that was learned. RowRefusedError: there is none, or its text is another's."""
        by_id = self._by_key.get(row.query_id) if row.query_id else None
        if by_id is not None:
            if row.query and folded(normal(row.query)) != by_id.text:
                raise RowRefusedError(
                    "query_id",
                    f"The query with the id {quoted(row.query_id)} is another than {quoted(row.query)}.",
                    "If this column is no id of a query, map it to nothing: --column query_id= (empty).",
                )
            return by_id
        found = None
        if row.query:
            found = None if row.query_id else self._by_key.get(row.query.strip())
            found = found or self._by_digest.get(_digest(row))
        if found is None:
            raise _unknown(row)
        return found


def _unknown(row: Row) -> UnknownQueryError:
    if row.query_id:
        return UnknownQueryError(
            "query_id",
            f"The project has no query with the id {quoted(row.query_id)}.",
            "Import the query first, or correct the id.",
        )
    return UnknownQueryError(
        "query",
        f"The project has no query {quoted(row.query)}, neither as id nor as text.",
        "Import the query first. A query with earlier turns is named by its id.",
    )


def _digest(row: Row) -> str:
    return query_digest(normal(row.query), _turns(row.context))


def _turns(context: Sequence[str]) -> list[str]:
    return [normal(turn) for turn in context]
