"""Who may put how much on the disk by uploading: people who are signed in, and only where files are taken."""

from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http import HttpRequest
from django.utils.module_loading import import_string


def may_upload(request: HttpRequest) -> bool:
    """Staff, members of projects and owners of requesters, on the pages that take files.

    Others only where an app says that the address itself, by its signature, asks for a file.
    """
    if bytes_by_signature(request):
        return True
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return False
    return request.path.startswith(tuple(settings.UPLOADS_BELOW))


def bytes_by_signature(request: HttpRequest) -> int:
    """How many bytes of files an address takes from whoever has it: those below UPLOADS_BY_SIGNATURE."""
    for below, function in settings.UPLOADS_BY_SIGNATURE.items():
        if request.path_info.startswith(below):
            return int(import_string(function)(request))
    return 0


class QuotaHandler(FileUploadHandler):
    """First of the handlers: files of everybody else are read past, and never touch memory or disk.

    The other fields of the form arrive, so that a view can say what it says to a form without its file.
    """

    def new_file(self, *arguments: Any, **named: Any) -> None:
        """Skip a file that nobody asked this person for."""
        super().new_file(*arguments, **named)
        if self.request is None or not may_upload(self.request):
            raise SkipFile

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        """On to the next handler."""
        return raw_data

    def file_complete(self, file_size: int) -> None:
        """Another handler makes the file."""
        return None
