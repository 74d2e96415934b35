"""Operations of the API about campaigns: projects, members, endpoints, stages, HITs, assignments, money."""

from crowd.api import projects
from crowd.errors import BudgetError, NotArmedError, ReadOnlyError, StageStateError
from web.api.problems import ProblemKind

RESOURCES = (projects.projects,)
PROBLEMS = {
    BudgetError: ProblemKind(409, "budget_exceeded"),
    NotArmedError: ProblemKind(422, "amount_not_confirmed"),
    ReadOnlyError: ProblemKind(409, "read_only"),
    StageStateError: ProblemKind(409, "stage_state"),
}
