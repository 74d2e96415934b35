"""What apps add to the API."""

from dataclasses import dataclass

#: Where operations begin.
ROOT = "/api/v1/"


@dataclass(frozen=True, slots=True)
class ApiPart:
    """A module of an app with `RESOURCES` (of `web.api.resources`), by its dotted name.

    It may have `PROBLEMS` too: the status and code of errors of the app, by their class. `last` has its
    resources come behind those of campaigns in the schema and the reference.
    """

    module: str
    last: bool = False
