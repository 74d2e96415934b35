"""All operations of all apps, and how their bodies are read."""

import json
from functools import cache
from importlib import import_module
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest
from ninja import NinjaAPI
from ninja.parser import Parser

from core.extensions import parts_of
from web.api import problems
from web.api.parts import ApiPart

_ESCAPED_NUL = b"\\u0000"


class BodyParser(Parser):
    """JSON as the databases can keep it: no NUL, no NaN."""

    def parse_body(self, request: HttpRequest) -> Any:
        """The body; ValueError says what is wrong with it."""
        try:
            found = json.loads(request.body, parse_constant=_refuse_constant)
            has_nul = _ESCAPED_NUL in request.body and _has_nul(found)
        except RecursionError as error:
            raise ValueError("it is nested too deeply") from error
        if has_nul:
            raise ValueError("the character U+0000 is allowed in no text")
        return found


def _has_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\0" in value
    inside = (
        (*value, *value.values()) if isinstance(value, dict) else value if isinstance(value, list) else ()
    )
    return any(map(_has_nul, inside))


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


@cache
def api() -> NinjaAPI:
    """All operations of all apps."""
    found = NinjaAPI(
        title="Distillery",
        version="1",
        description=_DESCRIPTION,
        openapi_url=None,
        docs_url=None,
        urls_namespace="api-v1",
        parser=BodyParser(),
    )
    parts = list(reversed(parts_of(ApiPart)))  # campaigns first, then their releases
    parts.sort(key=lambda part: part.last)
    for part in parts:
        module = import_module(part.module)
        for resource in module.RESOURCES:
            found.add_router("", resource.router)
        problems.KINDS.update(getattr(module, "PROBLEMS", {}))
    handled: tuple[type[Exception], ...] = (Exception, Http404, *problems.of_ninja())
    for error in handled:
        found.add_exception_handler(error, problems.handle)
    return found


_DESCRIPTION = f"""\
Everything that people do with projects in the browser, for programs. Send a token with each request:
`Authorization: Bearer dst_…`. Times are UTC (ISO 8601), money is integers in minor units. Refusals are
problems of RFC 9457. Distillery {settings.DISTILLERY_VERSION.split("+")[0]}.
"""
