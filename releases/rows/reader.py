"""All tables of a release from the database."""

from collections.abc import Mapping
from functools import partial

from releases.rows.answers import answer_rows
from releases.rows.candidates import candidate_rows
from releases.rows.ratings import rating_rows
from releases.rows.references import reference_rows
from releases.rows.retrieval import retrieval_rows
from releases.rows.scope import Scope
from releases.rows.scores import score_rows
from releases.tables import ANSWERS, CANDIDATES, RATINGS, REFERENCES, RETRIEVAL, SCORES, FilledTable

_ROWS = (
    (REFERENCES, reference_rows),
    (ANSWERS, answer_rows),
    (CANDIDATES, candidate_rows),
    (SCORES, score_rows),
    (RATINGS, rating_rows),
    (RETRIEVAL, retrieval_rows),
)


def tables_of(scope: Scope) -> Mapping[str, FilledTable]:
    """The tables by name. Each call of `batches` asks the database again."""
    return {table.name: FilledTable(table, partial(rows, scope)) for table, rows in _ROWS}
