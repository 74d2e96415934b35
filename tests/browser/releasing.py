"""A project that is ready to be released, on a running server."""

from typing import Any

from tests.browser.campaign import run_jobs
from tests.inside import Inside
from tests.server import RunningServer


class Releasing(Inside):
    """Projects inside the installation of a server."""

    module = "tests.browser.releasing"

    def __init__(self, server: RunningServer) -> None:
        super().__init__(self.module, server)

    def project(self, owner: str, password: str) -> None:
        """The project `capitals`, with an address in an answer, and somebody who owns it."""
        self.ask("project", owner=owner, password=password)

    def work_off(self) -> None:
        """Do the jobs that wait."""
        self.ask("work_off")


def _project(*, owner: str, password: str) -> None:
    from django.contrib.auth.models import User

    from annotation.models import Answer
    from core.projects.services import set_role
    from tests.releases.world import make_world

    world = make_world()
    Answer.objects.filter(pk=world.answers["q1/AE2"].pk).update(
        text="Write to jane@example.org, it is Paris."
    )
    user = User.objects.create_user(owner, password=password, is_staff=True)
    set_role(project=world.project, user=user, role="owner")


COMMANDS: dict[str, Any] = {"project": _project, "work_off": run_jobs}
