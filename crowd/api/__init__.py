"""Operations of the API about campaigns: projects, members, endpoints, stages, HITs, assignments, money."""

from core.projects.services import ProjectRightError
from crowd.api import endpoints, hits, jobs, notices, panels, projects, sources, stages, studies, workers
from crowd.errors import BudgetError, NotArmedError, ReadOnlyError, SpendingRightError, StageStateError
from web.api.problems import ProblemKind

RESOURCES = (
    projects.me,
    projects.projects,
    projects.money,
    studies.studies,
    endpoints.endpoints,
    stages.stages,
    sources.sources,
    jobs.simulations,
    stages.progress,
    hits.hits,
    hits.assignments,
    workers.stage_workers,
    workers.workers,
    panels.studies,
    endpoints.operations,
    notices.queues,
    jobs.jobs,
    notices.notices,
)
PROBLEMS = {
    BudgetError: ProblemKind(409, "budget_exceeded"),
    NotArmedError: ProblemKind(422, "amount_not_confirmed"),
    ProjectRightError: ProblemKind(403, "right_missing"),
    ReadOnlyError: ProblemKind(409, "read_only"),
    SpendingRightError: ProblemKind(403, "right_missing"),
    StageStateError: ProblemKind(409, "stage_state"),
}
OWNERS = {"projects": projects.ProjectDoor()}
