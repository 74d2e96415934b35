"""Operations of the API about campaigns: projects, members, endpoints, stages, HITs, assignments, money."""

from crowd.api import (
    assignments,
    audit,
    endpoints,
    events,
    hits,
    invitations,
    jobs,
    members,
    money,
    notices,
    operations,
    panels,
    progress,
    projects,
    queues,
    simulations,
    sources,
    stages,
    stageworkers,
    studies,
    webhooks,
    workers,
)
from crowd.errors import BudgetError, NotArmedError, ReadOnlyError, StageStateError
from web.api.problems import ProblemKind

RESOURCES = (
    projects.projects,
    members.members,
    invitations.invitations,
    money.money,
    studies.studies,
    endpoints.endpoints,
    stages.stages,
    sources.sources,
    simulations.simulations,
    progress.progress,
    hits.hits,
    assignments.assignments,
    stageworkers.workers,
    workers.workers,
    panels.studies,
    operations.operations,
    queues.queues,
    jobs.jobs,
    notices.notices,
    events.events,
    audit.audit,
    webhooks.webhooks,
)
PROBLEMS = {
    BudgetError: ProblemKind(409, "budget_exceeded"),
    NotArmedError: ProblemKind(422, "amount_not_confirmed"),
    ReadOnlyError: ProblemKind(409, "read_only"),
    StageStateError: ProblemKind(409, "stage_state"),
}
