"""Building a release: asked for, planned as a row, built as files, finished as both together.

A release that is killed in between stays in the state `building` and has no digest; whoever began it builds
it again from the beginning or says that it failed. Only `finish` makes it ready, in one conditional update.
"""

import tempfile
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from core.errors import on_failure
from core.jobs import services as jobs
from core.jobs.errors import LeaseLostError
from core.jobs.handlers import JobContext
from core.jobs.models import Job
from core.jobs.services import enqueue
from core.progress import Progress, silent
from core.projects.models import Project
from core.projects.services import record
from releases import storage
from releases.datacard import card
from releases.errors import ReleaseError
from releases.facts import Facts, File, facts_of
from releases.formats import Written, jsonl
from releases.formats.writer import FormatWriters, write_formats
from releases.manifest import (
    ManifestFile,
    content_digest,
    json_text,
    manifest_of,
    sha256_of,
    tables_of,
    write_manifest,
)
from releases.metadata import citation, croissant
from releases.models import PrivacyFinding, Release, ReleaseFile
from releases.options import Options, options_of
from releases.privacy import accept_findings, check_project
from releases.release_content import ReleaseTables, Spool, fewer_collections, gather, scale_in_words
from releases.services import give_up, plan_release
from releases.tables import SPLITS, Source


def describe(folder: Path, facts: Facts) -> tuple[str, ...]:
    """Write data card, Croissant and citation into the release's folder; the names of the files."""
    texts: Mapping[str, Callable[[Facts], str]] = {
        "README.md": card,
        "croissant.json": croissant,
        "CITATION.cff": citation,
    }
    for name, make in texts.items():
        (folder / name).write_text(make(facts), encoding="utf-8", newline="\n")
    return tuple(texts)


State = Release.State
_BATCH = 500
#: In the manifest of a release in which it makes a difference: how workers got their pseudonyms.
ONE_PER_PERSON = "one for each person of a panel, also where they came by several endpoints or links"


@dataclass(frozen=True, slots=True)
class BuiltFiles:
    """The files of a release in their folder, and what its row will say about them.

    `same` is a ready release of the same content and options: then it is the release, not this one.
    """

    folder: Path
    manifest: dict[str, Any]
    digest: str
    content: str
    files: tuple[ManifestFile, ...]
    bytes: int
    simulated: bool
    imported: bool
    same: Release | None = None


