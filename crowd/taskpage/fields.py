"""What a worker's browser sent, made safe to store."""

import json
import re
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import BadRequest, SuspiciousOperation
from django.http import HttpRequest, UnreadablePostError
from django.http.multipartparser import MultiPartParserError

#: Text that no database column takes: the NUL character, and halves of characters outside the first plane.
_NUL = "\0"
_HALVES = re.compile("[\ud800-\udfff]")


class UnreadableError(Exception):
    """What arrived is no form, or no draft, or too large to be read at all."""


def clean(text: str) -> str:
    """The text without what cannot be stored; a form's line ends become those of a draft."""
    return _HALVES.sub("\N{REPLACEMENT CHARACTER}", text.replace(_NUL, "").replace("\r\n", "\n"))


def form_of(request: HttpRequest) -> dict[str, str]:
    """The fields of a posted form; of a name that comes twice, the last."""
    try:
        return {clean(name): clean(str(value)) for name, value in request.POST.items()}
    except (SuspiciousOperation, MultiPartParserError, BadRequest, UnreadablePostError) as error:
        raise UnreadableError from error


def draft_of(request: HttpRequest) -> tuple[dict[str, str | None], dict[str, Any]]:
    """The changed fields of a draft, None for those taken away, and the page's measures."""
    try:
        body = json.loads(request.body)
        fields, telemetry = body["fields"].items(), dict(body.get("telemetry", {}))
    except (SuspiciousOperation, UnreadablePostError, RecursionError) as error:
        raise UnreadableError from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableError from error
    return {
        clean(name): None if value is None else clean(value)
        for name, value in fields
        if value is None or isinstance(value, str)
    }, cleaned(telemetry)


def telemetry_of(form: Mapping[str, str]) -> dict[str, Any]:
    """The measures in the form's hidden field; none without a script, or where somebody wrote it."""
    try:
        return cleaned(dict(json.loads(form.get("telemetry") or "{}")))
    except (ValueError, TypeError, RecursionError):
        return {}


def cleaned(telemetry: Mapping[str, Any]) -> dict[str, Any]:
    """Measures with the name of their visit made storable."""
    visit = telemetry.get("visit", "")
    return {**telemetry, "visit": clean(visit) if isinstance(visit, str) else ""}


def of_unit(form: Mapping[str, str], unit: str) -> dict[str, str]:
    """The fields of one unit, without their prefix."""
    prefix = f"{unit}|"
    return {name.removeprefix(prefix): value for name, value in form.items() if name.startswith(prefix)}
