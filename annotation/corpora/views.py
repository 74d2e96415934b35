"""The list of corpora, the page of one, and what managers do there."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from annotation.corpora import selectors, starting
from annotation.corpora.forms import CorpusForm, FileForm, payload_of
from annotation.services import staging
from annotation.services.importing import ImportRefusedError
from crowd.desk.doors import NotEnteredError, Role, Seat, on_project, posted, show
from jobs.models import Job
from projects.models import Project
from retrieval.errors import RetrievalError
from retrieval.models import Corpus
from retrieval.selectors import corpora_of
from retrieval.services.corpora import create_corpus, slug_for

FOLDER, TAB = "annotation", "corpora"


@require_safe
@on_project()
def listing(request: HttpRequest, seat: Seat) -> HttpResponse:
    """All corpora."""
    return show(request, "corpora.html", seat, folder=FOLDER, tab=TAB, lines=selectors.lines(seat.project))


@require_safe
@on_project()
def corpus(request: HttpRequest, seat: Seat, *, corpus: str) -> HttpResponse:
    """One corpus: what it holds, its index and network, its first passages."""
    line = next((each for each in selectors.lines(seat.project) if each.corpus.slug == corpus), None)
    if line is None:
        raise Http404("There is no such corpus.")
    passages = selectors.examples(line.corpus)
    return show(request, "corpus.html", seat, folder=FOLDER, tab=TAB, line=line, passages=passages)


@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.MANAGER)
def new(request: HttpRequest, seat: Seat) -> HttpResponse:
    """A new corpus with its first file."""
    form = _form(CorpusForm, request)
    if request.method == "POST" and form.is_valid():
        assert isinstance(form, CorpusForm)
        try:
            job = _start(seat, None, form)
        except (ImportRefusedError, RetrievalError) as error:
            form.add_error(None, str(error))
        else:
            return redirect("annotation:corpus_job", seat.project.slug, job.pk)
    return _show_form(request, seat, form)


@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.MANAGER)
def add(request: HttpRequest, seat: Seat, *, corpus: str) -> HttpResponse:
    """Another file for a corpus."""
    row = _corpus(seat.project, corpus)
    form = _form(FileForm, request)
    if request.method == "POST" and form.is_valid():
        try:
            job = _start(seat, row, form)
        except (ImportRefusedError, RetrievalError) as error:
            form.add_error("file", str(error))
        else:
            return redirect("annotation:corpus_job", seat.project.slug, job.pk)
    return _show_form(request, seat, form, corpus=row)


@posted
@on_project(Role.MANAGER)
def index(request: HttpRequest, seat: Seat, *, corpus: str) -> HttpResponse:
    """Build the index."""
    return _build(request, seat, corpus, selectors.INDEX)


@posted
@on_project(Role.MANAGER)
def network(request: HttpRequest, seat: Seat, *, corpus: str) -> HttpResponse:
    """Build the network."""
    return _build(request, seat, corpus, selectors.NETWORK)


@posted
@on_project(Role.MANAGER)
def remove(request: HttpRequest, seat: Seat, *, corpus: str) -> HttpResponse:
    """Remove the corpus, if its name was typed."""
    row = _corpus(seat.project, corpus)
    try:
        job = starting.remove(seat, row, request.POST.get("name", ""))
    except NotEnteredError as error:
        messages.error(request, str(error))
        return redirect("annotation:corpus", seat.project.slug, corpus)
    return redirect("annotation:corpus_job", seat.project.slug, job.pk)


def _build(request: HttpRequest, seat: Seat, slug: str, kind: str) -> HttpResponse:
    job = starting.build(seat, _corpus(seat.project, slug), kind)
    return redirect("annotation:corpus_job", seat.project.slug, job.pk)


def _corpus(project: Project, slug: str) -> Corpus:
    row = corpora_of(project).filter(slug=slug).first()
    if row is None:
        raise Http404("There is no such corpus.")
    return row


def _form(kind: type[FileForm], request: HttpRequest) -> FileForm:
    posted = request.method == "POST"
    return kind(request.POST if posted else None, request.FILES if posted else None, label_suffix="")


def _start(seat: Seat, corpus: Corpus | None, form: FileForm) -> Job:
    upload = form.upload()
    name = upload.name or "passages"
    file = staging.stage(project=seat.project, name=name, pieces=upload.chunks(), command="corpus add")
    made = corpus is None
    if corpus is None:
        assert isinstance(form, CorpusForm)
        slug = form.cleaned_data["slug"] or slug_for(name)
        corpus = create_corpus(project=seat.project, slug=slug, actor=seat.user, **form.about())
    return starting.add_upload(
        seat,
        corpus,
        file,
        options=payload_of(form.cleaned_data),
        once=form.cleaned_data["once"].hex,
        made=made,
    )


def _show_form(request: HttpRequest, seat: Seat, form: FileForm, **context: Any) -> HttpResponse:
    status = 422 if form.errors else 200
    return show(request, "corpus_add.html", seat, folder=FOLDER, tab=TAB, form=form, status=status, **context)