def build(release: Release, *, folder: Path, progress: Progress = silent) -> BuiltFiles:
    """Write every file of a release into an empty folder; the database is only read.

    Raises ReleaseError where the folder is not empty. Where the same content was released with the same
    options before, the files are that release's, byte by byte, with its version.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise ReleaseError(f"{folder} is not empty. Name a folder that is empty or not there yet.")
    options = options_of(release.options)
    # Beside the folder, so that the lines of the rows can be hard links in it: no second copy on the disk.
    with tempfile.TemporaryDirectory(prefix=".rows-", dir=folder.parent) as room:
        spool = Spool(Path(room))
        source = Source(
            release.project, release, spool.tables, {}, spool.rows, lines=spool.lines, longest=spool.longest
        )
        with fewer_collections(), FormatWriters(options.formats, folder, source) as writers:
            gathered = gather(release.project, options, spool, progress, writers.add)
            content = content_digest(gathered.spool.digests, gathered.about)
            same = _same(release, content)
            about = _about(same or release, options, gathered, content)
            written = write_formats(options.formats, folder, source, progress, writers)
    progress(0, 0, "Checksums")
    files = [*_data_files(folder, written, gathered.spool.digests), *_reports(folder, gathered)]
    files += _descriptions(folder, same or release, options, gathered, files)
    manifest = manifest_of(about, files)
    digest = write_manifest(folder, manifest, files)
    paths = sorted(folder.rglob("*"))
    return BuiltFiles(
        folder,
        manifest,
        digest,
        content,
        tuple(files),
        sum(path.stat().st_size for path in paths if path.is_file()),
        gathered.by_programs,
        about["imported"],
        same,
    )


def finish(release: Release, built: BuiltFiles, *, actor: Any = None) -> Release:
    """Make a built release ready, with its files; the files are in their place already.

    Where the same was released before, the row that was planned goes and that release is given back. Raises
    ReleaseError where the release is no longer in the state `building`.
    """
    if built.same is not None:
        # FAILED too: it may have been given up while we built. A row that another attempt made ready stays.
        Release.objects.filter(pk=release.pk, state__in=[State.BUILDING, State.FAILED]).delete()
        return built.same
    with transaction.atomic():
        changed = Release.objects.filter(pk=release.pk, state=State.BUILDING).update(
            state=State.READY,
            manifest=built.manifest,
            digest=built.digest,
            content=built.content,
            bytes=built.bytes,
            simulated=built.simulated,
            imported=built.imported,
            built_at=timezone.now(),
            error="",
        )
        if not changed:
            raise ReleaseError(f"Version {release.version} is no longer being built; nothing was changed.")
        ReleaseFile.objects.bulk_create(
            (
                ReleaseFile(
                    release=release,
                    path=file.path,
                    format=file.format,
                    bytes=file.bytes,
                    rows=file.rows,
                    sha256=file.sha256,
                )
                for file in built.files
            ),
            batch_size=_BATCH,
        )
        record(
            project=release.project,
            action="release.built",
            subject=release.version,
            actor=actor or release.created_by,
            details={"digest": built.digest, "content": built.content, "bytes": built.bytes},
        )
    release.refresh_from_db()
    return release


def _same(release: Release, content: str) -> Release | None:
    """A ready release of the same content, made with the same options."""
    with_content = Release.objects.filter(project=release.project, state=State.READY, content=content)
    return next((each for each in with_content.order_by("pk") if each.options == release.options), None)


def _about(release: Release, options: Options, gathered: ReleaseTables, content: str) -> dict[str, Any]:
    project = release.project
    return {
        "name": project.slug,
        "title": project.title,
        "version": release.version,
        "notes": release.notes,
        "language": project.language,
        "licence": project.licence,
        "simulated": gathered.by_programs,
        "simulated_rows": gathered.simulated_rows,
        "imported": project.read_only,
        "content": content,
        "code": {"distillery": settings.DISTILLERY_VERSION, **gathered.libraries},
        "parameters": {
            "formats": list(options.formats),
            "include": list(options.include),
            "brought_in": gathered.about["brought_in"],
            "splits": {
                "seed": options.seed,
                "shares": dict(zip(SPLITS, options.shares, strict=True)),
                "apart": "what shares a conversation, earlier turns or a curated passage stays together",
            },
            "redacted_spans": gathered.about["redacted_spans"],
            **({"pseudonyms": ONE_PER_PERSON} if gathered.by_person else {}),
        },
        "stages": [
            each | {"scale": scale_in_words(judged_stage.stage)}
            for each, judged_stage in zip(gathered.about["stages"], gathered.judged_stages, strict=True)
        ],
        "steps": gathered.about["steps"],
        "tables": tables_of(gathered.spool.rows, gathered.spool.kinds),
    }


def _data_files(
    folder: Path, written: Mapping[str, Written], digests: Mapping[str, str]
) -> Iterable[ManifestFile]:
    """`digests` are those of the JSON Lines, which were taken while they were written."""
    for name, rows in written.items():
        for path in sorted((folder / name).rglob("*")):
            if path.is_file():
                inside = path.relative_to(folder / name).as_posix()
                digest = digests.get(path.stem) if name == jsonl.NAME else None
                yield _file(folder, f"{name}/{inside}", name, rows.get(inside), digest)


def _reports(folder: Path, gathered: ReleaseTables) -> Iterable[ManifestFile]:
    (folder / "reports").mkdir()
    reports = {f"agreement-{stage}": report for stage, report in gathered.reports.items()}
    for name, report in {**reports, "costs": gathered.costs}.items():
        path = f"reports/{name}.json"
        (folder / path).write_text(json_text(report), encoding="utf-8", newline="\n")
        yield _file(folder, path, "", None)
    for path, text in gathered.questionnaires.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8", newline="\n")
        yield _file(folder, path, "", None)


def _descriptions(
    folder: Path, release: Release, options: Options, gathered: ReleaseTables, files: Iterable[ManifestFile]
) -> list[ManifestFile]:
    facts = facts_of(
        release.project,
        version=release.version,
        notes=release.notes,
        options=options,
        costs=gathered.costs,
        steps=gathered.about["steps"],
        brought_in=gathered.about["brought_in"],
        reports=gathered.reports,
        judged_stages=gathered.judged_stages,
        verdicts=gathered.spool.verdicts,
        rows=gathered.spool.rows,
        tables=gathered.spool.kinds,
        files=[_fact(file) for file in files if file.format],
        workers=gathered.workers,
        simulated=gathered.simulated,
        joined=gathered.joined,
        passage_counts=gathered.passage_counts,
    )
    return [_file(folder, name, "", None) for name in describe(folder, facts)]


def _fact(file: ManifestFile) -> File:
    """A file with its table and split, where its name has both."""
    stem = file.path.rpartition("/")[2].partition(".")[0]
    table, _, split = stem.rpartition("-")
    if split not in SPLITS:
        table = split = ""
    return File(file.path, file.format, file.bytes, file.sha256, file.rows, table, split)


def _file(folder: Path, path: str, kind: str, rows: int | None, digest: str | None = None) -> ManifestFile:
    place = folder / path
    return ManifestFile(path, kind, place.stat().st_size, rows, digest or sha256_of(place))


# Beginning what takes long: the privacy check and the build, each as a job.

BUILD, CHECK = "releases.build", "releases.check"


@transaction.atomic
def begin(*, project: Project, version: str = "", notes: str = "", options: Options, actor: Any) -> Release:
    """Plan a release and queue the job that builds it; ReleaseError where it cannot be built."""
    release = plan_release(project=project, version=version, notes=notes, options=options, actor=actor)
    payload = {"release": release.pk, "project": project.pk, "version": release.version}
    job = enqueue(kind=BUILD, payload=payload, effect=f"release:{release.pk}:{uuid.uuid4().hex}")
    Release.objects.filter(pk=release.pk).update(job=job.pk)
    release.job = job.pk
    return release


@transaction.atomic
def begin_again(*, release: Release, actor: Any) -> Release:
    """Build a version that failed once more, with the options and words that it had."""
    return begin(
        project=release.project,
        version=release.version,
        notes=release.notes,
        options=options_of(release.options),
        actor=actor,
    )


def look_for_findings(*, project: Project, actor: Any, once: uuid.UUID) -> Job:
    """Queue the privacy check of a project; `once` names the press of the button."""
    return enqueue(
        kind=CHECK,
        payload={"project": project.pk, "user": actor.pk if actor else None},
        effect=f"privacy:{project.pk}:{once.hex}",
    )


# A release from the privacy check to the shelf in one call, for commands that wait for it.


def released(project: Project) -> Release | None:
    """The newest release of a project that is ready, if there is one."""
    return Release.objects.filter(project=project, state=Release.State.READY).order_by("-pk").first()


def release_now(
    project: Project,
    *,
    options: Options,
    version: str = "",
    notes: str = "",
    accepting: str = "",
    actor: Any = None,
    progress: Progress = silent,
    copy: Callable[[Path], None] | None = None,
) -> tuple[Release, BuiltFiles]:
    """Check, build, keep and finish a release; what the check finds is accepted for the reason `accepting`.

    `copy` gets the folder with the files before they are put away. Raises ReleaseError while findings wait
    for a person. A build that ends in any other way is marked failed.
    """
    checked = check_project(project=project, actor=actor, progress=progress)
    if checked.open and accepting.strip():
        open_findings = PrivacyFinding.objects.filter(project=project, state=PrivacyFinding.State.OPEN)
        accept_findings(findings=open_findings, reason=accepting, actor=actor)
    release = plan_release(project=project, version=version, notes=notes, options=options, actor=actor)
    return build_here(release, actor=actor, progress=progress, copy=copy)


def build_here(
    release: Release,
    *,
    actor: Any = None,
    progress: Progress = silent,
    copy: Callable[[Path], None] | None = None,
) -> tuple[Release, BuiltFiles]:
    """Build a planned release in this process, keep its files and finish it; what was built is given too.

    The process holds a job of its own under a lease that it extends while it lives. So pages show how far it
    is and can cancel it, and where it is killed its lease runs out and the version is free again.
    """
    payload = {"release": release.pk, "project": release.project_id, "version": release.version}
    job = jobs.begin(kind=BUILD, payload=payload)
    context = JobContext(job)

    def both(done: int, total: int, note: str) -> None:
        context.progress(done, total, note)
        progress(done, total, note)

    def mark_failed(error: BaseException) -> None:
        why = str(error) or type(error).__name__
        give_up(release=release, why=why, actor=actor, stop=False)
        jobs.fail(job=job, error=why, permanent=True)
        if isinstance(error, LeaseLostError):
            storage.forget_files(release)
            raise ReleaseError(f"The build of {release.version} was cancelled; nothing is kept.") from error

    with on_failure(mark_failed):
        Release.objects.filter(pk=release.pk, state=Release.State.BUILDING).update(job=job.pk)
        with context.heartbeats():
            return _build(release, context, actor, both, copy)


def _build(
    release: Release,
    context: JobContext,
    actor: Any,
    progress: Progress,
    copy: Callable[[Path], None] | None,
) -> tuple[Release, BuiltFiles]:
    with storage.workroom() as folder:
        built = build(release, folder=folder, progress=progress)
        if copy is not None:
            progress(0, 0, "Copying")
            copy(folder)
        if built.same is None:
            progress(0, 0, "Putting the files away")
            storage.keep_files(release, folder, move=True)

    def complete() -> dict[str, Any]:
        ready = finish(release, built, actor=actor)
        return {"version": ready.version, "same": built.same is not None}

    context.commit(complete)
    return built.same or release, built
