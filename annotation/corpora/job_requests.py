"""Work on a corpus becomes a durable job."""

from typing import Any

from annotation.corpora.selectors import ADD, INDEX, NETWORK, REMOVE, open_jobs
from annotation.services import staged_files
from core.jobs.models import Job
from core.jobs.services import enqueue
from core.projects.services import why_read_only
from retrieval.models import Corpus
from web.access import ProjectAccess
from web.forms import FormError

_WORDS = {INDEX: "its index is brought up to date", NETWORK: "its network is brought up to date"}


def add_upload(
    access: ProjectAccess,
    corpus: Corpus,
    file: staged_files.StagedFile,
    *,
    options: dict[str, Any],
    once: str,
    made: bool,
    about: dict[str, str],
) -> Job:
    """Add a staged file; a form that is sent twice gives one job."""
    given = {"sha256": file.sha256, "name": file.name, "options": options, "made": made, "about": about}
    return enqueue(kind=ADD, payload=_payload(access, corpus) | given, effect=f"corpus:{corpus.pk}:{once}")


def build(access: ProjectAccess, corpus: Corpus, kind: str) -> Job:
    """Build an index or a network; the job that does so already, if there is one."""
    there = open_jobs(access.project).get(corpus.pk)
    if there is not None and there.kind == kind:
        return there
    return enqueue(kind=kind, payload=_payload(access, corpus) | {"name": _WORDS[kind]})


def remove(access: ProjectAccess, corpus: Corpus, typed: str) -> Job:
    """Remove a corpus; its name has to be typed."""
    if why := why_read_only(access.project):
        raise FormError(why)
    if typed.strip() != corpus.slug:
        raise FormError(f"Type {corpus.slug!r} to remove the corpus. Nothing was removed.")
    there = open_jobs(access.project).get(corpus.pk)
    if there is not None:
        raise FormError("Something is being done with this corpus. Wait, or cancel that first.")
    return enqueue(kind=REMOVE, payload=_payload(access, corpus) | {"name": "it is removed"})


def _payload(access: ProjectAccess, corpus: Corpus) -> dict[str, Any]:
    return {"project": access.project.pk, "corpus": corpus.pk, "slug": corpus.slug, "user": access.user.pk}
