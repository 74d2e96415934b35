"""Operations of the API about uploads, queries, corpora, search and answers."""

from annotation.api import answers, corpora, queries, uploads
from annotation.services.importing import ImportRefusedError
from retrieval.errors import EngineError, RetrievalError
from web.api.problems import ProblemKind

RESOURCES = (uploads.uploads, queries.queries, corpora.corpora, answers.answers)
PROBLEMS = {
    ImportRefusedError: ProblemKind(422, "import_refused"),
    EngineError: ProblemKind(503, "search_unavailable"),
    RetrievalError: ProblemKind(422, "refused"),
}
