"""The client: every operation of the API as a method, and objects for what a study is made of.

from distillery_client import Client

with Client("https://crowd.example.org", token="dst_…") as client:
    project = client.project("tea")
    project.import_queries("log.csv", start_at="screening")
    release = project.build_release(formats=["jsonl"])
    scores = release.scores().to_pandas()
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any, TypeVar

import httpx

from distillery_client.errors import ApiError, JobFailedError
from distillery_client.generated import models
from distillery_client.generated.async_operations import AsyncOperations
from distillery_client.generated.operations import Operations
from distillery_client.progress import Progress, ProgressFunction, ProgressUpdate, shown_progress
from distillery_client.rows import Rows
from distillery_client.sending import RetryPolicy
from distillery_client.transfers import FileBody, digest_of, fetch_file

Item = TypeVar("Item")
#: States in which a job is over.
_OVER = frozenset({"done", "failed", "cancelled"})
#: Something is looked at again after a tenth of the time since the beginning, but between these.
_SHORTEST_PAUSE_S, _LONGEST_PAUSE_S = 0.2, 5.0
#: Formats of releases by the name that `datasets` has for them, the best first: Parquet knows its types.
_LOADERS = {"parquet": "parquet", "jsonl": "json", "csv": "csv"}


def _pauses(timeout_s: float | None) -> Iterator[float]:
    """Seconds since the beginning, each after a pause; ends with the time."""
    began = time.monotonic()
    while True:
        since = time.monotonic() - began
        yield since
        if timeout_s is not None and since >= timeout_s:
            return
        time.sleep(min(_LONGEST_PAUSE_S, max(_SHORTEST_PAUSE_S, since / 10)))


class Client(Operations):
    """A connection to an installation, with the rights of a token.

    `progress` says what long calls show unless they are told otherwise: see `distillery_client.progress`.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout_s: float = 60,
        retry: RetryPolicy | None = None,
        progress: Progress = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        super().__init__(url, token, timeout_s=timeout_s, retry=retry, transport=transport)
        self.progress = progress

    def __enter__(self) -> Client:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections."""
        self.close()

    def pages(
        self, operation: Callable[..., models.Page[Item]], *parts: Any, **filters: Any
    ) -> Iterator[Item]:
        """The items of all pages of a list: `client.pages(client.list_stages, "tea")`."""
        cursor = ""
        while True:
            page = operation(*parts, **{"limit": 200, **filters, "cursor": cursor or None})
            yield from page.items
            if not page.next:
                return
            cursor = page.next

    def project(self, slug: str) -> Project:
        """A project, which is not asked for yet."""
        return Project(self, slug)

    def apply_study_file(self, path: str | Path) -> models.StudyOut:
        """Have a project and its stages be as a study file says."""
        return self.apply_study(Path(path).read_bytes())


class Project:
    """A project of the installation."""

    def __init__(self, client: Client, slug: str) -> None:
        self.client, self.slug = client, slug

    def details(self) -> models.ProjectOut:
        """Settings and budget, as they are now."""
        return self.client.get_project(self.slug)

    def stage(self, slug: str) -> Stage:
        """A stage of the project."""
        return Stage(self, slug)

    def release(self, version: str) -> Release:
        """A release of the project."""
        return Release(self, version)

    def upload(self, path: str | Path, *, progress: Progress = None) -> models.UploadOut:
        """Send a file; imports name it by its digest."""
        file = Path(path)
        with self._shown(progress) as show:
            label = f"Sending {file.name}"
            size = file.stat().st_size
            body = FileBody(file, lambda done: show(ProgressUpdate(label, done, size, is_bytes=True)))
            return self.client.upload_file(self.slug, body, name=file.name)

    def import_queries(
        self, path: str | Path, *, progress: Progress = None, **options: Any
    ) -> models.QueryImportOut:
        """Bring a log in, wait for it, and give its report; `options` as `QueryImportIn` has them."""
        upload = self.upload(path, progress=progress)
        job = self.client.import_queries(self.slug, {"upload": upload.sha256, **options})
        done = self.wait(job.job, label="Importing queries", progress=progress)
        return self.client.get_query_import(self.slug, int(done.result))

    def import_candidates(
        self, path: str | Path, *, progress: Progress = None, **options: Any
    ) -> dict[str, Any]:
        """Bring answers of systems in, wait for it, and give the report."""
        upload = self.upload(path, progress=progress)
        job = self.client.import_candidates(self.slug, {"upload": upload.sha256, **options})
        done = self.wait(job.job, label="Importing candidates", progress=progress)
        report: dict[str, Any] = done.result
        return report

    def queries(self, **filters: Any) -> Rows:
        """All queries."""
        return Rows(lambda: self.client.export_queries(self.slug, **filters))

    def build_release(self, *, progress: Progress = None, **options: Any) -> Release:
        """Have a release built, and wait for it; `options` as `ReleaseIn` has them."""
        begun = self.client.build_release(self.slug, options)
        if begun.job is not None:
            done = self.wait(begun.job, label=f"Building release {begun.version}", progress=progress)
            result = done.result if isinstance(done.result, dict) else {}
            return Release(self, str(result.get("version") or begun.version))
        return Release(self, begun.version)

    def newest_release(self) -> Release:
        """The newest release that can be downloaded; ApiError `no_release` where there is none."""
        rows = self.client.pages(self.client.list_releases, self.slug, order="newest")
        newest = next((row for row in rows if row.state == "ready"), None)
        if newest is None:
            raise ApiError(404, "no_release", f"{self.slug} has no release that is ready.")
        return self.release(newest.version)

    def wait(
        self, job: int, *, label: str = "", progress: Progress = None, timeout_s: float | None = None
    ) -> models.JobDetails:
        """Wait for a job; JobFailedError where it came to no result, TimeoutError after `timeout_s`."""
        with self._shown(progress) as show:
            for _ in _pauses(timeout_s):
                found = self.client.get_job(self.slug, job)
                note = found.progress_note or {"queued": "waiting for a worker"}.get(found.state, "")
                show(ProgressUpdate(label or f"Job {job}", found.progress_done, found.progress_total, note))
                if found.state == "done":
                    return found
                if found.state in _OVER:
                    raise JobFailedError(
                        200, f"job_{found.state}", found.error or f"Job {job} was {found.state}."
                    )
        raise TimeoutError(f"Job {job} is {found.state} after {timeout_s} s.")

    def _shown(self, progress: Progress) -> AbstractContextManager[ProgressFunction]:
        return shown_progress(self.client.progress if progress is None else progress)


class Stage:
    """A stage of a project."""

    def __init__(self, project: Project, slug: str) -> None:
        self.project, self.slug, self._client = project, slug, project.client

    def details(self) -> models.StageOut:
        """Terms and state, as they are now."""
        return self._client.get_stage(self.project.slug, self.slug)

    def open(self, *, confirm_budget_cents: int | None = None, wait_s: float = 0) -> models.QuoteOut:
        """Publish what is missing; where money is real, the stage's budget is confirmed.

        `wait_s`: how long to wait for something to ask, where the stage before is still being decided.
        """
        body = {} if confirm_budget_cents is None else {"confirm_budget_cents": confirm_budget_cents}
        for _ in _pauses(wait_s):
            if self._client.quote_stage(self.project.slug, self.slug).hits:
                break
        return self._client.open_stage(self.project.slug, self.slug, body=body)

    def simulate(
        self, workers: int = 20, *, mix: str = "clean", seed: int = 1, progress: Progress = None
    ) -> dict[str, Any]:
        """Let simulated workers do what is on offer, and wait for them; for play money only."""
        body = {"workers": workers, "mix": mix, "seed": seed}
        job = self._client.simulate_workers(self.project.slug, self.slug, body)
        label = f"{workers} simulated workers at {self.slug}"
        result: dict[str, Any] = self.project.wait(job.job, label=label, progress=progress).result
        return result

    def wait_until_collected(
        self, *, timeout_s: float = 600, progress: Progress = None
    ) -> models.ProgressOut:
        """Wait until no answer is missing; TimeoutError after `timeout_s`."""
        with self.project._shown(progress) as show:
            for _ in _pauses(timeout_s):
                found = self._client.get_progress(self.project.slug, self.slug)
                wanted = found.answered + found.answers_missing
                show(ProgressUpdate(f"Answers of {self.slug}", found.answered, wanted))
                if not found.answers_missing:
                    return found
        raise TimeoutError(f"{found.answers_missing} answers of {self.slug} are missing.")

    def answers(self, **filters: Any) -> Rows:
        """What people wrote."""
        return Rows(lambda: self._client.export_answers(self.project.slug, self.slug, **filters))

    def judgments(self, **filters: Any) -> Rows:
        """What judges said."""
        return Rows(lambda: self._client.export_judgments(self.project.slug, self.slug, **filters))

    def scores(self, **filters: Any) -> Rows:
        """Human scores of candidates by the filters in force."""
        return Rows(lambda: self._client.export_scores(self.project.slug, self.slug, **filters))

    def apply_filters(
        self, recipe: str = "default", *, progress: Progress = None, **parameters: Any
    ) -> models.FilterPreviewOut:
        """Preview a recipe, put it in force, wait for it, and give the preview."""
        wish = {"recipe": recipe, "parameters": parameters}
        preview = self._client.preview_filters(self.project.slug, self.slug, wish)
        job = self._client.apply_filters(self.project.slug, self.slug, {**wish, "seen": preview.seen})
        self.project.wait(job.job, label=f"Filtering {self.slug}", progress=progress)
        return preview


class Release:
    """A release of a project; its files are fetched once, checked against their digests, and kept."""

    def __init__(self, project: Project, version: str) -> None:
        self.project, self.version, self._client = project, version, project.client

    def details(self) -> models.ReleaseDetails:
        """State, digest and files."""
        return self._client.get_release(self.project.slug, self.version)

    def url(self, path: str) -> str:
        """The address of a file, for programs that read addresses; `headers()` says who asks."""
        return f"{self._client.url}{self._address(path)}"

    def headers(self) -> dict[str, str]:
        """What a program sends that reads files by their addresses."""
        return {"Authorization": f"Bearer {self._client.token}"}

    def read(self, path: str) -> bytes:
        """One file in memory, checked against its digest."""
        listed = {each.path: each.sha256 for each in self._files()}
        content = self._client.download_file(self.project.slug, self.version, path)
        if (known := listed.get(path)) and hashlib.sha256(content).hexdigest() != known:
            raise ApiError(200, "digest_differs", f"{path} came with other bytes than the release has.")
        return content

    def download(self, folder: str | Path, *, progress: Progress = None) -> Path:
        """All files into `folder`/`version`; what is whole stays, what broke off is gone on with."""
        return self._fetch(self._files(), Path(folder) / self.version, progress)

    def table(self, name: str) -> Rows:
        """The rows of a table, such as references, candidates, scores; of a release with JSON lines."""

        def rows() -> Iterator[dict[str, Any]]:
            files = self._table_files(name, "jsonl")
            folder = self._fetch(files, self._cache(), None)
            for each in files:
                with (folder / each.path).open(encoding="utf-8") as lines:
                    yield from (json.loads(line) for line in lines if line.strip())

        return Rows(rows)

    def scores(self) -> Rows:
        """What people said about the candidates, after filters."""
        return self.table("scores")

    def load_dataset(
        self,
        table: str = "references",
        *,
        split: str | None = None,
        progress: Progress = None,
        **options: Any,
    ) -> Any:
        """A table as `datasets.load_dataset` gives it: a Dataset with `split`, else a DatasetDict.

        The files are fetched, checked and kept below the user's cache; `options` go to `load_dataset`.
        ImportError in words where the package `datasets` is not installed.
        """
        try:
            from datasets import load_dataset
        except ImportError as error:
            raise ImportError(
                "load_dataset() needs the package `datasets`: pip install 'distillery-client[datasets]'"
            ) from error
        files = self._files()
        written = next((name for name in _LOADERS if any(each.format == name for each in files)), "parquet")
        wanted = self._table_files(table, written, files)
        folder = self._fetch(wanted, self._cache(), progress)
        by_split = {Path(each.path).stem.rpartition("-")[2]: str(folder / each.path) for each in wanted}
        return load_dataset(_LOADERS[written], data_files=by_split, split=split, **options)

    def evaluate(self, *, progress: Progress = None, **plan: Any) -> models.EvaluationDetails:
        """Have metrics computed and compared with people, wait for it, and give the report."""
        begun = self._client.start_evaluation(self.project.slug, self.version, plan)
        if begun.job is not None:
            self.project.wait(begun.job, label=f"Evaluating release {self.version}", progress=progress)
        return self._client.get_evaluation(self.project.slug, self.version, begun.number)

    def _address(self, path: str) -> str:
        parts = [self._client._part(each) for each in (self.project.slug, self.version, path)]
        return "/api/v1/projects/{}/releases/{}/files/{}".format(*parts)

    def _files(self) -> list[models.ReleaseFileOut]:
        details = self.details()
        if details.state != "ready":
            raise ApiError(404, "not_ready", f"Release {self.version} is {details.state}, and has no files.")
        for each in details.files:
            if ".." in PurePosixPath(each.path).parts or PurePosixPath(each.path).is_absolute():
                raise ApiError(200, "path_outside", f"{each.path!r} leads out of the folder.")
        return details.files

    def _table_files(
        self, table: str, written: str, files: list[models.ReleaseFileOut] | None = None
    ) -> list[models.ReleaseFileOut]:
        listed = [each for each in (files or self._files()) if each.format == written]
        found = [each for each in listed if Path(each.path).stem.rpartition("-")[0] == table]
        if not found:
            tables = sorted({Path(each.path).stem.rpartition("-")[0] for each in listed})
            there = (
                f"as {written} it has {', '.join(tables)}" if listed else f"nothing was written as {written}"
            )
            raise ApiError(404, "no_such_table", f"Release {self.version} has no {table!r}: {there}.")
        return found

    def _cache(self) -> Path:
        """Where files of this release are kept: one that changes is another release."""
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "distillery"
        base.mkdir(mode=0o700, parents=True, exist_ok=True)  # a release may be for its project's eyes only
        return base / httpx.URL(self._client.url).netloc.decode() / self.project.slug / self.version

    def _fetch(self, files: list[models.ReleaseFileOut], into: Path, progress: Progress) -> Path:
        total = sum(each.bytes or 0 for each in files)
        before = 0
        with self.project._shown(progress) as show:
            for each in files:

                def count(done: int, name: str = each.path, before: int = before) -> None:
                    show(ProgressUpdate(f"Fetching {name}", before + done, total, is_bytes=True))

                place = into / each.path
                if not (each.sha256 and place.is_file() and digest_of(place) == each.sha256):
                    fetch_file(self._client, self._address(each.path), place, sha256=each.sha256, count=count)
                before += each.bytes or 0
        return into


class AsyncClient(AsyncOperations):
    """The same operations for asyncio: `await client.list_projects()`."""

    async def __aenter__(self) -> AsyncClient:
        """Itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections."""
        await self.close()
