"""Downloads of members: one file, in whole or in part, and all files in one archive."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from releases import download_files
from releases.desk.release import find_release
from web.access import ProjectAccess, on_project


@require_safe
@on_project()
def file(request: HttpRequest, access: ProjectAccess, *, version: str, path: str) -> HttpResponseBase:
    """One file."""
    return download_files.file(request, find_release(access, version), path, user=access.user)


@require_safe
@on_project()
def archive(request: HttpRequest, access: ProjectAccess, *, version: str) -> HttpResponseBase:
    """All files."""
    return download_files.archive(request, find_release(access, version), user=access.user)
