"""What a researcher does about somebody in all stages of a project."""

from typing import Any

from django.db import transaction

from core.projects.models import Project
from crowd.models import Stage, Worker
from crowd.services.review import exclude_worker


@transaction.atomic
def exclude_from_project(*, worker: Worker, project: Project, reason: str, actor: Any) -> int:
    """Bar somebody from all stages that the project has at their marketplace; how many. Each is logged.

    Stages made later are not among them: exclusions are by stage.
    """
    rows = list(
        Stage.objects.filter(project=project, endpoint=worker.endpoint_id)
        .select_related("project")
        .order_by("pk")
    )
    for row in rows:
        exclude_worker(worker=worker, reason=reason, actor=actor, stage=row)
    return len(rows)
