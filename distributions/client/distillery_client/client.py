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
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from distillery_client.errors import ApiError, JobFailedError
from distillery_client.generated import models
from distillery_client.generated.async_operations import AsyncOperations
from distillery_client.generated.operations import Operations
from distillery_client.rows import Rows

Item = TypeVar("Item")
#: States in which a job is over.
_OVER = frozenset({"done", "failed", "cancelled"})
_FIRST_LOOK_S, _LONGEST_LOOK_S = 0.2, 5.0
Progress = Callable[[models.JobDetails], None]


class Client(Operations):
    """A connection to an installation, with the rights of a token."""

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

    def upload(self, path: str | Path) -> models.UploadOut:
        """Send a file; imports name it by its digest."""
        file = Path(path)
        return self.client.upload_file(self.slug, file.read_bytes(), name=file.name)

    def import_queries(
        self, path: str | Path, *, progress: Progress | None = None, **options: Any
    ) -> models.QueryImportOut:
        """Bring a log in, wait for it, and give its report; `options` as `QueryImportIn` has them."""
        upload = self.upload(path)
        job = self.client.import_queries(self.slug, {"upload": upload.sha256, **options})
        done = self.wait(job.job, progress=progress)
        return self.client.get_query_import(self.slug, int(done.result))

    def import_candidates(
        self, path: str | Path, *, progress: Progress | None = None, **options: Any
    ) -> dict[str, Any]:
        """Bring answers of systems in, wait for it, and give the report."""
        upload = self.upload(path)
        job = self.client.import_candidates(self.slug, {"upload": upload.sha256, **options})
        report: dict[str, Any] = self.wait(job.job, progress=progress).result
        return report

    def queries(self, **filters: Any) -> Rows:
        """All queries."""
        return Rows(lambda: self.client.export_queries(self.slug, **filters))

    def build_release(self, *, progress: Progress | None = None, **options: Any) -> Release:
        """Have a release built, and wait for it; `options` as `ReleaseIn` has them."""
        begun = self.client.build_release(self.slug, options)
        if begun.job is not None:
            done = self.wait(begun.job, progress=progress)
            result = done.result if isinstance(done.result, dict) else {}
            return Release(self, str(result.get("version") or begun.version))
        return Release(self, begun.version)

    def wait(
        self, job: int, *, progress: Progress | None = None, timeout_s: float | None = None
    ) -> models.JobDetails:
        """Wait for a job; JobFailedError where it came to no result, TimeoutError after `timeout_s`."""
        until = None if timeout_s is None else time.monotonic() + timeout_s
        pause = _FIRST_LOOK_S
        while True:
            found = self.client.get_job(self.slug, job)
            if progress is not None:
                progress(found)
            if found.state == "done":
                return found
            if found.state in _OVER:
                raise JobFailedError(
                    200, f"job_{found.state}", found.error or f"Job {job} was {found.state}."
                )
            if until is not None and time.monotonic() > until:
                raise TimeoutError(f"Job {job} is {found.state} after {timeout_s} s.")
            time.sleep(pause)
            pause = min(_LONGEST_LOOK_S, pause * 1.5)


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
        until = time.monotonic() + wait_s
        while not self._client.quote_stage(self.project.slug, self.slug).hits and time.monotonic() < until:
            time.sleep(1)
        return self._client.open_stage(self.project.slug, self.slug, body=body)

    def simulate(
        self, workers: int = 20, *, mix: str = "clean", seed: int = 1, progress: Progress | None = None
    ) -> dict[str, Any]:
        """Let simulated workers do what is on offer, and wait for them; for play money only."""
        body = {"workers": workers, "mix": mix, "seed": seed}
        job = self._client.simulate_workers(self.project.slug, self.slug, body)
        result: dict[str, Any] = self.project.wait(job.job, progress=progress).result
        return result

    def wait_until_collected(self, *, timeout_s: float = 600) -> models.ProgressOut:
        """Wait until no answer is missing; TimeoutError after `timeout_s`."""
        until = time.monotonic() + timeout_s
        while True:
            found = self._client.get_progress(self.project.slug, self.slug)
            if not found.answers_missing:
                return found
            if time.monotonic() > until:
                raise TimeoutError(f"{found.answers_missing} answers of {self.slug} are missing.")
            time.sleep(1)

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
        self, recipe: str = "default", *, progress: Progress | None = None, **parameters: Any
    ) -> models.FilterPreviewOut:
        """Preview a recipe, put it in force, wait for it, and give the preview."""
        wish = {"recipe": recipe, "parameters": parameters}
        preview = self._client.preview_filters(self.project.slug, self.slug, wish)
        job = self._client.apply_filters(self.project.slug, self.slug, {**wish, "seen": preview.seen})
        self.project.wait(job.job, progress=progress)
        return preview


class Release:
    """A release of a project."""

    def __init__(self, project: Project, version: str) -> None:
        self.project, self.version, self._client = project, version, project.client

    def details(self) -> models.ReleaseDetails:
        """State, digest and files."""
        return self._client.get_release(self.project.slug, self.version)

    def read(self, path: str) -> bytes:
        """One file, checked against its digest."""
        listed = {each.path: each.sha256 for each in self.details().files}
        return self._read(path, listed.get(path, ""))

    def _read(self, path: str, sha256: str) -> bytes:
        content = self._client.download_file(self.project.slug, self.version, path)
        if sha256 and hashlib.sha256(content).hexdigest() != sha256:
            raise ApiError(200, "digest_differs", f"{path} came with other bytes than the release has.")
        return content

    def download(self, folder: str | Path, *, progress: Callable[[str], None] | None = None) -> Path:
        """All files into `folder`/`version`, checked against their digests; what is there and whole stays."""
        into = Path(folder) / self.version
        for each in self.details().files:
            if ".." in Path(each.path).parts or Path(each.path).is_absolute():
                raise ApiError(200, "path_outside", f"{each.path!r} leads out of the folder.")
            place = into / each.path
            if each.sha256 and place.is_file() and _digest(place) == each.sha256:
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            half = place.with_name(f"{place.name}.part")
            half.write_bytes(self._read(each.path, each.sha256))
            half.replace(place)
            if progress is not None:
                progress(each.path)
        return into

    def table(self, name: str) -> Rows:
        """The rows of a table, such as queries, answers, candidates; of a release with JSON lines."""

        def rows() -> Iterator[dict[str, Any]]:
            files = [each for each in self.details().files if each.format == "jsonl"]
            found = [each for each in files if Path(each.path).name.startswith((f"{name}-", f"{name}."))]
            if not found:
                there = ", ".join(each.path for each in files) or "none"
                raise ApiError(
                    404, "no_such_table", f"There is no table {name!r} as JSON lines; files: {there}."
                )
            for each in found:
                for line in self._read(each.path, each.sha256).splitlines():
                    if line.strip():
                        yield json.loads(line)

        return Rows(rows)

    def scores(self) -> Rows:
        """The candidates with their human scores."""
        return self.table("candidates")

    def evaluate(self, *, progress: Progress | None = None, **plan: Any) -> models.EvaluationDetails:
        """Have metrics computed and compared with people, wait for it, and give the report."""
        begun = self._client.start_evaluation(self.project.slug, self.version, plan)
        if begun.job is not None:
            self.project.wait(begun.job, progress=progress)
        return self._client.get_evaluation(self.project.slug, self.version, begun.number)


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


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
