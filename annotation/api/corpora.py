"""Corpora, their indexes and networks, and search in them."""

from typing import Annotated, Any, Literal
from uuid import uuid4

from django.http import Http404
from pydantic import BaseModel, Field

from annotation import corpora as forms
from annotation.api.uploads import Columns, Sha256, staged_file
from annotation.corpora import adding_of, payload_of
from annotation.search import MOST_TURNS
from annotation.search_calls import FieldsRefusedError, answer_of, asked_of
from annotation.services.corpus_jobs import add_upload, build, remove_corpus
from core.api.models import Scope
from retrieval.models import Corpus
from retrieval.selectors import corpora_of, searchable
from retrieval.services.corpora import create_corpus
from web.api.access import ApiRequest, Role, project_access
from web.api.bodies import JobRef
from web.api.fields import Body, Slug, Time
from web.api.pages import Page
from web.api.problems import ProblemError
from web.api.resources import Resource

corpora = Resource("Corpora and search")
_SHORT = Annotated[str, Field(max_length=80)]


class Readiness(BaseModel):
    """An index or a network."""

    state: str = Field(description="not built, being built, ready, out of date, failed.")
    note: str


class CorpusOut(BaseModel):
    """Passages of one origin and language."""

    slug: str
    title: str
    language: str
    licence: str
    attribution: str
    passages: int
    index: Readiness
    network: Readiness
    job: int | None = Field(description="The job that works on it.")
    created_at: Time


class FileIn(Body):
    """How an uploaded file goes into a corpus."""

    upload: Sha256
    encoding: str = Field("", max_length=40)
    delimiter: str = Field("", max_length=10)
    sheet: str = Field("", max_length=200)
    columns: Columns = Field(default_factory=dict, description="Field -> column: id, text, title, url …")
    same_id: Literal["refuse", "first", "number"] = "refuse"
    split: Literal["", "sentences", "words"] = Field("", description="Long documents become passages.")
    size: int = Field(5, ge=1, le=10_000)
    stride: int = Field(3, ge=1, le=10_000)
    repeats: Literal["report", "skip", "keep"] = "report"
    near: float | None = Field(None, gt=0, le=1)
    skip_known: bool = False

    def options(self) -> dict[str, Any]:
        """The options of the job, checked by the service's own rules."""
        cleaned = self.model_dump(exclude={"upload", "columns"})
        cleaned |= {f"column_{field}": column for field, column in self.columns.items()}
        options = payload_of(cleaned)
        try:
            adding_of(options)
        except ValueError as error:
            raise ProblemError(422, "invalid", str(error)) from error
        return options


class CorpusIn(FileIn):
    """A new corpus with its first file."""

    slug: Slug
    title: str = Field("", max_length=200)
    language: str = Field("", max_length=35, description="BCP 47 tag. Empty: the project's.")
    licence: _SHORT = ""
    attribution: str = Field("", max_length=2000)


class SearchIn(Body):
    """Questions of a conversation, oldest first; the last one is answered."""

    questions: list[Annotated[str, Field(max_length=5_000)]] = Field(min_length=1, max_length=MOST_TURNS)
    corpora: list[_SHORT] = Field(default_factory=list, max_length=100, description="Empty: all.")
    options: dict[Annotated[str, Field(max_length=40)], str | float | int | bool | None] = Field(
        default_factory=dict,
        max_length=40,
        description="Parameters of the search (docs/retrieval.md).",
    )


class SearchOut(BaseModel):
    """What answers the last question."""

    results: list[dict[str, Any]] = Field(description="Passages, the best first, with why.")
    paragraphs: list[list[str]]
    ids: list[str]
    nodes: dict[str, list[str]]
    edges: dict[str, list[str]]
    top_sentences: dict[str, list[int]]
    query: dict[str, Any] = Field(description="The terms that were searched for, with their weights.")
    ranker: str
    parameters: dict[str, Any]
    generations: dict[str, Any]
    notes: list[str]


@corpora.get("/projects/{project}/corpora", scopes=[Scope.READ], role=Role.VIEWER)
def list_corpora(request: ApiRequest, project: str) -> Page[CorpusOut]:
    """All corpora of the project."""
    lines = forms.lines(project_access(request).project)
    return Page(items=[_describe(line) for line in lines], next=None)


