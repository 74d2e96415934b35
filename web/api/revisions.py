"""ETag and If-Match: a change is made to what its sender read, or not at all."""

from collections.abc import Iterable, Mapping
from typing import Self

from django.db.models import Model
from django.http import HttpRequest
from pydantic import BaseModel, PrivateAttr

from core.revisions import ShownColumns, ShownValues, mark_of
from web.api.problems import ProblemError

HEADER = "If-Match"


class RevisedModel(BaseModel):
    """A model whose answer carries an ETag."""

    _headers: Mapping[str, str] = PrivateAttr(default_factory=dict)

    def marked(self, row: Model, columns: Iterable[str]) -> Self:
        """Itself, with the ETag of these columns of the row."""
        return self.with_mark(mark_of(row, columns))

    def with_mark(self, mark: str) -> Self:
        """Itself, with the ETag of this mark."""
        self._headers = {"ETag": f'"{mark}"'}
        return self


def seen_columns(request: HttpRequest, columns: Iterable[str]) -> ShownColumns:
    """What the sender read, by If-Match; 428 without one. Services check it in the transaction that saves."""
    return ShownColumns(tuple(columns), _given_mark(request))


def seen_values(request: HttpRequest) -> ShownValues:
    """The same of something that lies in several rows."""
    return ShownValues(_given_mark(request))


def _given_mark(request: HttpRequest) -> str:
    given = request.headers.get(HEADER, "").strip()
    if not given:
        raise ProblemError(
            428, "if_match_missing", f"Send {HEADER} with the ETag under which you read these settings."
        )
    return given.removeprefix("W/").strip('"')
