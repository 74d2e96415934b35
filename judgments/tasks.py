"""Jobs of this room."""

from django.contrib.auth import get_user_model

from annotation.services import staging
from annotation.services.importing import ImportRefusedError
from crowd.models import Stage
from jobs.errors import PermanentError
from jobs.registry import handler
from jobs.runner import JobContext
from judgments.services import reporting
from judgments.services.importing import Options, import_candidates
from projects.models import Project

IMPORT = "judgments.import"
_KIB = 1024


@handler(IMPORT)
def import_staged(context: JobContext) -> None:
    """Import an uploaded file of answers; the report is the job's result."""
    given = context.payload
    project = Project.objects.get(pk=given["project"])
    file = staging.staged(project=project, sha256=given["sha256"])
    if file is None:
        raise PermanentError("The uploaded file is no longer there. Upload it again.")

    def progress(what: str, done: int, total: int) -> None:
        # In KiB, for the numbers of a job have 31 bits. Storing is the job's effect: nobody sees into it.
        if what != "Storing":
            context.progress(done // _KIB, total // _KIB, what)

    try:
        import_candidates(
            project=project,
            path=file.path,
            name=file.name,
            options=Options(**given["options"]),
            actor=get_user_model().objects.filter(pk=given["user"]).first(),
            progress=progress,
            commit=context.commit,
        )
    except ImportRefusedError as error:
        raise PermanentError(str(error)) from error
    staging.forget(file)


@handler(reporting.REPORT)
def make_report(context: JobContext) -> None:
    """Work out the honest report of a stage; its key is the job's result."""
    stage = Stage.objects.select_related("project", "endpoint").filter(pk=context.payload["stage"]).first()
    if stage is None:
        raise PermanentError("The stage is no longer there.")
    row = reporting.make(stage, context.progress)
    context.commit(lambda: reporting.keep(row))
