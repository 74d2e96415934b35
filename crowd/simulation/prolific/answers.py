"""What a call gets back: an answer, a refusal in one of the forms that are seen, or a page of a list."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from crowd.simulation.prolific.state import State, Thing

#: Where a list does not say otherwise.
PAGE_SIZE = 20
MOST_PER_PAGE = 1_000
_TITLES = {
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    405: "Method Not Allowed",
    413: "Payload Too Large",
    429: "Too Many Requests",
}
_CODES = {400: 140_000, 401: 140_101, 404: 140_104, 405: 140_105, 429: 140_129}


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, body (None: an empty one) and headers of our own."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """One call, read: `ids` are the parts of its path, `body` is checked and plain."""

    state: State
    ids: tuple[str, ...]
    query: Mapping[str, str]
    body: Thing
    #: `http://127.0.0.1:PORT`, for links.
    site: str
    path: str


class RefusalError(Exception):
    """A refusal: nothing was changed. `detail` is a text, several, or texts by field."""

    def __init__(self, detail: str | list[str] | dict[str, list[str]], *, status: int = 400) -> None:
        super().__init__(str(detail))
        self.detail, self.status = detail, status


def not_found(what: str = "The object") -> RefusalError:
    """What does not exist, or belongs to others."""
    return RefusalError(f"{what} was not found.", status=404)


def field_error(name: str, text: str) -> RefusalError:
    """A refusal of one field."""
    return RefusalError({name: [text]})


def error_answer(
    status: int, detail: str | list[str] | dict[str, list[str]], *, bare: bool = False
) -> Answer:
    """The contract's error. Some routes are documented with the bare detail; they get both in one object."""
    error = {
        "status": status,
        "error_code": _CODES.get(status, 140_000),
        "title": _TITLES.get(status, "Error"),
        "detail": detail,
    }
    return Answer(status, {"error": error, **error} if bare else {"error": error})


def message_answer(status: int, message: str, detail: str) -> Answer:
    """The second form of an error, which the contract does not name."""
    return Answer(status, {"message": message, "detail": detail})


def page(call: Call, count: int, fetch: Callable[[int, int], list[Thing]], *, default: str = "all") -> Thing:
    """A list: by `page` and `page_size`, or by `limit` and `offset`, as the call asks.

    `default` says what a call gets that asks for neither: a first "page", or "all". Behind the last
    page is a 404.
    """
    query = call.query
    if "limit" in query or "offset" in query:
        limit, offset = _number(query, "limit", 100, least=1), _number(query, "offset", 0, least=0)
        following = f"limit={limit}&offset={offset + limit}" if offset + limit < count else None
    elif "page" in query or "page_size" in query or default == "page":
        number, limit = _number(query, "page", 1, least=1), _number(query, "page_size", PAGE_SIZE, least=1)
        offset = (number - 1) * limit
        if offset >= count and number > 1:
            raise RefusalError("Invalid page.", status=404)
        following = f"page={number + 1}&page_size={limit}" if offset + limit < count else None
    else:
        limit, offset, following = -1, 0, None
    return {"results": fetch(limit, offset), "_links": _links(call, following), "meta": {"count": count}}


def _links(call: Call, following: str | None) -> Thing:
    kept = "&".join(
        f"{name}={value}"
        for name, value in call.query.items()
        if name not in ("page", "page_size", "limit", "offset")
    )
    here = f"{call.site}{call.path}"
    href = f"{here}?{'&'.join(filter(None, (kept, following)))}" if following else None
    return {"self": {"href": here}, "next": {"href": href, "title": "Next"}}


def _number(query: Mapping[str, str], name: str, default: int, *, least: int) -> int:
    text = query.get(name, str(default))
    if not text.isdecimal() or not least <= int(text) <= (
        10**9 if name in ("page", "offset") else MOST_PER_PAGE
    ):
        raise field_error(name, f"A whole number from {least} on, at most {MOST_PER_PAGE} per page.")
    return int(text)
