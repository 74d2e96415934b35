"""Which files of a release can be downloaded, from which page or link, how they are sent; public pages."""

import io
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, BinaryIO

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from core.accounts.keys import Purpose, ValidKey, issue_key, note_use, read_key
from core.projects.models import Event
from core.projects.selectors import project_for
from core.projects.services import record
from releases import manifest, storage
from releases.manifest import MANIFEST, SUMS
from releases.models import Release
from releases.tables import SPLITS

# Sending a file in whole or in part (RFC 9110, 13 and 14), in constant memory.

#: Bytes in memory at a time.
_PIECE = 1 << 18
_RANGE = re.compile(r"bytes=\s*(\d{0,18})-(\d{0,18})\s*", re.ASCII)
_TYPES = {
    "json": "application/json", "jsonl": "application/jsonl", "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8", "md": "text/markdown; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes from `start` to before `stop` of `size` bytes; `is_whole` where nobody asked for a part."""

    start: int
    stop: int
    size: int
    is_whole: bool

    @property
    def length(self) -> int:
        """How many bytes."""
        return self.stop - self.start


class OutsideError(ValueError):
    """A part that lies outside of the file."""


def part_of(header: str, size: int) -> Part:
    """The part that a Range header asks for. One that cannot be read, or has several, is the whole file."""
    full_part = Part(0, size, size, True)
    match = _RANGE.fullmatch(header.strip())
    if match is None or match[0].strip() == "bytes=-":
        return full_part
    first, last = match.groups()
    if not first:
        if not last or not int(last):
            raise OutsideError(header)
        return Part(max(0, size - int(last)), size, size, False)
    start, stop = int(first), size if not last else min(int(last) + 1, size)
    # RFC 9110, 14.1.1: such a range is not valid, and a field that is not valid is ignored.
    if last and int(last) < start:
        return full_part
    if start >= size:
        raise OutsideError(header)
    return Part(start, stop, size, False)


def wanted_part(request: HttpRequest, etag: str, size: int) -> Part:
    """The part that a request asks for; whole where `If-Range` names another state of the file."""
    header = request.headers.get("Range", "")
    only_if = request.headers.get("If-Range", "")
    if not header or request.method not in ("GET", "HEAD") or (only_if and only_if != etag):
        return Part(0, size, size, True)
    return part_of(header, size)


def asks_only_for_head(request: HttpRequest) -> bool:
    """Whether nothing but the head of an answer is sent; the API calls its operations as for GET then."""
    return request.method == "HEAD" or getattr(request, "only_head", False)


def has_current_copy(request: HttpRequest, etag: str) -> bool:
    """Whether the asking side says that it has the file as it is."""
    tags = request.headers.get("If-None-Match", "")
    return tags.strip() == "*" or etag in [each.strip().removeprefix("W/") for each in tags.split(",")]


def send(
    request: HttpRequest, *, opened: Callable[[], BinaryIO], part: Part, name: str, etag: str
) -> HttpResponseBase:
    """The part of a file; to HEAD its head alone, and the file is not opened."""
    status = 200 if part.is_whole else 206
    answer: HttpResponseBase
    if asks_only_for_head(request):
        answer = HttpResponse(status=status)
    else:
        answer = StreamingHttpResponse(_Pieces(opened(), part), status=status)
    answer["Content-Type"] = type_of(name)
    answer["Content-Length"] = str(part.length)
    if not part.is_whole:
        answer["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{part.size}"
    return with_file_headers(answer, name=name, etag=etag)


def outside_range(size: int, etag: str) -> HttpResponse:
    """Nothing of the file lies where the request asks."""
    answer = HttpResponse(status=416)
    answer["Content-Range"] = f"bytes */{size}"
    answer["ETag"] = etag
    return answer


def not_modified(etag: str) -> HttpResponse:
    """The asking side has the file as it is."""
    answer = HttpResponse(status=304)
    answer["ETag"] = etag
    return answer


def with_file_headers(answer: HttpResponseBase, *, name: str, etag: str = "") -> HttpResponseBase:
    """Head fields of every download: saved and not shown, and never taken for another type."""
    answer["Content-Disposition"] = content_disposition_header(True, name)
    answer["X-Content-Type-Options"] = "nosniff"
    answer["Cache-Control"] = "private, no-cache"
    if etag:
        answer["ETag"] = etag
        answer["Accept-Ranges"] = "bytes"
    return answer


def type_of(name: str) -> str:
    """The media type by the end of a name."""
    return _TYPES.get(name.rpartition(".")[2].lower(), "application/octet-stream")


class _Pieces:
    """The bytes of a part, some at a time. It closes its file also where nobody reads it to the end."""

    def __init__(self, file: BinaryIO, part: Part) -> None:
        self._file, self._left = file, part.length
        file.seek(part.start)

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        piece = self._file.read(min(_PIECE, self._left)) if self._left else b""
        if not piece:
            self.close()
            raise StopIteration
        self._left -= len(piece)
        return piece

    def close(self) -> None:
        """Let the file go."""
        self._left = 0
        self._file.close()


#: The same archive for the same files, whenever it is made.
_THEN = (1980, 1, 1, 0, 0, 0)


class _Pipe(io.RawIOBase):
    """A file that only grows, and gives away what was written."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, chunk: object) -> int:
        """Take some bytes."""
        piece = bytes(chunk)  # type: ignore[call-overload]
        self._parts.append(piece)
        return len(piece)

    def take(self) -> bytes:
        """What was written since."""
        written = b"".join(self._parts)
        self._parts.clear()
        return written


def stream_archive(
    folder: str, files: Sequence[tuple[str, int]], opened: Callable[[str], BinaryIO]
) -> Iterator[bytes]:
    """The archive, piece by piece; `files` are paths and sizes, and lie in `folder` inside of it."""
    pipe = _Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_STORED) as archive:
        for path, size in files:
            entry = zipfile.ZipInfo(f"{folder}/{path}", _THEN)
            entry.file_size = size
            entry.external_attr = 0o644 << 16  # readable for all; of itself zipfile writes 0600
            with opened(path) as file, archive.open(entry, "w") as into:
                while piece := file.read(_PIECE):
                    into.write(piece)
                    yield pipe.take()
            yield pipe.take()
    yield pipe.take()


#: A signed address works for so long, as long as whom it was made for may look.
LINK = Purpose(salt="releases.link", life=timedelta(days=7))
#: A part of a file that somebody has begun to download within this time belongs to that download.
_ONE_DOWNLOAD = timedelta(days=1)
DOWNLOADED = "release.downloaded"


@dataclass(frozen=True, slots=True)
class DownloadFile:
    """One file that can be downloaded. `bytes` is None where only the storage knows, `sha256` empty."""

    path: str
    bytes: int | None
    rows: int | None
    sha256: str
    format: str

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]


def list_download_files(release: Release) -> list[DownloadFile]:
    """All files of a release, those that describe it first."""
    rows = release.files.order_by("path").values_list("path", "bytes", "rows", "sha256", "format")
    files = [DownloadFile(*row) for row in rows]
    paths = {each.path for each in files}
    if MANIFEST not in paths:
        files.append(DownloadFile(MANIFEST, None, None, release.digest, ""))
    if SUMS not in paths:
        files.append(DownloadFile(SUMS, None, None, "", ""))
    return sorted(files, key=lambda each: (bool(each.format), each.path))


#: How pandas reads a table, the best format first. An id 001 is no number 1, and NA is an answer.
_READS = {
    "parquet": "pd.read_parquet({!r})",
    "jsonl": "pd.read_json({!r}, lines=True, dtype=False)",
    "csv": "pd.read_csv({!r}, keep_default_na=False, na_values=[''], dtype=str)",
}


def write_loading(files: Sequence[DownloadFile], address: str) -> str:
    """Lines of Python that read a table by its address, the references where there are some; "" for none."""
    for format_name, call in _READS.items():
        tables = [each for each in files if each.format == format_name]
        for each in sorted(tables, key=lambda each: not each.name.startswith("references")):
            name = each.name.partition("-")[0]
            return f"import pandas as pd\n\n{name} = {call.format(address + each.path)}"
    return ""


def find_download_file(release: Release, path: str) -> DownloadFile:
    """The file at a path; Http404 where the release has none."""
    if path in (MANIFEST, SUMS):
        return DownloadFile(path, None, None, release.digest if path == MANIFEST else "", "")
    row = release.files.filter(path=path).values_list("path", "bytes", "rows", "sha256", "format").first()
    if row is None:
        raise Http404("The release has no such file.")
    return DownloadFile(*row)


def gone_response(release: Release) -> HttpResponse | None:
    """What is said in place of a file of a withdrawn release; Http404 where there are no files yet."""
    if release.state == Release.State.WITHDRAWN:
        return HttpResponse(
            f"Release {release.version} was withdrawn: {release.withdrawn_reason}\n",
            status=410,
            content_type="text/plain; charset=utf-8",
            headers={"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"},
        )
    if release.state != Release.State.READY:
        raise Http404("There is nothing to download yet.")
    return None


def send_file(request: HttpRequest, release: Release, path: str, *, user: Any = None) -> HttpResponseBase:
    """The file, or the part of it that the request asks for; one event for each download of a file.

    A download that is resumed in parts is one: a part is logged only where the log has no download of that
    file by the same person within a day, so that nobody downloads unseen by leaving the first byte out.
    """
    if (no := gone_response(release)) is not None:
        return no
    download = find_download_file(release, path)
    # A release never changes, so the digest of a file is its name for good; SHA256SUMS has none of its own.
    etag = f'"{download.sha256 or "sums-" + release.digest}"'
    if has_current_copy(request, etag):
        return not_modified(etag)
    size = download.bytes if download.bytes is not None else _size(release, path)
    try:
        part = wanted_part(request, etag, size)
    except OutsideError:
        return outside_range(size, etag)

    def opened() -> BinaryIO:
        return _open(release, path)

    answer = send(request, opened=opened, part=part, name=download.name, etag=etag)
    if not asks_only_for_head(request) and (part.start == 0 or not _has_begun(release, path, user)):
        _note(release, path, user)
    return answer


def send_archive(request: HttpRequest, release: Release, *, user: Any = None) -> HttpResponseBase:
    """All files in one archive."""
    if (no := gone_response(release)) is not None:
        return no
    name = f"{release.project.slug}-{release.version}"
    answer: HttpResponseBase
    if asks_only_for_head(request):
        answer = HttpResponse()
    else:
        files = [(each.path, each.bytes or 0) for each in list_download_files(release)]
        # Files that are gone are told now: once the first byte is sent, no status can say it.
        with _open(release, MANIFEST):
            answer = StreamingHttpResponse(stream_archive(name, files, lambda path: _open(release, path)))
        _note(release, "(all files)", user)
    answer["Content-Type"] = "application/zip"
    return with_file_headers(answer, name=f"{name}.zip")


def link_for(release: Release, user: User) -> str:
    """A token with which a program downloads files of a release as this person, without a log-in."""
    return issue_key(purpose=LINK, user=user, name=_link_name(release), payload={"release": release.pk})


def read_link(token: str) -> ValidKey:
    """The key of a link, given a release; Http404 where it is none, or has ended."""
    if (valid := read_key(LINK, token)) is None:
        raise Http404("This address is not valid any more.")
    return valid


def note_link_use(link: ValidKey, release: Release) -> None:
    """Remember that an address was used; Http404 where its person has ended it."""
    if not note_use(link, name=_link_name(release)):
        raise Http404("This address was ended by the person it was made for.")


def _link_name(release: Release) -> str:
    return f"Files of {release.project.title} {release.version}"


def _open(release: Release, path: str) -> BinaryIO:
    try:
        return storage.open_at(release, path)
    except FileNotFoundError as error:
        raise Http404("The file is not where it was put.") from error


def _size(release: Release, path: str) -> int:
    with _open(release, path) as file:
        return file.seek(0, 2)


def _subject(release: Release, path: str) -> str:
    return f"{release.version} {path}"[:200]


def _has_begun(release: Release, path: str, user: Any) -> bool:
    return Event.objects.filter(
        project=release.project_id,
        action=DOWNLOADED,
        subject=_subject(release, path),
        actor=user,
        at__gt=timezone.now() - _ONE_DOWNLOAD,
    ).exists()


def _note(release: Release, path: str, user: Any) -> None:
    record(
        project=release.project,
        action=DOWNLOADED,
        subject=_subject(release, path),
        actor=user,
        details={"release": release.pk, "path": path, "public": user is None},
    )


# Pages and downloads without a log-in: of releases whose owner says so, and signed addresses of members.


def _public(project: str, version: str) -> Release:
    rows = Release.objects.select_related("project").filter(public=True, state__in=Release.BUILT)
    release: Release = get_object_or_404(rows, project__slug=project, version=version)
    return release


@require_safe
def page(request: HttpRequest, *, project: str, version: str) -> HttpResponse:
    """A public release: what is in it, its files, or why it was withdrawn. No member is named on it."""
    release = _public(project, version)
    ready = release.state == Release.State.READY
    base = request.build_absolute_uri(reverse("public_releases:file", args=[project, version, "FILE"]))
    files, link = list_download_files(release) if ready else [], base.removesuffix("FILE")
    return render(
        request,
        "releases/public.html",
        {
            "release": release,
            "title": release.manifest.get("title") or release.project.title,
            "files": files,
            "link": link,
            "loading": write_loading(files, link),
            "splits": SPLITS,
            "tables": manifest.tables(release.manifest),
            "facts": manifest.facts(release.manifest),
            "steps": manifest.steps(release.manifest),
        },
    )


@require_safe
def file(request: HttpRequest, *, project: str, version: str, path: str) -> HttpResponseBase:
    """A file of a public release."""
    return send_file(request, _public(project, version), path)


@require_safe
def archive(request: HttpRequest, *, project: str, version: str) -> HttpResponseBase:
    """All files of a public release."""
    return send_archive(request, _public(project, version))


@require_safe
def linked(request: HttpRequest, *, token: str, path: str) -> HttpResponseBase:
    """A file, by the signed address of a member who may still look."""
    link = read_link(token)
    release = get_object_or_404(Release.objects.select_related("project"), pk=int(link.payload["release"]))
    project_for(link.user, release.project.slug)
    note_link_use(link, release)
    return send_file(request, release, path, user=link.user)
