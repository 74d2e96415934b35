"""Pages of corpora, their addresses, the jobs that they start, and how such jobs are shown."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import corpora
from annotation.corpora import (
    ADD,
    INDEX,
    KINDS,
    NETWORK,
    REMOVE,
    CorpusForm,
    FileForm,
    UploadForm,
    asked_layout,
    entered_as,
    payload_of,
)
from annotation.services import staged_files
from annotation.services.corpus_jobs import add_upload, build, remove_corpus
from annotation.services.importing import ImportRefusedError
from core.jobs.models import Job
from core.projects.models import Project
from retrieval.errors import RetrievalError
from retrieval.models import Corpus
from retrieval.passage_files import Look, look
from retrieval.passage_formats import FOUND_OUT
from retrieval.selectors import corpora_of
from retrieval.services.corpora import create_corpus, slug_for
from web.access import ProjectAccess, Role, on_project
from web.cells import Cell, Link, chip, isolated, link, more, several
from web.forms import FormError
from web.job_pages import JobPages
from web.kit import Empty, Note, Page, Table
from web.pages import show
from web.tables import Column

FOLDER, TAB = "annotation", "corpora"


@require_safe
@on_project()
def listing(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """All corpora."""
    lines = corpora.lines(access.project)
    note = (
        "Candidate passages of accepted queries come from all corpora that have an index. A passage is "
        "found as soon as the index holds it; the word network lets CROWN rank what is found."
    )
    address = access.address("annotation:corpus_new")
    words = (
        "A corpus holds passages that editors answer queries from. They come from a file: yours, or one "
        "as MS MARCO and TREC CAR publish them. Long documents can be split into passages, and "
        "repetitions left out."
    )
    if not access.manages:
        words += " A manager of the project can add one."
    begin = Link("Add passages", address) if access.manages else None
    page = Page(
        "Corpora",
        [Table("Table of corpora", _LINES, lines), Note(note)]
        if lines
        else [Empty("No corpus yet", words, begin)],
        primary=[Link("New corpus", address)] if access.manages and lines else [],
    )
    return show(request, page, access, tab=TAB)


def _draw_corpus(cell: Cell) -> object:
    corpus = cell.row.corpus
    name = link(corpus.title, cell.address("annotation:corpus", corpus.slug))
    slug = corpus.title != corpus.slug and more(corpus.slug, mono=True)
    return several(name, slug, cell.row.job and more("a job is at work"))


def _draw_state(cell: Cell) -> object:
    state = cell.value
    return several(chip(state.word, state.look), state.more and more(isolated(state.more)))


_LINES = (
    Column("corpus", "Corpus", cell=_draw_corpus),
    Column("passages", "Passages", number=True),
    Column("language", "Language", "corpus.language"),
    Column("licence", "Licence", lambda line: line.corpus.licence or "not stated"),
    Column("index", "Index", cell=_draw_state),
    Column("network", "Word network", cell=_draw_state),
)


@require_safe
@on_project()
def corpus(request: HttpRequest, access: ProjectAccess, *, corpus: str) -> HttpResponse:
    """One corpus: what it holds, its index and network, its first passages."""
    line = next((each for each in corpora.lines(access.project) if each.corpus.slug == corpus), None)
    if line is None:
        raise Http404("There is no such corpus.")
    passages = corpora.examples(line.corpus)
    return show(request, "corpus.html", access, folder=FOLDER, tab=TAB, line=line, passages=passages)


@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.MANAGER)
def new(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """The first file of a new corpus."""
    return _upload(request, access, None)


@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.MANAGER)
def add(request: HttpRequest, access: ProjectAccess, *, corpus: str) -> HttpResponse:
    """Another file for a corpus."""
    return _upload(request, access, _corpus(access.project, corpus))


@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.MANAGER)
def new_look(request: HttpRequest, access: ProjectAccess, *, sha256: str) -> HttpResponse:
    """The first file of a new corpus as it is read; `start` makes the corpus and adds it."""
    return _look(request, access, None, sha256)


@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.MANAGER)
def add_look(request: HttpRequest, access: ProjectAccess, *, corpus: str, sha256: str) -> HttpResponse:
    """Another file as it is read; `start` adds it."""
    return _look(request, access, _corpus(access.project, corpus), sha256)


@require_POST
@on_project(Role.MANAGER)
def index(request: HttpRequest, access: ProjectAccess, *, corpus: str) -> HttpResponse:
    """Build the index."""
    return _build(request, access, corpus, corpora.INDEX)


@require_POST
@on_project(Role.MANAGER)
def network(request: HttpRequest, access: ProjectAccess, *, corpus: str) -> HttpResponse:
    """Build the network."""
    return _build(request, access, corpus, corpora.NETWORK)


@require_POST
@on_project(Role.MANAGER)
def remove(request: HttpRequest, access: ProjectAccess, *, corpus: str) -> HttpResponse:
    """Remove the corpus, if its name was typed."""
    row = _corpus(access.project, corpus)
    try:
        job = remove_corpus(access, row, request.POST.get("name", ""))
    except FormError as error:
        messages.error(request, str(error))
        return redirect("annotation:corpus", access.project.slug, corpus)
    return redirect("annotation:corpus_job", access.project.slug, job.pk)


def _build(request: HttpRequest, access: ProjectAccess, slug: str, kind: str) -> HttpResponse:
    job = build(access, _corpus(access.project, slug), kind)
    return redirect("annotation:corpus_job", access.project.slug, job.pk)


def _corpus(project: Project, slug: str) -> Corpus:
    row = corpora_of(project).filter(slug=slug).first()
    if row is None:
        raise Http404("There is no such corpus.")
    return row


def _upload(request: HttpRequest, access: ProjectAccess, corpus: Corpus | None) -> HttpResponse:
    posted = request.method == "POST"
    form = UploadForm(request.POST if posted else None, request.FILES if posted else None, label_suffix="")
    if posted and form.is_valid():
        try:
            return redirect(_address(access, corpus, _staged(access, form.cleaned_data["file"])))
        except ImportRefusedError as error:
            form.add_error("file", str(error))
    status = 422 if form.errors else 200
    return show(
        request, "corpus_add.html", access, folder=FOLDER, tab=TAB, form=form, corpus=corpus, status=status
    )


def _staged(access: ProjectAccess, upload: "UploadedFile[bytes]") -> staged_files.StagedFile:
    name = upload.name or "passages"
    return staged_files.stage(project=access.project, name=name, pieces=upload.chunks(), command="corpus add")


def _address(access: ProjectAccess, corpus: Corpus | None, file: staged_files.StagedFile) -> str:
    if corpus is None:
        return reverse("annotation:corpus_new_look", args=[access.project.slug, file.sha256])
    return reverse("annotation:corpus_add_look", args=[access.project.slug, corpus.slug, file.sha256])


def _look(request: HttpRequest, access: ProjectAccess, corpus: Corpus | None, sha256: str) -> HttpResponse:
    file = staged_files.staged(project=access.project, sha256=sha256)
    if file is None:
        raise Http404("There is no such upload.")
    kind = FileForm if corpus else CorpusForm
    if request.method != "POST":
        before = _before(request, access)
        seen = look(file.path, name=file.name, layout=asked_layout(before) if before else FOUND_OUT)
        return _show_look(
            request, access, corpus, file, seen=seen, form=kind(look=seen, initial=before, label_suffix="")
        )
    trouble = ""
    if (upload := request.FILES.get("file")) is not None:  # another file, with the form as it is
        try:
            file = _staged(access, upload)
        except ImportRefusedError as error:
            trouble = str(error)
    seen = look(file.path, name=file.name, layout=asked_layout(request.POST))
    form = kind(request.POST, look=seen, label_suffix="")
    if trouble:
        form.add_error(None, trouble)
    elif form.is_valid() and "start" in request.POST and upload is None:
        try:
            job = _start(access, corpus, file, form)
        except (ImportRefusedError, RetrievalError) as error:
            form.add_error(None, str(error))
        else:
            return redirect("annotation:corpus_job", access.project.slug, job.pk)
    return _show_look(request, access, corpus, file, seen=seen, form=form)


def _before(request: HttpRequest, access: ProjectAccess) -> dict[str, Any]:
    """What was entered for the work that `like` names, so that another try begins with it."""
    like = request.GET.get("like", "")
    job = Job.objects.filter(pk=like, kind=corpora.ADD).first() if like.isdigit() and len(like) < 19 else None
    if job is None or job.payload.get("project") != access.project.pk:
        return {}
    about: dict[str, Any] = job.payload.get("about", {})
    return entered_as(job.payload["options"]) | about


def _show_look(
    request: HttpRequest,
    access: ProjectAccess,
    corpus: Corpus | None,
    file: staged_files.StagedFile,
    *,
    seen: Look,
    form: FileForm,
) -> HttpResponse:
    status = 422 if form.errors else 200
    return show(
        request,
        "corpus_look.html",
        access,
        folder=FOLDER,
        tab=TAB,
        corpus=corpus,
        file=file,
        look=seen,
        form=form,
        address=_address(access, corpus, file),
        status=status,
    )


def _start(
    access: ProjectAccess, corpus: Corpus | None, file: staged_files.StagedFile, form: FileForm
) -> Job:
    is_new = corpus is None
    about: dict[str, str] = {}
    if corpus is None:
        assert isinstance(form, CorpusForm)
        slug = form.cleaned_data["slug"] or slug_for(file.name)
        about = form.about() | {"slug": form.cleaned_data["slug"]}
        corpus = create_corpus(project=access.project, slug=slug, actor=access.user, **form.about())
    options = payload_of(form.cleaned_data)
    once = form.cleaned_data["once"].hex
    return add_upload(access, corpus, file, options=options, once=once, is_new=is_new, about=about)


# Work on a corpus that waits or runs.

_DOING = {
    ADD: "Passages are added",
    INDEX: "The index is built",
    NETWORK: "The network is built",
    REMOVE: "The corpus is removed",
}
#: What is left when the work is cancelled or fails.
_LEFT = {
    ADD: "Nothing of the file is added.",
    INDEX: "Searches find what they found before. If you build again, it continues where it stopped.",
    NETWORK: "The earlier network, if there is one, is still used.",
    REMOVE: "If you remove it again, it continues where it stopped.",
}


class CorpusJobs(JobPages):
    """Adding passages, building an index or a network, removing a corpus."""

    app = live_folder = FOLDER
    name = "corpus"
    tab = TAB
    kinds = tuple(KINDS)

    def describe_rest(self, job: Job) -> str:
        """What stays depends on the kind of work."""
        return _LEFT[job.kind]

    def context(self, job: Job) -> dict[str, Any]:
        """The work in words, and whether the corpus is still there."""
        return super().context(job) | {
            "doing": _DOING[job.kind],
            "left": _LEFT[job.kind],
            "kind": job.kind.rpartition(".")[2],
            "there": Corpus.objects.filter(pk=job.payload["corpus"]).exists(),
            "stop": "" if job.kind == REMOVE else self.stop,
        }

    def name_file(self, project: Project, job: Job) -> str:
        """The corpus, and the file that is added to it."""
        return " · ".join(filter(None, (job.payload["slug"], job.payload.get("name"))))

    def list_trail(self, access: ProjectAccess, context: Mapping[str, Any]) -> list[Link]:
        """All corpora, and the corpus if it is there."""
        corpora = Link("Corpora", access.address("annotation:corpora"))
        slug = context["job"].payload["slug"]
        there = context["there"] and [Link(slug, access.address("annotation:corpus", slug))]
        return [corpora, *(there or [])]


JOBS = CorpusJobs()

# Addresses of the pages of corpora; they stand among those of this app's desk.

_P = "projects/<slug:project>/"
_C = f"{_P}corpora/<slug:corpus>/"
PATHS: list[URLPattern] = [
    path(f"{_P}corpora/", listing, name="corpora"),
    path(f"{_P}new-corpus/", new, name="corpus_new"),
    path(f"{_P}new-corpus/<str:sha256>/", new_look, name="corpus_new_look"),
    path(_C, corpus, name="corpus"),
    path(f"{_C}add/", add, name="corpus_add"),
    path(f"{_C}add/<str:sha256>/", add_look, name="corpus_add_look"),
    path(f"{_C}index/", index, name="corpus_index"),
    path(f"{_C}network/", network, name="corpus_network"),
    path(f"{_C}remove/", remove, name="corpus_remove"),
    *JOBS.job_paths(f"{_P}corpus-work/"),
]
