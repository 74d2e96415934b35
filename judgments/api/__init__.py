"""Operations of the API about systems and their answers, judgments, filters, agreement and scores."""

from judgments.api import candidates, filters, judging
from judgments.errors import FilteringError, FiltersChangedError, NothingMissingError
from web.api.problems import ProblemKind

RESOURCES = (candidates.candidates, judging.judging, filters.filters)
PROBLEMS = {
    FilteringError: ProblemKind(422, "filters_refused"),
    FiltersChangedError: ProblemKind(409, "filters_changed"),
    NothingMissingError: ProblemKind(409, "nothing_missing"),
}
