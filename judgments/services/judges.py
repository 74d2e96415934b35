"""What a researcher does about a judge; logged with a reason by `crowd`."""

from typing import Any

from django.db import transaction

from crowd.models import Stage, Worker
from crowd.services.review import exclude_worker


@transaction.atomic
def exclude_from_project(*, worker: Worker, stage: Stage, reason: str, actor: Any) -> int:
    """Bar somebody from all stages that the project has at their marketplace; how many.

    Stages made later are not among them: exclusions are by stage.
    """
    stages = Stage.objects.filter(project=stage.project, endpoint=worker.endpoint_id)
    rows = list(stages.select_related("project").order_by("pk"))
    for row in rows:
        exclude_worker(worker=worker, reason=reason, actor=actor, stage=row)
    return len(rows)
