"""Building a release: planned as a row, built as files, finished as both together.

A release that is killed in between stays in the state `building` and has no digest; whoever began it builds
it again from the beginning or says that it failed. Only `finish` makes it ready, in one conditional update.
"""

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from core.projects.services import record
from releases.datacards.facts import File, facts_of
from releases.datacards.writer import describe
from releases.errors import ReleaseError
from releases.formats import jsonl
from releases.formats.registry import Written
from releases.formats.writer import write_formats
from releases.manifest import (
    ManifestFile,
    content_digest,
    json_text,
    manifest_of,
    sha256_of,
    tables_of,
    write_manifest,
)
from releases.models import Release, ReleaseFile
from releases.options import Options, options_of
from releases.services.planning import plan_release
from releases.services.release_content import ReleaseTables, gather, scale_in_words
from releases.tables import SPLITS, Progress, Source, silent

__all__ = ["BuiltFiles", "build", "finish", "plan_release"]

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
    with tempfile.TemporaryDirectory(prefix=".rows-", dir=folder.parent) as room:
        gathered = gather(release.project, options, Path(room), progress)
        content = content_digest(gathered.spool.digests, gathered.about)
        same = _same(release, content)
        about = _about(same or release, options, gathered, content)
        source = Source(
            project=release.project,
            release=same or release,
            tables=gathered.spool.tables,
            parameters=about["parameters"],
            rows=gathered.spool.rows,
            lines=gathered.spool.lines,
            longest=gathered.spool.longest,
        )
        written = write_formats(options.formats, folder, source, progress)
    progress(0, 0, "Checksums")
    files = [*_data_files(folder, written, gathered.spool.digests), *_reports(folder, gathered)]
    files += _descriptions(folder, same or release, options, gathered, files)
    manifest = manifest_of(about, files)
    digest = write_manifest(folder, manifest, files)
    listed = sorted(folder.rglob("*"))
    return BuiltFiles(
        folder,
        manifest,
        digest,
        content,
        tuple(files),
        sum(path.stat().st_size for path in listed if path.is_file()),
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
    found = Release.objects.filter(project=release.project, state=State.READY, content=content)
    return next((each for each in found.order_by("pk") if each.options == release.options), None)


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
            each | {"scale": scale_in_words(judged.stage)}
            for each, judged in zip(gathered.about["stages"], gathered.judged, strict=True)
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
        judged=gathered.judged,
        verdicts=gathered.spool.verdicts,
        rows=gathered.spool.rows,
        tables=gathered.spool.kinds,
        files=[_fact(file) for file in files if file.format],
        workers=gathered.workers,
        simulated=gathered.simulated,
        joined=gathered.joined,
        found=gathered.found,
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
