"""Projects with queries and references, and files of answers, made in the shortest way."""

import gzip
import itertools
import json
from pathlib import Path
from typing import Any

from django.utils import timezone

from annotation.importing.records import normal, plain_digest, query_digest
from annotation.models import Query, QuerySource
from core.projects.models import Project
from core.projects.services import create_project
from judgments.models import Candidate, Judgment, System
from tests.annotation import world

_numbers = itertools.count(1)


def make_project(slug: str = "") -> Project:
    name = slug or f"systems-{next(_numbers)}"
    return create_project(slug=name, title=name)


def make_query(project: Project, text: str = "how old is oak", *references: str, **fields: Any) -> Query:
    source, _ = QuerySource.objects.get_or_create(
        project=project,
        name="log",
        defaults={"format": "tsv", "state": "ready", "created_at": timezone.now()},
    )
    context = [turn["text"] for turn in fields.get("context", [])]
    digests = {
        "digest": query_digest(normal(text), context),
        "plain_digest": plain_digest(normal(text), context),
    }
    given = {"key": f"q{next(_numbers)}", **digests, **fields}
    return Query.objects.create(
        project=project, source=source, text=text, references=list(references), **given
    )


def make_system(project: Project, name: str = "copynet", **fields: Any) -> System:
    return System.objects.create(project=project, name=name, created_at=timezone.now(), **fields)


def make_candidate(system: System, query: Query, text: str = "Very old.", **fields: Any) -> Candidate:
    return Candidate.objects.create(
        system=system, query=query, text=text, created_at=timezone.now(), **fields
    )


def judge(candidate: Candidate, score: int = 4, stage: Any = None) -> Judgment:
    """Somebody scores a candidate; in a poll's assignment, for nobody asks how it came about."""
    project = candidate.system.project
    stage = stage or project.stages.first() or world.make_stage("screening", project)
    work = world.make_work(stage)
    return Judgment.objects.create(
        stage=stage,
        assignment=work,
        worker=work.worker,
        candidate=candidate,
        score=score,
        at=timezone.now(),
    )


def write(folder: Path, name: str, content: Any) -> Path:
    """A file: lists become JSONL, texts stay as they are; packed where its name says so."""
    if isinstance(content, list):
        content = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in content)
    data = content if isinstance(content, bytes) else content.encode()
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path
