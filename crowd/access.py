"""Who may see a page of a stage, and who may spend there."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse

from core.accounts import security
from crowd.models import Stage
from crowd.sources import spends_real_money
from web import nav
from web.access import ProjectAccess, Role, View, on_project


@dataclass(frozen=True, slots=True)
class StageAccess(ProjectAccess):
    """A person at a stage of a project."""

    stage: Stage
    frame: ClassVar[str] = "desk/stage_base.html"

    def address(self, name: str, *more: object) -> str:
        """An address of the stage's pages."""
        return reverse(name, args=[self.project.slug, self.stage.slug, *more])

    @property
    def spends(self) -> bool:
        """May commit new money here: managers where it is play money, owners where it is real."""
        return self.owns or (self.manages and not spends_real_money(self.stage))

    def page_context(self) -> dict[str, Any]:
        """What the frame around a page of the stage shows."""
        stage = self.stage
        return ProjectAccess.page_context(self) | {
            "stage": stage,
            "left_cents": stage.budget_cents - stage.reserved_cents - stage.spent_cents,
            "stage_tabs": nav.stage_tabs(self.project, stage.kind, stage.slug),
        }


def on_stage(at_least: str = Role.VIEWER, *, spends: bool = False) -> Callable[[View], View]:
    """The view gets a `StageAccess`; with `spends`, only a person who may commit new money here passes."""

    def decorate(view: View) -> View:
        @on_project(at_least)
        @wraps(view)
        def guarded(
            request: HttpRequest, access: ProjectAccess, *, stage: str, **parts: Any
        ) -> HttpResponseBase:
            row = get_object_or_404(
                Stage.objects.select_related("project", "endpoint"), project=access.project, slug=stage
            )
            at = StageAccess(access.user, access.project, access.role, row)
            if spends and not at.spends:
                security.log("role.refused", project=access.project.slug, path=request.path)
                raise Http404("Spending real money is for owners.")
            return view(request, at, **parts)

        return guarded

    return decorate
