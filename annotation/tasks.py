"""Jobs of this app."""

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from django.contrib.auth import get_user_model

from annotation.corpora import ADD, INDEX, NETWORK, REMOVE, adding_of, layout_of
from annotation.desk.columns import rows_asked
from annotation.importing.selection import Design
from annotation.services import query_files, staged_files
from annotation.services.corpus_jobs import WORDS
from annotation.services.importing import ImportRefusedError, Options, import_queries
from core.jobs.errors import PermanentError
from core.jobs.handlers import JobContext, handler
from core.jobs.services import enqueue
from core.projects.models import Project
from retrieval.errors import BusyError, IndexUnavailableError, RetrievalError
from retrieval.models import Corpus, Passage
from retrieval.passage_files import open_passages
from retrieval.services.corpora import add_file, counting_passages, remove_corpus
from retrieval.services.indexing import build_index
from retrieval.services.sharding import as_many_as_needed

if TYPE_CHECKING:
    from retrieval.services.networks import NetworkBuilt

IMPORT = "annotation.import"
_KIB = 1024


@handler(IMPORT, longest=timedelta(hours=12))
def import_staged(context: JobContext) -> None:
    """Import an uploaded file; its source's id is the job's result."""
    payload = context.payload
    project = Project.objects.get(pk=payload["project"])
    file = staged_files.staged(project=project, sha256=payload["sha256"])
    if file is None:
        raise PermanentError("The uploaded file is no longer there. Upload it again.")

    def progress(done: int, total: int, what: str) -> None:
        # In KiB, for the numbers of a job have 31 bits. Storing is the job's effect: nobody sees into it.
        if what != "Storing":
            context.progress(done // _KIB, total // _KIB, what)

    try:
        import_queries(
            project=project,
            path=file.path,
            name=file.name,
            options=options_of(payload["options"]),
            actor=get_user_model().objects.filter(pk=payload["user"]).first(),
            progress=progress,
            commit=context.commit,
        )
    except ImportRefusedError as error:
        raise PermanentError(str(error)) from error
    staged_files.forget(file)


def options_of(fields: dict[str, Any]) -> Options:
    """Options from a job's payload."""
    design = Design(**fields["design"])
    return Options(**{**fields, "design": design, "without": tuple(fields["without"])})


@handler(query_files.MAKE, longest=timedelta(hours=2))
def make_queries_file(context: JobContext) -> dict[str, Any]:
    """Write the file of queries that an address asked for; what it holds is the result."""
    project = Project.objects.get(pk=context.payload["project"])
    rows = rows_asked(project, context.payload["asked"])
    return query_files.make_file(context.job, project, rows, context.progress)


# Jobs of corpora: a file added, an index or a network built, a corpus removed.

Result = TypeVar("Result")


@handler(ADD, longest=timedelta(hours=12))
def add(context: JobContext) -> None:
    """Add an uploaded file; what came of it is the result. A corpus made for a refused file goes again."""
    payload, corpus = context.payload, _corpus(context)
    file = staged_files.staged(project=corpus.project, sha256=payload["sha256"])
    if file is None:
        raise PermanentError("The uploaded file is no longer there. Upload it again.")

    def progress(passages: int, done: int) -> None:
        # In KiB, for the numbers of a job have 31 bits.
        context.progress(done // _KIB, file.size // _KIB + 1, f"{passages:,} passages read")

    def work() -> None:
        add_file(
            corpus=corpus,
            file=open_passages(file.path, name=file.name, layout=layout_of(payload["options"])),
            options=adding_of(payload["options"]),
            actor=_actor(context),
            progress=progress,
            commit=context.commit,
        )

    try:
        _fail_for_people(work)
    except PermanentError:
        if payload["made"] and not Passage.objects.filter(corpus=corpus).exists():
            remove_corpus(corpus=corpus, actor=_actor(context))
        raise
    staged_files.forget(file)
    place = {name: payload[name] for name in ("project", "corpus", "slug", "user")}
    enqueue(kind=INDEX, payload=place | {"name": WORDS[INDEX]}, effect=f"index-after:{context.job.pk}")


@handler(INDEX, longest=timedelta(days=1))
def index(context: JobContext) -> dict[str, Any]:
    """Bring the index of a corpus up to date."""
    corpus = _corpus(context)
    every = counting_passages(corpus).count()

    def progress(passages: int) -> None:
        context.progress(min(passages, every), every, "Passages into the index")

    built = _fail_for_people(lambda: build_index(corpus=corpus, progress=progress))
    return {"passages": built.passages, "added": built.added}


@handler(NETWORK, longest=timedelta(days=2))
def network(context: JobContext) -> dict[str, Any]:
    """Bring the word proximity network of a corpus up to date."""
    from retrieval.services.networks import build_network  # noqa: PLC0415  # only where it is built

    corpus = _corpus(context)
    every = counting_passages(corpus).count()

    def progress(step: str, passages: int) -> None:
        context.progress(min(passages, every), every, step[:1].upper() + step[1:])

    def work() -> "NetworkBuilt":
        return build_network(
            corpus=corpus, counter=as_many_as_needed, actor=_actor(context), progress=progress
        )

    built = _fail_for_people(work)
    return {"passages": built.passages, "words": built.words, "edges": built.edges}


@handler(REMOVE, longest=timedelta(hours=6))
def remove(context: JobContext) -> dict[str, Any]:
    """Remove a corpus with all that belongs to it; nothing happens if it is gone."""
    corpus = Corpus.objects.select_related("index", "project").filter(pk=context.payload["corpus"]).first()
    if corpus is not None:
        context.progress(0, 0, "Removing passages")
        corpus_row = corpus
        _fail_for_people(lambda: remove_corpus(corpus=corpus_row, actor=_actor(context)))
    return {}


def _fail_for_people(work: Callable[[], Result]) -> Result:
    """What cannot be done is the job's end, in words; outages and other work are waited for."""
    try:
        return work()
    except (BusyError, IndexUnavailableError):
        raise
    except RetrievalError as error:
        raise PermanentError(str(error)) from error


def _corpus(context: JobContext) -> Corpus:
    corpus = Corpus.objects.select_related("index", "project").filter(pk=context.payload["corpus"]).first()
    if corpus is None:
        raise PermanentError("The corpus is no longer there.")
    return corpus


def _actor(context: JobContext) -> Any:
    return get_user_model().objects.filter(pk=context.payload["user"]).first()
