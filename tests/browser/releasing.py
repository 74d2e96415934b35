"""A project that is ready to be released, on a running server."""

from typing import Any

from tests.inside import Inside, serve
from tests.server import RunningServer


class Releasing(Inside):
    """Projects inside the installation of a server; a context manager."""

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


def _work_off() -> None:
    from core.jobs.models import Job, JobState
    from core.jobs.runner import run

    for pk in list(Job.objects.filter(state=JobState.QUEUED).values_list("pk", flat=True)):
        run(job_id=pk)


if __name__ == "__main__":
    COMMANDS: dict[str, Any] = {"project": _project, "work_off": _work_off}
    serve(COMMANDS)
