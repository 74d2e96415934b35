"""Jobs of this room."""

from crowd.models import Stage
from jobs.errors import PermanentError
from jobs.registry import handler
from jobs.runner import JobContext
from judgments.services import reporting


@handler(reporting.REPORT)
def make_report(context: JobContext) -> None:
    """Work out the honest report of a stage; its key is the job's result."""
    stage = Stage.objects.select_related("project", "endpoint").filter(pk=context.payload["stage"]).first()
    if stage is None:
        raise PermanentError("The stage is no longer there.")
    row = reporting.make(stage, context.progress)
    context.commit(lambda: reporting.keep(row))