@corpora.get("/projects/{project}/corpora/{corpus}", scopes=[Scope.READ], role=Role.VIEWER)
def get_corpus(request: ApiRequest, project: str, corpus: str) -> CorpusOut:
    """One corpus, with the state of its index and its network."""
    lines = forms.lines(project_access(request).project)
    line = next((each for each in lines if each.corpus.slug == corpus), None)
    if line is None:
        raise Http404("There is no such corpus.")
    return _describe(line)


@corpora.post("/projects/{project}/corpora", scopes=[Scope.COLLECT], role=Role.MANAGER, status=202)
def create_corpus_from_upload(request: ApiRequest, project: str, body: CorpusIn) -> JobRef:
    """Make a corpus of an uploaded file, by a job that also builds its index."""
    access = project_access(request)
    file, options = staged_file(access.project, body.upload), body.options()
    about = body.model_dump(include={"title", "language", "licence", "attribution"})
    row = create_corpus(project=access.project, slug=body.slug, actor=access.user, **about)
    job = add_upload(
        access, row, file, options=options, once=uuid4().hex, is_new=True, about=about | {"slug": body.slug}
    )
    return JobRef(job=job.pk)


@corpora.post(
    "/projects/{project}/corpora/{corpus}/files", scopes=[Scope.COLLECT], role=Role.MANAGER, status=202
)
def add_corpus_file(request: ApiRequest, project: str, corpus: str, body: FileIn) -> JobRef:
    """Add an uploaded file to a corpus, by a job: all of it or nothing."""
    access = project_access(request)
    file, options = staged_file(access.project, body.upload), body.options()
    row = _find(request, corpus)
    job = add_upload(access, row, file, options=options, once=uuid4().hex, is_new=False, about={})
    return JobRef(job=job.pk)


@corpora.post(
    "/projects/{project}/corpora/{corpus}/index", scopes=[Scope.COLLECT], role=Role.MANAGER, status=202
)
def build_index(request: ApiRequest, project: str, corpus: str) -> JobRef:
    """Bring the index of a corpus up to date."""
    return JobRef(job=build(project_access(request), _find(request, corpus), forms.INDEX).pk)


@corpora.post(
    "/projects/{project}/corpora/{corpus}/network", scopes=[Scope.COLLECT], role=Role.MANAGER, status=202
)
def build_network(request: ApiRequest, project: str, corpus: str) -> JobRef:
    """Bring the word proximity network of a corpus up to date."""
    return JobRef(job=build(project_access(request), _find(request, corpus), forms.NETWORK).pk)


@corpora.post(
    "/projects/{project}/corpora/{corpus}/remove", scopes=[Scope.COLLECT], role=Role.MANAGER, status=202
)
def remove_a_corpus(request: ApiRequest, project: str, corpus: str) -> JobRef:
    """Remove a corpus with its index and network; passages that were curated stay with their queries."""
    access = project_access(request)
    return JobRef(job=remove_corpus(access, _find(request, corpus), corpus).pk)


@corpora.post("/projects/{project}/search", scopes=[Scope.READ], role=Role.VIEWER, atomic=False)
def search(request: ApiRequest, project: str, body: SearchIn) -> SearchOut:
    """Answer the last question of a conversation from the project's corpora."""
    access = project_access(request)
    call_options = {**body.options, "questions": body.questions, "corpora": body.corpora}
    try:
        call = asked_of(call_options, searchable(access.project))
    except FieldsRefusedError as error:
        faults = {field: [sentence] for field, sentence in error.faults.items()}
        raise ProblemError(422, "invalid", str(error), errors=faults) from error
    return SearchOut(**answer_of(call))


def _find(request: ApiRequest, slug: str) -> Corpus:
    row = corpora_of(project_access(request).project).filter(slug=slug).first()
    if row is None:
        raise Http404("There is no such corpus.")
    return row


def _describe(line: forms.Line) -> CorpusOut:
    row = line.corpus
    return CorpusOut(
        slug=row.slug,
        title=row.title,
        language=row.language,
        licence=row.licence,
        attribution=row.attribution,
        passages=line.passages,
        index=Readiness(state=line.index.word, note=line.index.more),
        network=Readiness(state=line.network.word, note=line.network.more),
        job=line.job.pk if line.job else None,
        created_at=row.created_at,
    )
