"""The client: every operation of the API as a coroutine, and objects for what a study is made of.

from distillery_client import AsyncClient

async with AsyncClient("https://crowd.example.org", token="dst_…") as client:
    project = client.project("tea")
    await project.import_queries("log.csv", start_at="screening")
    release = await project.build_release(formats=["jsonl"])
    scores = await release.scores().to_pandas()
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any, TypeVar

import httpx

from distillery_client.async_rows import AsyncRows
from distillery_client.async_transfers import AsyncFileBody, async_fetch_file
from distillery_client.blocking import async_call
from distillery_client.errors import ApiError, JobFailedError, NotFoundError, WaitTimeoutError
from distillery_client.files import digest_of
from distillery_client.generated import models
from distillery_client.generated.async_operations import AsyncOperations
from distillery_client.generated.lines import COLUMNS
from distillery_client.progress import Progress, ProgressFunction, ProgressUpdate, shown_progress
from distillery_client.sending import RetryPolicy

Item = TypeVar("Item")
#: Seconds that jobs and people are waited for unless a call says otherwise; None waits for ever.
JOB_WAIT_S, PEOPLE_WAIT_S = 3600.0, 600.0
#: States in which a job is over.
_OVER = frozenset({"done", "failed", "cancelled"})
#: Something is looked at again after a tenth of the time since the beginning, but between these.
_SHORTEST_PAUSE_S, _LONGEST_PAUSE_S = 0.2, 5.0
#: Formats of releases by the name that `datasets` has for them, the best first: Parquet knows its types.
_LOADERS = {"parquet": "parquet", "jsonl": "json", "csv": "csv"}
#: What `frame_of` calls the kinds of columns of a release.
_KINDS = {"integer": "integer", "number": "number", "flag": "boolean"}


async def _pauses(timeout_s: float | None) -> AsyncIterator[float]:
    """Seconds since the beginning, each after a pause; ends with the time."""
    began = time.monotonic()
    while True:
        since = time.monotonic() - began
        yield since
        if timeout_s is not None and since >= timeout_s:
            return
        pause = min(_LONGEST_PAUSE_S, max(_SHORTEST_PAUSE_S, since / 10))
        await asyncio.sleep(pause if timeout_s is None else min(pause, timeout_s - since))


class AsyncClient(AsyncOperations):
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
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(url, token, timeout_s=timeout_s, retry=retry, transport=transport)
        self.progress = progress

    async def __aenter__(self) -> AsyncClient:
        """Itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections."""
        await self.close()

    async def pages(
        self, operation: Callable[..., Awaitable[models.Page[Item]]], *parts: Any, **filters: Any
    ) -> AsyncIterator[Item]:
        """The items of all pages of a list: `client.pages(client.list_stages, "tea")`."""
        cursor = ""
        while True:
            page = await operation(*parts, **{"limit": 200, **filters, "cursor": cursor or None})
            for item in page.items:
                yield item
            if not page.next:
                return
            cursor = page.next

    def project(self, slug: str) -> AsyncProject:
        """A project, which is not asked for yet."""
        return AsyncProject(self, slug)

    async def apply_study_file(self, path: str | Path) -> models.StudyOut:
        """Have a project and its stages be as a study file says."""
        return await self.apply_study(await async_call(Path(path).read_bytes))


class AsyncProject:
    """A project of the installation."""

    def __init__(self, client: AsyncClient, slug: str) -> None:
        self.client, self.slug = client, slug

    async def details(self) -> models.ProjectOut:
        """Settings and budget, as they are now."""
        return await self.client.get_project(self.slug)

    def stage(self, slug: str) -> AsyncStage:
        """A stage of the project."""
        return AsyncStage(self, slug)

    def release(self, version: str) -> AsyncRelease:
        """A release of the project."""
        return AsyncRelease(self, version)

    async def close(self, why: str = "") -> models.ProjectOut:
        """Close the project, whose stages are drafts or closed: nothing new is asked of people."""
        return await self.client.set_project_state(self.slug, {"state": "closed", "why": why})

    async def reopen(self, why: str = "") -> models.ProjectOut:
        """Let stages be made and opened again."""
        return await self.client.set_project_state(self.slug, {"state": "open", "why": why})

    async def upload(self, path: str | Path, *, progress: Progress = None) -> models.UploadOut:
        """Send a file; imports name it by its digest."""
        file = Path(path)
        with self._open_progress(progress) as show:
            label = f"Sending {file.name}"
            size = file.stat().st_size
            body = AsyncFileBody(file, lambda done: show(ProgressUpdate(label, done, size, is_bytes=True)))
            return await self.client.upload_file(self.slug, body, name=file.name)

    async def import_queries(
        self,
        path: str | Path,
        *,
        progress: Progress = None,
        timeout_s: float | None = JOB_WAIT_S,
        **options: Any,
    ) -> models.QueryImportOut:
        """Bring a log in, wait for it, and give its report; `options` as `QueryImportIn` has them."""
        upload = await self.upload(path, progress=progress)
        job = await self.client.import_queries(self.slug, {"upload": upload.sha256, **options})
        done = await self.wait(job.job, label="Importing queries", progress=progress, timeout_s=timeout_s)
        return await self.client.get_query_import(self.slug, int(done.result))

    async def import_candidates(
        self,
        path: str | Path,
        *,
        progress: Progress = None,
        timeout_s: float | None = JOB_WAIT_S,
        **options: Any,
    ) -> dict[str, Any]:
        """Bring answers of systems in, wait for it, and give the report."""
        upload = await self.upload(path, progress=progress)
        job = await self.client.import_candidates(self.slug, {"upload": upload.sha256, **options})
        done = await self.wait(job.job, label="Importing candidates", progress=progress, timeout_s=timeout_s)
        report: dict[str, Any] = done.result
        return report

    def queries(self, **filters: Any) -> AsyncRows:
        """All queries."""
        return AsyncRows(lambda: self.client.export_queries(self.slug, **filters), COLUMNS["export_queries"])

    def candidates(self, **filters: Any) -> AsyncRows:
        """Answers of systems, with what people said about each."""
        return AsyncRows(
            lambda: self.client.export_candidates(self.slug, **filters), COLUMNS["export_candidates"]
        )

    def curated(self) -> AsyncRows:
        """The passages that were chosen for each query."""
        return AsyncRows(lambda: self.client.export_curated(self.slug), COLUMNS["export_curated"])

    def undecided(self, waiting: Any = None) -> AsyncRows:
        """Queries that wait for a person: tied, one-flag, disputed, doubt."""
        return AsyncRows(
            lambda: self.client.export_cases(self.slug, waiting=waiting), COLUMNS["export_cases"]
        )

    async def build_release(
        self, *, progress: Progress = None, timeout_s: float | None = JOB_WAIT_S, **options: Any
    ) -> AsyncRelease:
        """Have a release built, and wait for it; `options` as `ReleaseIn` has them."""
        begun = await self.client.build_release(self.slug, options)
        if begun.job is not None:
            label = f"Building release {begun.version}"
            done = await self.wait(begun.job, label=label, progress=progress, timeout_s=timeout_s)
            result = done.result if isinstance(done.result, dict) else {}
            return AsyncRelease(self, str(result.get("version") or begun.version))
        return AsyncRelease(self, begun.version)

    async def newest_release(self) -> AsyncRelease:
        """The newest release that can be downloaded; NotFoundError where there is none."""
        async for row in self.client.pages(self.client.list_releases, self.slug, order="newest"):
            if row.state == "ready":
                return self.release(row.version)
        raise NotFoundError(404, "no_release", f"{self.slug} has no release that is ready.")

    async def wait(
        self,
        job: int,
        *,
        label: str = "",
        progress: Progress = None,
        timeout_s: float | None = JOB_WAIT_S,
    ) -> models.JobDetails:
        """Wait for a job, an hour unless `timeout_s` says otherwise; None waits for ever.

        JobFailedError where it came to no result, WaitTimeoutError where it goes on after that time.
        """
        label = label or f"Job {job}"
        with self._open_progress(progress) as show:
            async for _ in _pauses(timeout_s):
                current = await self.client.get_job(self.slug, job)
                note = current.progress_note or {"queued": "waiting for a worker"}.get(current.state, "")
                update = ProgressUpdate(label, current.progress_done, current.progress_total, note)
                show(update)
                if current.state == "done":
                    return current
                if current.state in _OVER:
                    message = current.error or f"Job {job} was {current.state}."
                    raise JobFailedError(200, f"job_{current.state}", message)
        missing = f"job {job} is {current.state}" + (f", {update.describe()}" if update.describe() else "")
        raise WaitTimeoutError(
            f"{label} is not done after {timeout_s:g} s: {missing}. It goes on; wait for it with "
            f"project.wait({job}), and timeout_s=None waits for ever.",
            missing=missing,
            job=job,
        )

    def _open_progress(self, progress: Progress) -> AbstractContextManager[ProgressFunction]:
        return shown_progress(self.client.progress if progress is None else progress)


class AsyncStage:
    """A stage of a project."""

    def __init__(self, project: AsyncProject, slug: str) -> None:
        self.project, self.slug, self._client = project, slug, project.client

    async def details(self) -> models.StageOut:
        """Terms and state, as they are now."""
        return await self._client.get_stage(self.project.slug, self.slug)

    async def open(
        self, *, confirm_budget_cents: int | None = None, wait_s: float | None = 0
    ) -> models.QuoteOut:
        """Publish what is missing; where money is real, the stage's budget is confirmed.

        `wait_s`: how long to wait for something to ask, where the stage before is still being decided.
        """
        body = {} if confirm_budget_cents is None else {"confirm_budget_cents": confirm_budget_cents}
        async for _ in _pauses(wait_s):
            quote = await self._client.quote_stage(self.project.slug, self.slug)
            if quote.hits:
                break
        return await self._client.open_stage(self.project.slug, self.slug, body=body)

    async def simulate(
        self,
        workers: int = 20,
        *,
        mix: str = "clean",
        seed: int = 1,
        progress: Progress = None,
        timeout_s: float | None = JOB_WAIT_S,
    ) -> dict[str, Any]:
        """Let simulated workers do what is on offer, and wait for them; for play money only."""
        body = {"workers": workers, "mix": mix, "seed": seed}
        job = await self._client.simulate_workers(self.project.slug, self.slug, body)
        label = f"{workers} simulated workers at {self.slug}"
        done = await self.project.wait(job.job, label=label, progress=progress, timeout_s=timeout_s)
        result: dict[str, Any] = done.result
        return result

    async def wait_until_collected(
        self, *, timeout_s: float | None = PEOPLE_WAIT_S, progress: Progress = None
    ) -> models.ProgressOut:
        """Wait until no answer is missing and what they decide is decided; ten minutes, None: for ever.

        WaitTimeoutError says how many are missing, and why nothing comes where the stage is not open.
        """
        with self.project._open_progress(progress) as show:
            async for _ in _pauses(timeout_s):
                stage_progress = await self._client.get_progress(self.project.slug, self.slug)
                show(
                    ProgressUpdate(
                        f"Assignments of {self.slug}", stage_progress.answered, stage_progress.places
                    )
                )
                if not stage_progress.answers_missing and not stage_progress.waiting_decisions:
                    return stage_progress
        missing = f"{stage_progress.answers_missing:,} answers are missing"
        if not stage_progress.answers_missing:
            missing = f"{stage_progress.waiting_decisions:,} units have their answers and are not decided yet"
        reasons = [
            f"{stage_progress.answered:,} of {stage_progress.places:,} assignments came in",
            *(
                [f"the stage is {stage_progress.status}: nothing is on offer"]
                if stage_progress.status != "open"
                else []
            ),
            *([f"{stage_progress.held:,} assignments are held for a person"] if stage_progress.held else []),
            *(
                [f"{stage_progress.waiting_operations:,} calls are not sent yet"]
                if stage_progress.waiting_operations
                else []
            ),
        ]
        obstacles = "; ".join([missing, *reasons])
        raise WaitTimeoutError(
            f"{self.slug} is not collected after {timeout_s:g} s: {obstacles}. timeout_s=None waits for "
            "ever.",
            missing=missing,
        )

    def answers(self, **filters: Any) -> AsyncRows:
        """What people wrote."""
        return self._rows(self._client.export_answers, "export_answers", **filters)

    def judgments(self, **filters: Any) -> AsyncRows:
        """What judges said."""
        return self._rows(self._client.export_judgments, "export_judgments", **filters)

    def scores(self, **filters: Any) -> AsyncRows:
        """Human scores of candidates by the filters in force."""
        return self._rows(self._client.export_scores, "export_scores", **filters)

    def votes(self) -> AsyncRows:
        """Votes of a screening stage."""
        return self._rows(self._client.export_votes, "export_votes")

    def selections(self) -> AsyncRows:
        """Choices of passages of a curation stage."""
        return self._rows(self._client.export_selections, "export_selections")

    def assignments(self) -> AsyncRows:
        """All work, with what was answered."""
        return self._rows(self._client.export_assignments, "export_assignments")

    def agreement(self) -> AsyncRows:
        """Figures of agreement, a row each; `value` is missing where `reason` says why."""

        async def rows() -> AsyncIterator[dict[str, Any]]:
            agreement_figures = await self._client.get_agreement(self.project.slug, self.slug)
            for name, figure in agreement_figures.figures.items():
                yield {"figure": name, "value": figure.value, "reason": figure.reason}

        return AsyncRows(rows, {"figure": "", "value": "number", "reason": ""})

    def _rows(
        self, ask: Callable[..., AsyncIterator[dict[str, Any]]], name: str, **filters: Any
    ) -> AsyncRows:
        return AsyncRows(lambda: ask(self.project.slug, self.slug, **filters), COLUMNS[name])

    async def apply_filters(
        self,
        recipe: str = "default",
        *,
        progress: Progress = None,
        timeout_s: float | None = JOB_WAIT_S,
        **parameters: Any,
    ) -> models.FilterRunOut:
        """Put a recipe in force, wait for it, and give the run: what it removed is in its `counts`."""
        wish = {"recipe": recipe, "parameters": parameters}
        preview = await self._client.preview_filters(self.project.slug, self.slug, wish)
        wish_seen = {**wish, "seen": preview.seen}
        job = await self._client.apply_filters(self.project.slug, self.slug, wish_seen)
        label = f"Filtering {self.slug}"
        await self.project.wait(job.job, label=label, progress=progress, timeout_s=timeout_s)
        newest = await self._client.list_filter_runs(self.project.slug, self.slug, limit=1, order="newest")
        return newest.items[0]


class AsyncRelease:
    """A release of a project; its files are fetched once, checked against their digests, and kept."""

    def __init__(self, project: AsyncProject, version: str) -> None:
        self.project, self.version, self._client = project, version, project.client

    async def details(self) -> models.ReleaseDetails:
        """State, digest and files."""
        return await self._client.get_release(self.project.slug, self.version)

    def url(self, path: str) -> str:
        """The address of a file, for programs that read addresses; `headers()` says who asks."""
        return f"{self._client.url}{self._address(path)}"

    def headers(self) -> dict[str, str]:
        """What a program sends that reads files by their addresses."""
        return {"Authorization": f"Bearer {self._client.token}"}

    async def read(self, path: str) -> bytes:
        """One file in memory, checked against its digest."""
        details = await self._ready()
        digests = {each.path: each.sha256 for each in details.files}
        content = await self._client.download_file(self.project.slug, self.version, path)
        if (digest := digests.get(path)) and hashlib.sha256(content).hexdigest() != digest:
            raise ApiError(200, "digest_differs", f"{path} came with other bytes than the release has.")
        return content

    async def download(self, folder: str | Path, *, progress: Progress = None) -> Path:
        """All files into `folder`/`version`; complete files are kept, partial ones are resumed."""
        details = await self._ready()
        return await self._fetch(details.files, Path(folder) / self.version, progress)

    def table(self, name: str) -> AsyncRows:
        """The rows of a table, such as references, candidates, scores; of a release with JSON lines."""

        async def read() -> AsyncIterator[dict[str, Any]]:
            details = await self._ready()
            rows.columns = _columns_of(details, name)
            files = self._table_files(details, name, "jsonl")
            folder = await self._fetch(files, self._cache(), None)
            for each in files:
                with (folder / each.path).open(encoding="utf-8") as lines:
                    for line in lines:
                        if line.strip():
                            yield json.loads(line)

        rows = AsyncRows(read)
        return rows

    def scores(self) -> AsyncRows:
        """What people said about the candidates, after filters."""
        return self.table("scores")

    def references(self) -> AsyncRows:
        """Queries with their accepted answers and passages."""
        return self.table("references")

    def answers(self) -> AsyncRows:
        """All answers that people wrote."""
        return self.table("answers")

    def candidates(self) -> AsyncRows:
        """Answers of systems."""
        return self.table("candidates")

    def judgments(self) -> AsyncRows:
        """All judgments, with what filters made of them."""
        return self.table("ratings")

    async def load_dataset(
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
        details = await self._ready()
        formats = {each.format for each in details.files}
        written = next((name for name in _LOADERS if name in formats), "parquet")
        files = self._table_files(details, table, written)
        folder = await self._fetch(files, self._cache(), progress)
        by_split = {Path(each.path).stem.rpartition("-")[2]: str(folder / each.path) for each in files}
        loader = _LOADERS[written]
        return await async_call(load_dataset, loader, data_files=by_split, split=split, **options)

    async def evaluate(
        self, *, progress: Progress = None, timeout_s: float | None = JOB_WAIT_S, **plan: Any
    ) -> models.EvaluationDetails:
        """Have metrics computed and compared with people, wait for it, and give the report."""
        begun = await self._client.start_evaluation(self.project.slug, self.version, plan)
        if begun.job is not None:
            label = f"Evaluating release {self.version}"
            await self.project.wait(begun.job, label=label, progress=progress, timeout_s=timeout_s)
        return await self._client.get_evaluation(self.project.slug, self.version, begun.number)

    def _address(self, path: str) -> str:
        parts = [self._client._part(each) for each in (self.project.slug, self.version, path)]
        return "/api/v1/projects/{}/releases/{}/files/{}".format(*parts)

    async def _ready(self) -> models.ReleaseDetails:
        """Details of a release that has files, none of which leads out of its folder."""
        details = await self.details()
        if details.state != "ready":
            message = f"Release {self.version} is {details.state}, and has no files."
            raise NotFoundError(404, "not_ready", message)
        for each in details.files:
            if ".." in PurePosixPath(each.path).parts or PurePosixPath(each.path).is_absolute():
                raise ApiError(200, "path_outside", f"{each.path!r} leads out of the folder.")
        return details

    def _table_files(
        self, details: models.ReleaseDetails, table: str, written: str
    ) -> list[models.ReleaseFileOut]:
        """Files of a table; none where the release has it without a row."""
        of_format = [each for each in details.files if each.format == written]
        of_table = [each for each in of_format if Path(each.path).stem.rpartition("-")[0] == table]
        if not of_table and not (of_format and table in {each.get("name") for each in details.tables}):
            tables = sorted({Path(each.path).stem.rpartition("-")[0] for each in of_format})
            others = sorted({each.format for each in details.files} & _LOADERS.keys())
            choices = (
                f"as {written} it has {', '.join(tables)}"
                if of_format
                else f"nothing was written as {written}, but as {', '.join(others) or 'nothing else'}"
            )
            raise NotFoundError(404, "no_such_table", f"Release {self.version} has no {table!r}: {choices}.")
        return of_table

    def _cache(self) -> Path:
        """Where files of this release are kept: one that changes is another release."""
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "distillery"
        base.mkdir(mode=0o700, parents=True, exist_ok=True)  # a release may be for its project's eyes only
        return base / httpx.URL(self._client.url).netloc.decode() / self.project.slug / self.version

    async def _fetch(self, files: list[models.ReleaseFileOut], into: Path, progress: Progress) -> Path:
        total = sum(each.bytes or 0 for each in files)
        before = 0
        with self.project._open_progress(progress) as show:
            for each in files:

                def count(done: int, name: str = each.path, before: int = before) -> None:
                    show(ProgressUpdate(f"Fetching {name}", before + done, total, is_bytes=True))

                place, address = into / each.path, self._address(each.path)
                is_there = bool(each.sha256) and place.is_file()
                if not (is_there and await async_call(digest_of, place) == each.sha256):
                    await async_fetch_file(self._client, address, place, sha256=each.sha256, count=count)
                before += each.bytes or 0
        return into


def _columns_of(details: models.ReleaseDetails, table: str) -> dict[str, str]:
    """Kinds of the columns of a table of a release, by name; see `frame_of`."""
    table_details = next((each for each in details.tables if each.get("name") == table), {})
    columns = [each for each in table_details.get("columns", ()) if isinstance(each, dict)]
    return {str(each["name"]): _KINDS.get(str(each.get("kind")), "") for each in columns if "name" in each}
