"""Work on a corpus becomes a durable job: adding a file, building index or network, removing it."""

from typing import Any

from annotation.corpora import ADD, INDEX, NETWORK, REMOVE, open_jobs
from annotation.services import staged_files
from core.jobs.models import Job
from core.jobs.services import enqueue
from core.projects.services import why_read_only
from retrieval.models import Corpus
from web.access import ProjectAccess
from web.forms import FormError

WORDS = {INDEX: "its index is brought up to date", NETWORK: "its network is brought up to date"}


def add_upload(
    access: ProjectAccess,
    corpus: Corpus,
    file: staged_files.StagedFile,
    *,
    options: dict[str, Any],
    once: str,
    is_new: bool,
    about: dict[str, str],
) -> Job:
    """Add a staged file; a form that is sent twice gives one job."""
    upload = {"sha256": file.sha256, "name": file.name, "options": options, "made": is_new, "about": about}
    return enqueue(kind=ADD, payload=_payload(access, corpus) | upload, effect=f"corpus:{corpus.pk}:{once}")


def build(access: ProjectAccess, corpus: Corpus, kind: str) -> Job:
    """Build an index or a network; the job that does so already, if there is one."""
    open_job = open_jobs(access.project).get(corpus.pk)
    if open_job is not None and open_job.kind == kind:
        return open_job
    return enqueue(kind=kind, payload=_payload(access, corpus) | {"name": WORDS[kind]})


def remove_corpus(access: ProjectAccess, corpus: Corpus, typed: str) -> Job:
    """Remove a corpus; its name has to be typed."""
    if why := why_read_only(access.project):
        raise FormError(why)
    if typed.strip() != corpus.slug:
        raise FormError(f"Type {corpus.slug!r} to remove the corpus. Nothing was removed.")
    open_job = open_jobs(access.project).get(corpus.pk)
    if open_job is not None:
        raise FormError("A job is working on this corpus. Wait until it is done, or cancel it first.")
    return enqueue(kind=REMOVE, payload=_payload(access, corpus) | {"name": "it is removed"})


def _payload(access: ProjectAccess, corpus: Corpus) -> dict[str, Any]:
    return {"project": access.project.pk, "corpus": corpus.pk, "slug": corpus.slug, "user": access.user.pk}
