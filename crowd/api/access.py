"""The caller at a stage."""

from typing import Any

from django.http import Http404

from core.accounts import security
from crowd.access import StageAccess
from crowd.models import Stage
from web.api.access import ApiRequest, Caller, Permission
from web.api.problems import ProblemError


class StagePermission(Permission):
    """Finds the stage that the address names, too; `spends` refuses who may not commit real money there."""

    def check_place(self, request: Any, caller: Caller, parts: dict[str, Any]) -> None:
        """The project first, then its stage."""
        super().check_place(request, caller, parts)
        at = caller.access
        if at is None or "stage" not in parts:
            return
        rows = Stage.objects.select_related("project", "endpoint")
        stage = rows.filter(project=at.project, slug=parts["stage"]).first()
        if stage is None:
            raise Http404("There is no such stage in this project.")
        access = StageAccess(at.user, at.project, at.role, stage)
        if self.spends and not access.spends:
            security.log("role.refused", project=at.project.slug, path=request.path)
            raise ProblemError(403, "role_missing", "Spending real money is for owners of the project.")
        caller.access = access


def stage_access(request: ApiRequest) -> StageAccess:
    """The caller at the stage that the address names."""
    access = request.caller.access
    assert isinstance(access, StageAccess), "the address names no stage"
    return access
