"""Jobs of this app."""

from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model

from annotation.corpora import work  # noqa: F401  # jobs of corpora
from annotation.importing.design import Design
from annotation.services import staged_files
from annotation.services.importing import ImportRefusedError, Options, import_queries
from core.jobs.context import JobContext
from core.jobs.errors import PermanentError
from core.jobs.registry import handler
from core.projects.models import Project

IMPORT = "annotation.import"
_KIB = 1024


@handler(IMPORT, longest=timedelta(hours=12))
def import_staged(context: JobContext) -> None:
    """Import an uploaded file; its source's id is the job's result."""
    given = context.payload
    project = Project.objects.get(pk=given["project"])
    file = staged_files.staged(project=project, sha256=given["sha256"])
    if file is None:
        raise PermanentError("The uploaded file is no longer there. Upload it again.")

    def progress(what: str, done: int, total: int) -> None:
        # In KiB, for the numbers of a job have 31 bits. Storing is the job's effect: nobody sees into it.
        if what != "Storing":
            context.progress(done // _KIB, total // _KIB, what)

    try:
        import_queries(
            project=project,
            path=file.path,
            name=file.name,
            options=options_of(given["options"]),
            actor=get_user_model().objects.filter(pk=given["user"]).first(),
            progress=progress,
            commit=context.commit,
        )
    except ImportRefusedError as error:
        raise PermanentError(str(error)) from error
    staged_files.forget(file)


def options_of(given: dict[str, Any]) -> Options:
    """Options from a job's payload."""
    design = Design(**given["design"])
    return Options(**{**given, "design": design, "without": tuple(given["without"])})
