"""Views by their dotted names: their modules are imported at the first request, not when Django starts."""

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.utils.module_loading import import_string


def lazy_view(name: str) -> Callable[..., HttpResponse]:
    """The view of this dotted name, for pages whose modules load numpy or another slow library."""

    def view(*args: Any, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = import_string(name)(*args, **kwargs)
        return response

    view.dotted_name = name  # type: ignore[attr-defined]  # for the test that every name is one of a view
    return view
