"""All addresses of the installation, found by walking its resolver."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from django.http import HttpResponseNotFound
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.urls.resolvers import RoutePattern


@dataclass(frozen=True)
class Address:
    """An address by its name with all its namespaces, or by its path where it has no name."""

    name: str
    parts: tuple[str, ...]
    route: str

    def path(self, values: Mapping[str, Any]) -> str:
        """Where it is, with these values of its parts."""
        if self.name.startswith("/"):
            return self.name
        return reverse(self.name, kwargs={part: values[part] for part in self.parts})


def addresses() -> Iterator[Address]:
    """Every address but those of Django's admin, which `admin_addresses` has."""
    return (each for each in _walk(get_resolver().url_patterns) if not each.route.startswith("admin/"))


def admin_addresses() -> Iterator[Address]:
    """Every address of Django's admin that has a name."""
    return (each for each in _walk(get_resolver().url_patterns) if each.name.startswith("admin:"))


def _walk(
    patterns: Any, spaces: tuple[str, ...] = (), before: tuple[str, ...] = (), route: str = ""
) -> Iterator[Address]:
    for pattern in patterns:
        parts = (*before, *_parts(pattern))
        whole = f"{route}{pattern.pattern}"
        if isinstance(pattern, URLPattern):
            name = ":".join((*spaces, pattern.name)) if pattern.name else f"/{whole}"
            yield Address(name, parts, whole)
        else:
            inside = (*spaces, pattern.namespace) if pattern.namespace else spaces
            yield from _walk(pattern.url_patterns, inside, parts, whole)


def _parts(pattern: Any) -> list[str]:
    shape = pattern.pattern
    return list(shape.converters if isinstance(shape, RoutePattern) else shape.regex.groupindex)


def draw_no_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page that says that nothing is there is not drawn for each of thousands of refusals."""

    def refuse(*_: object, **__: object) -> HttpResponseNotFound:
        return HttpResponseNotFound()

    real = URLResolver.resolve_error_handler
    monkeypatch.setattr(
        URLResolver, "resolve_error_handler", lambda self, code: refuse if code == 404 else real(self, code)
    )
