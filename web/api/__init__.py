"""The kit of the REST API: who may, problems, pages of rows, streams, requests that come again.

An app brings operations in a module `api` with `RESOURCES`, named by an `ApiPart` in its extension. The
module is loaded with the first request below /api/: no start waits for it.
"""

from dataclasses import dataclass

#: Where operations begin.
ROOT = "/api/v1/"


@dataclass(frozen=True, slots=True)
class ApiPart:
    """A module of an app with `RESOURCES` (of `web.api.resources`), by its dotted name.

    It may have `PROBLEMS` too: the status and code of errors of the app, by their class, and `OWNERS`: doors
    of owners (`web.api.owners`). `last` has its resources come behind those of campaigns in the schema and
    the reference.
    """

    module: str
    last: bool = False
