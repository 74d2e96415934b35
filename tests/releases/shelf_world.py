"""A project with people of all roles and releases that are ready, for tests of pages and downloads."""

import hashlib
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from core.projects.models import Project
from core.projects.services import create_project, set_role
from releases import storage
from releases.models import Release, ReleaseFile

ROLES = ("owner", "manager", "viewer")
FILES = {
    "README.md": b"# Capitals\n",
    "jsonl/answers-train.jsonl": b'{"answer_id": "a1"}\n' * 40_000,
    "csv/answers-train.csv": b"answer_id\r\na1\r\n",
    "reports/costs.json": json.dumps(
        {"stages": [{"stage": "judging", "title": "Judging", "workers": 5,
                     "assignments": {"good": 30, "approved": 29},
                     "rewards_cents": 290, "bonuses_cents": 0, "fees_cents": 58, "currency": "USD"}]}
    ).encode(),
}  # fmt: skip


def people(project: Project) -> None:
    """An owner, a manager and a viewer of the project, and a stranger."""
    for name in (*ROLES, "stranger"):
        user, _ = User.objects.get_or_create(username=name)
        if name in ROLES:
            set_role(project=project, user=user, role=name)


def as_(name: str) -> Client:
    """A browser of somebody; "anonymous" is nobody."""
    client = Client()
    if name != "anonymous":
        client.force_login(User.objects.get(username=name))
    return client


def make_project(slug: str = "capitals", title: str = "Capitals") -> Project:
    """An empty project with its people."""
    project = create_project(slug=slug, title=title, licence="CC-BY-4.0")
    people(project)
    return project


def make_release(
    project: Project, version: str = "1.0.0", files: dict[str, bytes] | None = None, **fields: Any
) -> Release:
    """A ready release with its files on the shelf."""
    contents = FILES if files is None else files
    listed = [
        {"path": path, "format": path.split("/")[0] if path.startswith(("jsonl", "csv")) else "",
         "bytes": len(content), "rows": content.count(b"\n") if path.startswith("jsonl") else None,
         "sha256": hashlib.sha256(content).hexdigest()}
        for path, content in contents.items()
    ]  # fmt: skip
    manifest = {
        "title": project.title, "version": version, "licence": "CC-BY-4.0", "language": "en",
        "content": hashlib.sha256(repr(contents).encode()).hexdigest(), "code": {"distillery": "0.6"},
        "parameters": {"formats": ["jsonl", "csv"], "redacted_spans": 2,
                       "splits": {"seed": 7, "shares": {"train": 0.8, "validation": 0.1, "test": 0.1}}},
        "steps": [{"what": "queries", "step": "screened", "before": 8, "after": 6, "reasons": {"adult": 2}}],
        "tables": [{"name": "answers", "title": "Answers", "meaning": "One row per answer.",
                    "rows": {"train": 40_000}}],
        "files": listed,
    }  # fmt: skip
    text = json.dumps(manifest).encode()
    release = Release.objects.create(
        project=project, version=version, created_at=timezone.now(),
        created_by=User.objects.get(username="manager"),
        **{name: fields.pop(name) for name in ("notes", "simulated", "options") if name in fields},
    )  # fmt: skip
    with TemporaryDirectory() as name:
        folder = Path(name, "built")
        for path, content in {**contents, "manifest.json": text, "SHA256SUMS": b"sums\n"}.items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        storage.keep_files(release, folder, move=True)
    ReleaseFile.objects.bulk_create(ReleaseFile(release=release, **each) for each in listed)
    Release.objects.filter(pk=release.pk).update(
        state=Release.State.READY, manifest=manifest, digest=hashlib.sha256(text).hexdigest(),
        content=manifest["content"], bytes=sum(map(len, contents.values())), built_at=timezone.now(),
    )  # fmt: skip
    if fields:
        Release.objects.filter(pk=release.pk).update(**fields)
    return Release.objects.select_related("project").get(pk=release.pk)
