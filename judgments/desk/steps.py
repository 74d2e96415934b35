"""What a new project needs of this app."""

from core.projects.models import Project
from crowd.desk.steps import Step
from judgments.models import Candidate


def _wanted(_: Project, kinds: frozenset[str]) -> bool:
    return "judging" in kinds


def _done(project: Project) -> bool:
    return Candidate.objects.filter(system__project=project).exists()


STEPS = (
    Step(
        "systems",
        "Import systems' answers",
        "A line per answer, with the query and the system that gave it.",
        "judgments:import_new",
        done=_done,
        wanted=_wanted,
        position=30,
    ),
)
