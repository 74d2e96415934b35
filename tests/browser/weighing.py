"""A query with references and an answer, and models of learned metrics, on a running server."""

from typing import Any

from tests.browser.campaign import run_jobs
from tests.inside import Inside
from tests.server import RunningServer

QUESTION = "How much does the ticket cost?"
REFERENCES = [
    "The old ticket costs 25 euros and weighs 310 grams here.",
    "25 euros",
    "The new ticket weighs 12 grams and costs 25 euros today, as every other ticket does in the city.",
]
ANSWER = "The ticket costs 25 euros and the train is green."


class Weighing(Inside):
    """A project inside the installation of a server."""

    module = "tests.browser.weighing"

    def __init__(self, server: RunningServer) -> None:
        super().__init__(self.module, server)

    def project(self, owner: str, password: str) -> str:
        """A project with somebody who owns it, a release, and two models; the address of its query's page."""
        return str(self.ask("project", owner=owner, password=password))

    def work_off(self) -> None:
        """Do the jobs that wait."""
        self.ask("work_off")


def _project(*, owner: str, password: str) -> str:
    from pathlib import Path

    from django.conf import settings
    from django.contrib.auth.models import User
    from django.urls import reverse

    from core.projects.services import set_role
    from judgments.models import Candidate
    from tests.crowd.world import make_endpoint
    from tests.evaluations.desk_world import make_release
    from tests.evaluations.model_folders import model
    from tests.judgments import desk_world
    from tests.learned import tiny
    from tests.releases.shelf_world import make_project

    shelf = Path(settings.METRIC_MODELS)
    if not shelf.exists():
        epochs = [
            {"epoch": at, "train_loss": 0.7 / at, "dev": {"loss": 0.6 / at + 0.02 * at, "f1": 0.6 - 0.3 / at}}
            for at in range(1, 7)
        ]
        tiny.kpqa_trained(shelf / "tiny")
        model(shelf, "marco", epochs=epochs)
        (model(shelf, "damaged", kind="adem").path / "head.safetensors").unlink()
    project = make_project("weighed", "Weighed")
    make_release(project)
    user = User.objects.create_user(owner, password=password, is_staff=True)
    set_role(project=project, user=user, role="owner")
    place = desk_world.make_place(project, endpoint=make_endpoint())
    query = desk_world.query_of(place, "q1", references=REFERENCES, text=QUESTION)
    candidate = desk_world.candidate_of(place, "q1/a")
    Candidate.objects.filter(pk=candidate.pk).update(text=ANSWER)
    return reverse("evaluations:query", args=[project.slug, query.pk])


COMMANDS: dict[str, Any] = {"project": _project, "work_off": run_jobs}
