"""Operations of the API about evaluations of releases."""

from evaluations.api import evaluations, external
from evaluations.errors import EvaluationError
from metrics.errors import MetricError
from web.api.problems import ProblemKind

RESOURCES = (evaluations.evaluations, external.external)
PROBLEMS = {
    EvaluationError: ProblemKind(422, "evaluation_refused"),
    MetricError: ProblemKind(422, "evaluation_refused"),
}
