"""Files of workers: taken from the form of a task, kept in the storage, lent by short addresses, deleted.

What somebody uploads is never shown as a page of this site: it is sent as an attachment, with a type that its
own first bytes prove and that no browser runs, else as bytes without a type.
"""

import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.core import signing
from django.core.files import File
from django.db import transaction
from django.db.models import Q
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from core.storage import fetch, shared_store
from marketplace import clock
from marketplace.forms.questionform import FileUpload, Form, Question
from marketplace.models import Holding, UploadedFile

#: An address of a file is valid so long, as on MTurk.
LENT_SECONDS = 60
_PLACE = "worker-files"
_PIECE = 1 << 16
_AT_ONCE = 200
_ORPHAN_SECONDS = 86_400
_signer = signing.TimestampSigner(salt="marketplace.uploads")
#: First bytes (at an offset) → type. None of these is run by a browser.
_MAGIC = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (0, b"%PDF-", "application/pdf"),
    (0, b"OggS", "audio/ogg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (8, b"WAVE", "audio/wav"),
    (4, b"ftypM4A", "audio/mp4"),
    (4, b"ftypqt", "video/quicktime"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1aE\xdf\xa3", "video/webm"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"\x1f\x8b", "application/gzip"),
)


def sniff(head: bytes) -> str:
    """The type that a file's first bytes prove; text and all others are bytes without a type."""
    for offset, magic, mime in _MAGIC:
        if head[offset : offset + len(magic)] == magic:
            return mime
    return "application/octet-stream"


# Limits.


def most_bytes(answer: FileUpload) -> int:
    """The largest file that is taken: the question's limit, or the operator's where that is lower."""
    return min(answer.max_bytes, settings.MARKETPLACE_UPLOAD_MB << 20)


def file_questions(form: Form) -> list[tuple[Question, FileUpload]]:
    """Questions that ask for a file."""
    return [(each, each.answer) for each in form.questions if isinstance(each.answer, FileUpload)]


def problem_of(answer: FileUpload, size: int) -> str:
    """What is wrong with a file of this size, or nothing."""
    if size < answer.min_bytes:
        return f"The file has {size:,} bytes; at least {answer.min_bytes:,} are asked for."
    if size > (most := most_bytes(answer)):
        return f"The file has {size:,} bytes; at most {most:,} are taken."
    return ""


# Keeping.


def keep_file(holding: Holding, question: str, posted: File[bytes]) -> UploadedFile:
    """Keep a posted file in the place of the one that was there before; its bytes are stored first."""
    key = secrets.token_hex(16)
    head = b""
    with ExitStack() as undo:
        undo.callback(_delete_bytes, [key])
        path = _path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as into:
            for piece in posted.chunks(_PIECE):
                head = head or piece[:64]
                into.write(piece)
        if (store := shared_store()).is_shared:
            store.put(_name(key), path)
            path.unlink()
        with transaction.atomic():
            Holding.objects.select_for_update(no_key=True).get(pk=holding.pk)
            old = list(UploadedFile.objects.filter(holding=holding, question=question))
            UploadedFile.objects.filter(pk__in=[each.pk for each in old]).delete()
            row = UploadedFile.objects.create(
                holding=holding,
                question=question,
                key=key,
                name=_plain_name(posted.name or ""),
                mime=sniff(head),
                size=posted.size or 0,
                at=clock.now(),
            )
        undo.pop_all()
    _delete_bytes(each.key for each in old)
    return row


def files_of(holding: Holding) -> dict[str, UploadedFile]:
    """The files of an assignment by QuestionIdentifier."""
    return {row.question: row for row in UploadedFile.objects.filter(holding=holding)}


def forget_files() -> int:
    """Delete files of HITs that are disposed of and of work that was given back; how many."""
    gone = Q(holding__hit__disposed_at__isnull=False) | Q(
        holding__state__in=(Holding.State.RETURNED, Holding.State.ABANDONED)
    )
    count = 0
    while rows := list(UploadedFile.objects.filter(gone).order_by("pk")[:_AT_ONCE]):
        _delete_bytes(row.key for row in rows)
        UploadedFile.objects.filter(pk__in=[row.pk for row in rows]).delete()
        count += len(rows)
    return count


def forget_orphans() -> None:
    """Delete bytes that no row names for a day: what a process left that died over an upload."""
    before = time.time() - _ORPHAN_SECONDS
    for key in list(_stored_keys(before)):
        if not UploadedFile.objects.filter(key=key).exists():
            _delete_bytes([key])


def _stored_keys(before: float) -> Iterator[str]:
    for path in (settings.DATA_DIR / _PLACE).glob("??/*"):
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < before:
                yield path.name
    store = shared_store()
    if store.is_shared:
        for name, since in store.names(_PLACE):
            if since.timestamp() < before:
                yield name.rpartition("/")[2]


def _plain_name(name: str) -> str:
    """The last part of a name, of characters that a header and a file system can carry."""
    last = name.replace("\\", "/").rpartition("/")[2]
    safe_name = "".join(letter for letter in last if letter.isprintable() and letter not in '<>:"|?*')
    return safe_name.strip(". ")[-255:] or "file"


def _name(key: str) -> str:
    return f"{_PLACE}/{key[:2]}/{key}"


def _path(key: str) -> Path:
    return Path(settings.DATA_DIR) / _name(key)


def _delete_bytes(keys: Iterable[str]) -> None:
    for key in keys:
        _path(key).unlink(missing_ok=True)
        shared_store().delete(_name(key))


def _open(row: UploadedFile) -> BinaryIO:
    store = shared_store()
    if not store.is_shared:
        return _path(row.key).open("rb")
    copy = _path(row.key).with_suffix(".copy")
    fetch(store, _name(row.key), copy)
    try:
        return copy.open("rb")
    finally:
        copy.unlink()


# Lending.


def lent_address(row: UploadedFile, base_url: str) -> str:
    """An address at which anybody gets the file for LENT_SECONDS."""
    return f"{base_url}/mturk/files/{_signer.sign(row.key).replace(':', '-')}"


def download(row: UploadedFile) -> FileResponse:
    """The file as an attachment that no page of ours can become."""
    try:
        file = _open(row)
    except FileNotFoundError as error:
        raise Http404("The file is not there any more.") from error
    answer = FileResponse(file, as_attachment=True, filename=row.name, content_type=row.mime)
    answer["X-Content-Type-Options"] = "nosniff"
    answer["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return answer


@require_safe
@never_cache
def lent_file(request: HttpRequest, signature: str) -> HttpResponseBase:
    """A file at an address of GetFileUploadURL."""
    try:
        key = _signer.unsign(signature.replace("-", ":", 2), max_age=LENT_SECONDS)
    except signing.BadSignature:
        return HttpResponse("This address was valid for 60 seconds.", status=403, content_type="text/plain")
    row = UploadedFile.objects.filter(key=key, holding__hit__disposed_at=None).first()
    if row is None:
        raise Http404("The file is not there any more.")
    return download(row)
