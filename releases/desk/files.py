"""Downloads of members: one file, in whole or in part, and all files in one archive."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from crowd.desk.doors import Seat, on_project
from releases import download_files
from releases.desk.release import found


@require_safe
@on_project()
def file(request: HttpRequest, seat: Seat, *, version: str, path: str) -> HttpResponseBase:
    """One file."""
    return download_files.file(request, found(seat, version), path, user=seat.user)


@require_safe
@on_project()
def archive(request: HttpRequest, seat: Seat, *, version: str) -> HttpResponseBase:
    """All files."""
    return download_files.archive(request, found(seat, version), user=seat.user)
