"""Operations of the API about uploads, queries, adjudication, corpora, search, curation and answers."""

from annotation.api import adjudication, answers, corpora, curation, queries, uploads
from annotation.services.importing import ImportRefusedError
from retrieval.errors import EngineError, RetrievalError
from web.api.problems import ProblemKind

RESOURCES = (
    uploads.uploads,
    queries.queries,
    adjudication.adjudication,
    corpora.corpora,
    curation.curation,
    answers.answers,
)
PROBLEMS = {
    ImportRefusedError: ProblemKind(422, "import_refused"),
    EngineError: ProblemKind(503, "search_unavailable"),
    RetrievalError: ProblemKind(422, "refused"),
}
