"""A project with a release that can be evaluated, on a running server."""

from typing import Any

from tests.browser.campaign import run_jobs
from tests.inside import Inside
from tests.server import RunningServer


class Evaluating(Inside):
    """A project inside the installation of a server."""

    module = "tests.browser.evaluating"

    def __init__(self, server: RunningServer) -> None:
        super().__init__(self.module, server)

    def project(self, owner: str, password: str) -> None:
        """The project `measured` with a release, and somebody who owns it."""
        self.ask("project", owner=owner, password=password)

    def work_off(self) -> None:
        """Do the jobs that wait."""
        self.ask("work_off")


def _project(*, owner: str, password: str) -> None:
    from django.contrib.auth.models import User

    from core.projects.services import set_role
    from tests.evaluations.desk_world import make_release
    from tests.releases.shelf_world import make_project

    project = make_project("measured", "Measured")
    make_release(project, public=True)
    user = User.objects.create_user(owner, password=password, is_staff=True)
    set_role(project=project, user=user, role="owner")


COMMANDS: dict[str, Any] = {"project": _project, "work_off": run_jobs}
