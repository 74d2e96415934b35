"""Rendering a page of the worker site, with what its frame around the content needs."""

from datetime import datetime

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from marketplace.models import Worker
from marketplace.site.people import may_see_desk, menu_of


def page(
    request: HttpRequest,
    template: str,
    *,
    worker: Worker | None,
    now: datetime,
    status: int = 200,
    **context: object,
) -> HttpResponse:
    """A page with the menu of the person who looks at it."""
    menu = menu_of(worker, request.user) if worker else None
    return render(
        request,
        f"marketplace/site/{template}",
        {
            "worker": worker,
            "badges": menu,
            "desk": menu.desk if menu else may_see_desk(request.user),
            "registration_open": settings.MARKETPLACE_REGISTRATION == "open",
            "now": now,
            "section": template.removesuffix(".html"),
            **context,
        },
        status=status,
    )
